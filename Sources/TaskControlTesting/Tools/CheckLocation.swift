extension Simulation {
    /// A location in a source file. Errors print it in the form that compilers use, so that editors turn it into a link.
    public struct Location: Sendable, Hashable, CustomStringConvertible {
        /// The module and the name of the file: the value of `#fileID`.
        public let fileID: String
        /// The full path of the file: the value of `#filePath`.
        public let filePath: String
        /// The line, from 1: the value of `#line`.
        public let line: Int
        /// The column, from 1: the value of `#column`.
        public let column: Int

        /// The location as `path:line:column`, as compilers print it.
        public var description: String { "\(filePath):\(line):\(column)" }
    }
}
