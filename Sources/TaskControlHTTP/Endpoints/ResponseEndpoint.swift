public import Foundation

/// A type that describes how the response to a request is validated and decoded, and under which policies the request
/// is sent: the common part of ``Endpoint`` and ``UploadEndpoint``.
///
/// Do not conform to this protocol alone: conform to ``Endpoint`` or ``UploadEndpoint``, which add the request. Every
/// requirement has a default implementation, except `content(from:with:)` for a content type that is not `Decodable`,
/// `Data`, `String` or `Void`.
///
/// An endpoint creates its request with the functions of this protocol:
///
/// ```swift
/// struct CoverEndpoint: Endpoint {
///     typealias Content = Data
///     let book: Book.ID
///
///     func makeRequest() throws -> URLRequest {
///         get("books/\(book)/cover", headers: ["Accept": "image/png"])
///     }
/// }
/// ```
///
/// Query items are appended to those of the URL; a `+` in a value is sent as `%2B`, since servers read a `+` as a
/// space. If a header is invalid, or the text of a ``RequestURL`` is not a URL, the call of the client fails with
/// ``EndpointError/Reason/request``, and nothing is sent.
public protocol ResponseEndpoint: Sendable {
    /// The type of the content of the response, which a call of the client returns.
    associatedtype Content: Sendable

    /// Decodes the content of a response. An error that this function throws fails the call, and reaches the caller as
    /// ``Endpoint`` describes.
    ///
    /// An endpoint whose content is `Decodable`, `Data`, `String` or `Void` has this function by default. `Data` is the
    /// unchanged body, `String` is its text in UTF-8, and `Void` ignores the body. Any other `Decodable` is decoded
    /// from JSON with ``decode(_:from:)``.
    ///
    /// - Parameters:
    ///   - response: The head of the response. An ``EndpointClient`` passes an `HTTPURLResponse`, never `nil`.
    ///   - body: The whole body.
    func content(from response: URLResponse?, with body: Data) throws -> Content

    /// The decoder that ``decode(_:from:)`` uses for the contents of this endpoint. If `nil`, the default, the client's
    /// decoder is used.
    var decoder: JSONDecoder? { get }

    /// The encoder that is used when `makeRequest()` calls ``EndpointBody/json(encoding:with:)`` without an encoder. If
    /// `nil`, the default, the client's encoder is used.
    var encoder: JSONEncoder? { get }

    /// Changes the policies of the client for the requests of this endpoint. By default, nothing is changed.
    ///
    /// ```swift
    /// func adjust(_ policies: inout ClientPolicies) {
    ///     policies.timeout = .seconds(120)
    ///     policies.retry?.attempts = 1
    /// }
    /// ```
    ///
    /// Called once per call of the client, before `makeRequest()`.
    ///
    /// A change of ``HTTPRetryPolicy/budget``, which limits the retries, has no effect if the new budget is one per
    /// host and the host has a budget already: the client creates the budget of a host for the first request to that
    /// host, and keeps it.
    ///
    /// - Parameter policies: A copy of the client's policies. The changes apply to one call of the client.
    func adjust(_ policies: inout ClientPolicies)

    /// The statuses of the responses that this endpoint accepts, by default ``AcceptedStatuses/successful``. The
    /// default implementation of `validate(_:response:data:)` fails the call with ``EndpointError/Reason/status`` for any
    /// other status.
    var acceptedStatuses: AcceptedStatuses { get }

    /// Validates a response before its content is decoded, and throws an error if the response is not acceptable. The
    /// error fails the call, and reaches the caller as ``Endpoint`` describes. By default, the function throws if
    /// ``acceptedStatuses`` does not contain the status.
    ///
    /// - Parameters:
    ///   - request: The request that was sent, without the credential that the client's ``EndpointAuthenticator`` attached. An
    ///     ``EndpointClient`` never passes `nil`.
    ///   - response: The head of the response.
    ///   - data: The whole body. For a response that is streamed or written to a file: `nil` if the status is 2xx, and
    ///     otherwise the first bytes of the body, at most 64 KiB.
    func validate(_ request: URLRequest?, response: HTTPURLResponse, data: Data?) throws
}

extension ResponseEndpoint {
    /// The decoder of this endpoint: `nil`, so the decoder of the client is used.
    public var decoder: JSONDecoder? { nil }

    /// The encoder of this endpoint: `nil`, so the encoder of the client is used.
    public var encoder: JSONEncoder? { nil }

    /// Decodes a value from JSON. Use this function in endpoints that implement `content(from:with:)` or
    /// `validate(_:response:data:)`.
    ///
    /// The function uses the endpoint's ``decoder``. If that is `nil`, it uses the decoder of the client that calls the
    /// endpoint; outside the call of a client, a new `JSONDecoder`.
    ///
    /// - Throws: ``EndpointError`` with the reason ``EndpointError/Reason/content``, whose ``EndpointError/underlyingError`` is the
    ///   error of the decoder.
    public func decode<Value: Decodable>(_ type: Value.Type, from body: Data) throws -> Value {
        try EndpointError.decode(type, from: body, with: decoder ?? CallCoding.decoder)
    }

    /// Leaves the policies of the client unchanged.
    public func adjust(_ policies: inout ClientPolicies) {}

    /// The statuses of the responses that this endpoint accepts: 200 to 299.
    public var acceptedStatuses: AcceptedStatuses { .successful }

    /// Checks that the status of the response is one of the ``acceptedStatuses``.
    ///
    /// - Throws: ``EndpointError`` with the reason ``EndpointError/Reason/status`` if the status is not one of the
    ///   ``acceptedStatuses``.
    public func validate(_ request: URLRequest?, response: HTTPURLResponse, data: Data?) throws {
        try EndpointError.validateStatus(of: response, to: request, data: data, accepted: acceptedStatuses)
    }
}

extension ResponseEndpoint where Content: Decodable {
    /// Decodes the body from JSON, as ``decode(_:from:)`` does.
    ///
    /// - Throws: ``EndpointError`` with the reason ``EndpointError/Reason/content``, whose ``EndpointError/underlyingError`` is the
    ///   error of the decoder.
    public func content(from response: URLResponse?, with body: Data) throws -> Content {
        try decode(Content.self, from: body)
    }
}

extension ResponseEndpoint where Content == Data {
    /// Returns the body unchanged.
    public func content(from response: URLResponse?, with body: Data) throws -> Data { body }
}

extension ResponseEndpoint where Content == String {
    /// Returns the body as text in UTF-8; invalid bytes are replaced by U+FFFD.
    public func content(from response: URLResponse?, with body: Data) throws -> String {
        String(decoding: body, as: UTF8.self)
    }
}

extension ResponseEndpoint where Content == Void {
    /// Ignores the body, for an endpoint whose content is `Void`.
    public func content(from response: URLResponse?, with body: Data) throws {}
}

extension ResponseEndpoint {
    /// Creates a GET request.
    public func get(
        _ url: RequestURL,
        queryItems: [URLQueryItem] = [],
        headers: [String: String] = [:]
    ) -> URLRequest {
        URLRequest("GET", url.url, queryItems, headers, nil)
    }

    /// Creates a POST request. If `body` is `nil`, the request has no body.
    public func post(
        _ url: RequestURL,
        queryItems: [URLQueryItem] = [],
        headers: [String: String] = [:],
        body: EndpointBody? = nil
    ) -> URLRequest {
        URLRequest("POST", url.url, queryItems, headers, body)
    }

    /// Creates a PATCH request. If `body` is `nil`, the request has no body.
    public func patch(
        _ url: RequestURL,
        queryItems: [URLQueryItem] = [],
        headers: [String: String] = [:],
        body: EndpointBody? = nil
    ) -> URLRequest {
        URLRequest("PATCH", url.url, queryItems, headers, body)
    }

    /// Creates a PUT request. If `body` is `nil`, the request has no body. An ``UploadEndpoint`` passes `nil`, since it
    /// returns its body separately.
    public func put(
        _ url: RequestURL,
        queryItems: [URLQueryItem] = [],
        headers: [String: String] = [:],
        body: EndpointBody? = nil
    ) -> URLRequest {
        URLRequest("PUT", url.url, queryItems, headers, body)
    }

    /// Creates a DELETE request. If `body` is `nil`, the request has no body.
    public func delete(
        _ url: RequestURL,
        queryItems: [URLQueryItem] = [],
        headers: [String: String] = [:],
        body: EndpointBody? = nil
    ) -> URLRequest {
        URLRequest("DELETE", url.url, queryItems, headers, body)
    }
}

extension URLRequest {
    /// Creates a request with a method, a URL, query items, headers and a body.
    ///
    /// - Parameters:
    ///   - url: The URL; `nil` if the endpoint has given a text that is not a URL: the client then fails the call.
    ///   - body: The body; `nil` for none.
    package init(
        _ method: String,
        _ url: URL?,
        _ queryItems: [URLQueryItem],
        _ headers: [String: String],
        _ body: EndpointBody?
    ) {
        let placeholder = URL(fileURLWithPath: "/")
        self.init(url: url?.appending(queryItems) ?? placeholder)
        if url == nil { self.url = nil }
        httpMethod = method
        httpBody = body?.data
        var headers = headers
        if let body, !headers.keys.contains(where: { $0.lowercased() == "content-type" }) {
            headers["Content-Type"] = body.contentType
        }
        // Not `setValue`, which drops an invalid value without an error: the client must find the invalid value.
        if !headers.isEmpty { allHTTPHeaderFields = HeaderField.joined(headers) }
    }
}
