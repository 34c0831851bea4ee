internal import Foundation

/// The endpoint behind the functions of a client that take a URL or a `URLRequest`, such as `get(_:queryItems:headers:as:)`.
struct RequestEndpoint<Content: Sendable>: Endpoint {
    let acceptedStatuses: AcceptedStatuses
    private let request: @Sendable () throws -> URLRequest
    private let read: @Sendable (RequestEndpoint, URLResponse?, Data) throws -> Content

    init(
        accepting acceptedStatuses: AcceptedStatuses = .successful,
        _ request: @escaping @Sendable () throws -> URLRequest,
        read: @escaping @Sendable (RequestEndpoint, URLResponse?, Data) throws -> Content
    ) {
        self.acceptedStatuses = acceptedStatuses
        self.request = request
        self.read = read
    }

    func makeRequest() throws -> URLRequest { try request() }

    func content(from response: URLResponse?, with body: Data) throws -> Content { try read(self, response, body) }
}

extension RequestEndpoint where Content: Decodable {
    /// Creates an endpoint whose content is the body (`Data`), its text (`String`), or a value that is decoded from JSON.
    ///
    /// - Parameter request: Creates the request.
    init(_ request: @escaping @Sendable () throws -> URLRequest) {
        self.init(request) { endpoint, _, body in
            try Self.content(of: body) { try endpoint.decode(Content.self, from: $0) }
        }
    }

    /// Returns the content of a body: the body (`Data`), its text (`String`), or a value that is decoded from it.
    static func content(of body: Data, decode: (Data) throws -> Content) rethrows -> Content {
        if let content = body as? Content { return content }
        if Content.self == String.self, let content = String(decoding: body, as: UTF8.self) as? Content {
            return content
        }
        return try decode(body)
    }
}
