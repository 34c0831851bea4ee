/// Where in a test something was expected. Errors print it as compilers do, so that editors make a link of it.
public struct CheckLocation: Sendable, Hashable, CustomStringConvertible {
    /// As `#fileID`.
    public let fileID: String
    /// As `#filePath`.
    public let filePath: String
    /// As `#line`.
    public let line: Int
    /// As `#column`.
    public let column: Int

    /// `path:line:column`.
    public var description: String { "\(filePath):\(line):\(column)" }
}
