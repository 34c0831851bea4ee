/// A call that failed: what was asked, of whom, and what came back.
///
/// ```
/// GET https://books.example/v1/search?q=…: 503: {"error":"try later"}
/// ```
///
/// It can be shown and logged: the URL is without user, password and fragment, and has the names of its query items and not their values;
/// in the first bytes of the body, what looks like a credential is replaced by `…`. The request itself, with its headers, is not kept.
///
/// What an endpoint, an adapter or an authenticator throws is not wrapped in this, and neither are `CancellationError` and `TimeoutError`.
public struct HTTPError: Error, Sendable {
    /// What failed.
    public enum Reason: Sendable, Hashable {
        /// The request can't be sent: its URL is of no use, or leads out of the client's base URL.
        case request
        /// The exchange broke off, or did not come about. ``HTTPError/underlyingError`` is the transport's: a `URLError`, an
        /// `HTTPClientError` and the like.
        case transport
        /// The status says so.
        case status
        /// A token was rejected, and so was the one that took its place.
        case unauthorized
        /// The body is not what it was to be. ``HTTPError/underlyingError`` is the decoder's.
        case content
    }

    /// What failed.
    public let reason: Reason

    /// What is to be said beyond the reason.
    public let detail: String?

    /// What the layer below threw.
    public let underlyingError: (any Error)?

    /// The method of the request.
    public internal(set) var method: String?

    /// The URL of the request, without its secrets.
    public internal(set) var url: String?

    /// The status of the response, if there is one.
    public internal(set) var statusCode: Int?

    /// The first bytes of the response's body as text, at most 512 of them, without its secrets.
    public internal(set) var bodyPrefix: String?

    /// The value of `Retry-After`, if there is one. So `retry` honors it.
    public internal(set) var retryAfter: Duration?

    /// An error of an endpoint's own making. The client adds what it knows: the request and the response.
    public init(_ reason: Reason, detail: String? = nil, underlyingError: (any Error)? = nil) {
        self.reason = reason
        self.detail = detail
        self.underlyingError = underlyingError
    }
}

extension HTTPError {
    /// Throws unless a response has one of the given statuses: for endpoints, to be called in ``Endpoint/validate(_:response:data:)``.
    ///
    /// - Parameter accepted: By default 200 to 299.
    /// - Throws: ``HTTPError`` with the reason ``Reason/status``.
    public static func validateStatus(
        of response: HTTPURLResponse,
        to request: URLRequest?,
        data: Data?,
        accepted: some Collection<Int> = 200..<300
    ) throws {
        if accepted.contains(response.statusCode) { return }
        throw HTTPError(.status).completed(request: request, response: response, data: data)
    }

    static func decode<Content: Decodable>(_ type: Content.Type, from body: Data) throws -> Content {
        do {
            return try JSONDecoder().decode(type, from: body)
        } catch {
            throw HTTPError(.content, underlyingError: error)
        }
    }

    /// The same error, with what it does not say yet.
    func completed(request: URLRequest?, response: HTTPURLResponse?, data: Data?) -> HTTPError {
        var error = self
        let redaction = Redaction(request)
        error.method = method ?? request?.httpMethod
        error.url = url ?? request?.url.map(redaction.text(of:))
        error.statusCode = statusCode ?? response?.statusCode
        error.bodyPrefix = bodyPrefix ?? data.flatMap(redaction.prefix(of:))
        error.retryAfter = retryAfter ?? response?.retryAfter()
        return error
    }
}

extension HTTPError: RetryAfterProviding {}

extension HTTPError: LocalizedError, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// One line for people.
    public var description: String {
        let asked = [method, url].compactMap(\.self).joined(separator: " ")
        let said = [asked, statusCode.map(String.init), what, bodyPrefix]
        return said.compactMap(\.self).filter { !$0.isEmpty }.joined(separator: ": ")
    }

    public var debugDescription: String { "HTTPError.\(reason)(\(description))" }

    public var errorDescription: String? { description }

    /// For `dump`: the same, since the underlying error may keep a URL with its secrets.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }

    private var what: String? {
        let said: String? =
            switch reason {
            case .request: "the request can't be sent"
            case .transport: "the exchange failed"
            case .status: nil
            case .unauthorized: "the credential was rejected, and so was the one that took its place"
            case .content: "the body is not what was expected"
            }
        let all = [said, detail, underlyingError.map(Redaction.text(of:))]
        return all.compactMap(\.self).joined(separator: ": ")
    }
}
