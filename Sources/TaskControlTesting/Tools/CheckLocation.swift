/// A place in a source file. Errors print it as compilers do, so that editors turn it into a link.
public struct CheckLocation: Sendable, Hashable, CustomStringConvertible {
    /// The value of `#fileID`.
    public let fileID: String
    /// The value of `#filePath`.
    public let filePath: String
    /// The value of `#line`.
    public let line: Int
    /// The value of `#column`.
    public let column: Int

    /// The location as `path:line:column`, as compilers print it.
    public var description: String { "\(filePath):\(line):\(column)" }
}
