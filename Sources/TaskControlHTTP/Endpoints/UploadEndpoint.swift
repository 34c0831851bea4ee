/// An upload to a server, and what comes back.
///
/// ```swift
/// struct CoverEndpoint: UploadEndpoint, URLRequestBuildable {
///     typealias Content = Cover
///     let book: Book.ID
///     let file: URL
///
///     func makeRequest() throws -> (URLRequest, UploadEndpointBody) {
///         (put(URL(string: "books/\(book)/cover")!), .file(file))
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

    /// The statuses of the responses that this endpoint accepts. See ``Endpoint/acceptedStatuses``.
    var acceptedStatuses: AcceptedStatuses { get }

    /// Validates a response before its content is made. See ``Endpoint/validate(_:response:data:)``.
    func validate(_ request: URLRequest?, response: HTTPURLResponse, data: Data?) throws
}

extension UploadEndpoint {
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
    /// Reads the body as JSON, with a decoder as Foundation makes it.
    ///
    /// - Throws: ``HTTPError`` with the reason ``HTTPError/Reason/content``, which has the `DecodingError` as its `underlyingError`.
    public func content(from response: URLResponse?, with body: Data) throws -> Content {
        try HTTPError.decode(Content.self, from: body)
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
