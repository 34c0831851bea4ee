// Names that frameworks for servers and HTTP clients declare, in one module: those of Hummingbird, Vapor, OpenAPIRuntime and Alamofire.

/// An error that a handler of Hummingbird throws.
public struct HTTPError: Error, Hashable {
    /// The status of the response.
    public let status: Int

    /// Creates an error.
    public init(status: Int) { self.status = status }
}

/// The client of an application of Vapor.
public protocol Client: Sendable {
    /// Sends a request to a path.
    func get(_ path: String) async throws -> HTTPBody
}

/// A type that authenticates requests in Vapor.
public protocol Authenticator: Sendable {
    /// Returns whether a token is valid.
    func authenticates(_ token: String) -> Bool
}

/// A body of OpenAPIRuntime.
public final class HTTPBody: Sendable, ExpressibleByStringLiteral {
    /// The text of the body.
    public let text: String

    /// Creates a body from a literal.
    public init(stringLiteral text: String) { self.text = text }
}

/// A type that changes requests in Alamofire.
public protocol RequestAdapter: Sendable {
    /// Returns the changed path.
    func adapt(_ path: String) -> String
}
