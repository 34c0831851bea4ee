internal import TaskControlSupport

/// The error of a trace that could not be written to its file. An existing file is unchanged.
public struct TraceWriteError: Error, Hashable, CustomStringConvertible {
    /// The path that was given.
    public let path: String
    /// The `errno` of the call that failed.
    public let code: Int32
    private let step: String
    private let text: String

    init(path: String, _ error: OutputFile.SystemError) {
        self.path = path
        code = error.code
        step = error.step
        text = error.text
    }

    /// A description of the failure, its cause, and what to do.
    public var description: String {
        "The trace could not be \(step) at '\(path)': \(text) (errno \(code)). "
            + "Give a path in a folder that exists, may be written to, and has room."
    }
}
