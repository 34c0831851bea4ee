/// A trace could not be written to its file. What was there before is as it was.
public struct TraceWriteError: Error, Hashable, CustomStringConvertible {
    /// The file that was asked for.
    public let path: String
    /// The `errno` of the call that failed.
    public let code: Int32
    private let step: String

    init(path: String, step: String, code: Int32) {
        self.path = path
        self.step = step
        self.code = code
    }

    /// What failed, why, and what to do.
    public var description: String {
        "The trace could not be \(step) at '\(path)': \(systemText(of: code)) (errno \(code)). "
            + "Give a path in a folder that exists, may be written to, and has room."
    }
}
