/// An upload to a server, and what comes back.
///
/// ```swift
/// struct CoverEndpoint: UploadEndpoint, URLRequestBuildable {
///     typealias Content = Cover
///     let book: Book.ID
///     let file: URL
///
///     func makeRequest() throws -> (URLRequest, UploadEndpointBody) {
///         (put("books/\(book)/cover"), .file(file))
///     }
/// }
///
/// let cover = try await client.upload(CoverEndpoint(book: 7, file: picture))
/// ```
///
/// Otherwise as an ``Endpoint``: what is not said of the content and of the response is the same.
public protocol UploadEndpoint: Sendable {
    /// What the caller gets.
    associatedtype Content: Sendable

    /// The request, without what all requests have in common, and what is to be sent with it. The request's own body is not sent.
    ///
    /// Called once a call of the client, also when the request is sent again.
    func makeRequest() throws -> (URLRequest, UploadEndpointBody)

    /// Makes the content of the body of the response. See ``Endpoint/content(from:with:)``.
    func content(from response: URLResponse?, with body: Data) throws -> Content

    /// The decoder of this endpoint's contents. By default `nil`: the client's.
    var decoder: JSONDecoder? { get }

    /// The encoder that `HTTPBody.json(encoding:)` uses in ``makeRequest()``. By default `nil`: the client's.
    var encoder: JSONEncoder? { get }

    /// Changes the policies of the client for this endpoint. By default it changes nothing.
    ///
    /// ```swift
    /// func adjust(_ policies: inout ClientPolicies) {
    ///     policies.timeLimit = .seconds(120)
    ///     policies.retry?.attempts = 1
    /// }
    /// ```
    ///
    /// Called once per call of the client, before ``makeRequest()``. The host's retry budget stays the client's: a
    /// budget is made for the first request to a host.
    ///
    /// - Parameter policies: The client's.
    func adjust(_ policies: inout ClientPolicies)

    /// The statuses of the responses that this endpoint accepts. See ``Endpoint/acceptedStatuses``.
    var acceptedStatuses: AcceptedStatuses { get }

    /// Validates a response before its content is made. See ``Endpoint/validate(_:response:data:)``.
    func validate(_ request: URLRequest?, response: HTTPURLResponse, data: Data?) throws
}

extension UploadEndpoint {
    /// `nil`: the client's.
    public var decoder: JSONDecoder? { nil }

    /// `nil`: the client's.
    public var encoder: JSONEncoder? { nil }

    /// Decodes JSON with the endpoint's ``decoder``, the client's if there is none, or a new one outside the call of a
    /// client. For endpoints that implement `content(from:with:)` or `validate(_:response:data:)`.
    ///
    /// - Throws: ``HTTPError`` with the reason ``HTTPError/Reason/content``, which has the `DecodingError` as its
    ///   `underlyingError`.
    public func decode<Value: Decodable>(_ type: Value.Type, from body: Data) throws -> Value {
        try HTTPError.decode(type, from: body, with: decoder ?? CallCoding.decoder)
    }

    /// Changes nothing.
    public func adjust(_ policies: inout ClientPolicies) {}

    /// 200 to 299.
    public var acceptedStatuses: AcceptedStatuses { .successful }

    /// Checks the status against ``acceptedStatuses``.
    ///
    /// - Throws: ``HTTPError`` with the reason ``HTTPError/Reason/status`` for any other status.
    public func validate(_ request: URLRequest?, response: HTTPURLResponse, data: Data?) throws {
        try HTTPError.validateStatus(of: response, to: request, data: data, accepted: acceptedStatuses)
    }
}

extension UploadEndpoint where Content: Decodable {
    /// Decodes the body as JSON, as ``decode(_:from:)`` does.
    ///
    /// - Throws: ``HTTPError`` with the reason ``HTTPError/Reason/content``, which has the `DecodingError` as its
    ///   `underlyingError`.
    public func content(from response: URLResponse?, with body: Data) throws -> Content {
        try decode(Content.self, from: body)
    }
}

extension UploadEndpoint where Content == Data {
    /// The body as it is.
    public func content(from response: URLResponse?, with body: Data) throws -> Data { body }
}

extension UploadEndpoint where Content == String {
    /// The body as text in UTF-8; what is not is replaced by U+FFFD.
    public func content(from response: URLResponse?, with body: Data) throws -> String {
        String(decoding: body, as: UTF8.self)
    }
}

extension UploadEndpoint where Content == Void {
    /// Nothing.
    public func content(from response: URLResponse?, with body: Data) throws {}
}
