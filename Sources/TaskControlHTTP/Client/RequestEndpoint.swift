internal import Foundation

/// The endpoint behind the functions of a client that take a URL or a `URLRequest`, such as `get(_:queryItems:headers:as:)`.
struct RequestEndpoint<Content: Sendable>: Endpoint {
    let acceptedStatuses: AcceptedStatuses
    private let decodesConcurrently: Bool
    private let request: @Sendable () throws -> URLRequest
    private let read: @Sendable (URLResponse?, Data) throws -> Content

    init(
        accepting acceptedStatuses: AcceptedStatuses = .successful,
        decodesConcurrently: Bool = false,
        _ request: @escaping @Sendable () throws -> URLRequest,
        read: @escaping @Sendable (URLResponse?, Data) throws -> Content
    ) {
        self.acceptedStatuses = acceptedStatuses
        self.decodesConcurrently = decodesConcurrently
        self.request = request
        self.read = read
    }

    func makeRequest() throws -> URLRequest { try request() }

    func content(from response: URLResponse?, with body: Data) throws -> Content { try read(response, body) }

    func adjust(_ policies: inout ClientPolicies) { policies.decodesConcurrently = decodesConcurrently }
}

extension RequestEndpoint where Content: Decodable {
    /// Creates an endpoint whose content is the body (`Data`), its text (`String`), or a value that is decoded from JSON,
    /// off the caller's actor.
    ///
    /// - Parameter request: Creates the request.
    init(_ request: @escaping @Sendable () throws -> URLRequest) {
        self.init(decodesConcurrently: Content.isDecoded, request) { _, body in
            try CallCoding.decoder.content(Content.self, of: body)
        }
    }
}
