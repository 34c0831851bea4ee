internal import _TaskControlShared

extension TraceRecorder {
    /// The error that is thrown if a trace cannot be written to its file. A regular file that exists at the path is not
    /// changed.
    public struct WriteError: Error, Hashable, CustomStringConvertible {
        /// The path that was passed to the function that writes the trace.
        public let path: String
        /// The `errno` of the system call that failed.
        public let code: Int32
        /// The step that failed, as a participle for ``description``, such as "written".
        private let step: String
        private let text: String
        private let isOfPath: Bool

        init(path: String, _ error: OutputFile.SystemError) {
            self.path = path
            code = error.code
            step = error.step
            text = error.text
            isOfPath = error.isOfPath || path.utf8.contains(0)
        }

        /// A text with the failure, its cause, and how to fix it.
        public var description: String {
            "The trace could not be \(step) at '\(path)': \(text) (errno \(code))." + (isOfPath ? Self.advice : "")
        }

        private static let advice = " Give a path without NUL in a folder that exists, may be written to, and has room."
    }
}
