/// Where in a test something was expected. Errors print it as compilers do, so that editors make a link of it.
public struct CheckLocation: Sendable, Hashable, CustomStringConvertible {
    /// As `#fileID`.
    public var fileID: String
    /// As `#filePath`.
    public var filePath: String
    /// As `#line`.
    public var line: Int
    /// As `#column`.
    public var column: Int

    /// `path:line:column`.
    public var description: String { "\(filePath):\(line):\(column)" }
}
