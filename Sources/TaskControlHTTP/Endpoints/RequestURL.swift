/// The URL of a request as text: a path below the client's base URL (see ``BaseURLAdapter``), or an absolute URL.
///
/// ```swift
/// get("books")
/// get("books/\(id)/cover")                // "a/b" becomes books/a%2Fb/cover
/// get("books/search?q=\(text)")
/// ```
///
/// Interpolated values are escaped (percent-encoded), so that each stays within one path segment or one query item. The
/// text around them is used as it is, except that characters that a URL cannot contain at their place are escaped.
/// Percent-encoded characters of the text stay as they are.
///
/// Two kinds of interpolated values could lead to another path, if they come before a `?` or `#`: a value that consists
/// only of dots, such as `..`, and an empty value after a slash, or at the beginning and before a slash. A call with
/// such a value fails with ``EndpointError/Reason/request``, and nothing is sent.
public struct RequestURL: Sendable, Hashable, ExpressibleByStringInterpolation, CustomStringConvertible {
    /// The text of the URL, escaped.
    public let description: String

    private let isValid: Bool

    /// Creates a request URL from text that is already a URL, such as a link that a server has sent.
    ///
    /// - Parameter text: The text of the URL. Characters that a URL cannot contain at their place are escaped, such as
    ///   a space, or a bracket in a path. All others are used as they are, such as `%20`.
    public init(_ text: String) {
        description = text.urlEscaped
        isValid = true
    }

    /// Creates a request URL from a literal without interpolated values. Characters that a URL cannot contain at their
    /// place are escaped.
    public init(stringLiteral text: String) { self.init(text) }

    /// Creates a request URL from a literal with interpolated values, which are escaped.
    public init(stringInterpolation: StringInterpolation) {
        description = stringInterpolation.text.urlEscaped
        isValid = stringInterpolation.isValid
    }

    /// The URL; `nil` if the text is not a URL, or if an interpolated value, such as `..`, could lead to another path.
    public var url: URL? { isValid ? URL(escaped: description) : nil }

    /// The text of a literal with interpolated values, from which a ``RequestURL`` is created.
    public struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""
        fileprivate var isValid = true
        private var hasValue = false

        /// Creates an empty interpolation. The compiler calls this initializer. The arguments are used only to reserve
        /// memory.
        public init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(literalCapacity + 16 * interpolationCount)
        }

        /// Appends literal text; characters that a URL cannot contain at their place are escaped.
        public mutating func appendLiteral(_ literal: String) {
            // After an empty value, the path would begin with the next segment.
            if hasValue, text.isEmpty, literal.hasPrefix("/") { isValid = false }
            // The other characters are escaped when the text is complete: it depends on their place in the whole text.
            text += literal.withEscapedPercents
        }

        /// Appends the description of a value, with all characters percent-encoded except ASCII letters, digits and
        /// `-._~`.
        public mutating func appendInterpolation(_ value: some CustomStringConvertible) {
            let value = value.description
            hasValue = true
            if !text.utf8.contains(where: { "?#".utf8.contains($0) }) {
                // Servers and proxies resolve such segments, escaped or not.
                if value.isEmpty ? text.hasSuffix("/") : value.allSatisfy({ $0 == "." }) { isValid = false }
            }
            text += value.percentEncoded
        }
    }
}
