public import Foundation
public import TaskControl

/// The error of a client's call that failed, with the request and, if there is one, the response.
///
/// ```
/// GET https://books.example/v1/search?q=…: 503: {"error":"try later"}
/// ```
///
/// The error can be shown and logged: its texts, such as `description` and the output of `dump`, contain no secret that
/// this library recognizes:
/// - The URL is shown without user, password and fragment, and with the names of its query items but not their values.
/// - The body of a response with a 2xx status is not shown at all, since the whole body may be a credential.
/// - Of any other body, only the first bytes are shown (``decode(_:with:)`` reads the whole body). In them, and in the text of ``underlyingError``, `…` replaces
///   the credentials of the request (also in Base64, percent-encoded in whole or in part, in another case, or in several of these forms, one after
///   another), and all text that looks like a credential. A credential in any other form is not recognized: for example in hexadecimal, with the
///   escapes of JSON or HTML, backwards, or only a part of it.
/// - Of a body that could not be decoded, the path to the place is shown, such as `books.[3].title`. In it, `…` replaces
///   the keys that are not declared in the program: the keys of dictionaries.
///
/// The following text looks like a credential: in JSON, XML, HTML, forms, headers and lines of a configuration, a value
/// whose name indicates a secret (`token`, `password`, `private_key` and the like); anywhere, a JSON Web Token, a PEM
/// block, and the text after `Bearer` or `Basic`. No other text is recognized.
///
/// The following errors reach the caller unchanged, not as an ``EndpointError``: an error that the endpoint, the
/// ``URLRequestAdapter`` or the ``EndpointAuthenticator`` throws; the `CancellationError` of a cancelled caller; `TimeoutError`;
/// `DeadlineExceededError`; and the error of a call that ``HTTPResilience`` refuses. If the error that an endpoint
/// throws is itself an ``EndpointError``, the client adds the request and the response to it.
public struct EndpointError: Error, Sendable {
    /// The kind of failure.
    @nonexhaustive
    public enum Reason: Sendable, Hashable {
        /// The request cannot be sent: its URL is invalid or leads out of the client's base URL; its method or a header
        /// is invalid; it is a GET with a body; its upload is a file that is not a regular file; or its credential
        /// could not be attached.
        case request
        /// The exchange with the server could not begin, or broke off. ``EndpointError/underlyingError`` is the error of
        /// the transport, such as a `URLError` or an `HTTPClientError`, or that of the upload's file or stream.
        case transport
        /// The endpoint does not accept the status of the response. Or the endpoint accepts it, but the retry policy of
        /// the client counts it as a failure (``HTTPRetryPolicy/statuses``), and no attempt is left. Or, in a download,
        /// it is not 2xx.
        case status
        /// The server rejected the credential of the ``EndpointAuthenticator``, and then also a new credential. Or it rejected
        /// the first credential, and the request could not be sent again, since its body can be sent only once. Without
        /// an authenticator, the status 401 is handled like any other status.
        case unauthorized
        /// The content of the response is not the expected one. If the body could not be decoded,
        /// ``EndpointError/underlyingError`` is the error of the decoder.
        case content
        /// The body of the response is larger than ``ClientPolicies/bodyLimit``; or, in a streamed response, a line or
        /// a server-sent event is longer than its limit.
        case bodyTooLarge
    }

    /// The kind of failure.
    public let reason: Reason

    /// A text with more information than the reason; `nil` if there is none.
    public let detail: String?

    /// The error of the layer below, such as the transport or the decoder; `nil` if there is none.
    public let underlyingError: (any Error)?

    /// The request with which the call failed, unredacted: the texts without secrets are created only when the error is shown, which seldom happens.
    private var asked: Asked?

    /// The response's body, unredacted: the whole body, or the first bytes of a large one. `nil` if there is none, or if
    /// the status is 2xx.
    private(set) var body: Redaction.Excerpt?

    /// Whether the `Content-Type` of the response is that of problem details: see ``problem``.
    private(set) var hasProblem = false

    /// The JSON decoder of the client that threw the error; `nil` if no client did.
    private(set) var decoder: JSONDecoder?

    /// The method of the request; `nil` if there is no request, or if its method is not valid.
    public var method: String? { asked?.method }

    /// The URL of the request, without its secrets; `nil` if there is no request, or if it has no URL.
    public var url: String? { asked?.url.map(Redaction.text(of:)) }

    /// The status of the response; `nil` if there is no response.
    public private(set) var statusCode: Int?

    /// The first bytes of the response's body, at most 512, as one line of text without credentials. If the body is not
    /// text, its size, such as "840 bytes that are not text". `nil` if no byte of a body has arrived, or if the status
    /// is 2xx.
    public var bodyPrefix: String? { body?.text(without: secrets) }

    /// The credentials of the request, which are not shown in any text.
    private var secrets: [String] { Redaction.secrets(in: asked?.headers ?? [:], credentials) }

    /// The headers that the authenticator attached, by name. Their values are removed from the text of the body, in which the server may repeat them.
    private var credentials: [String: String] = [:]

    /// The time that the server asks to wait before the next attempt, counted from the response: the value of its
    /// `Retry-After` header. `nil` if there is no such header, or if its value cannot be read. The function `retry` of
    /// TaskControl honors this time.
    public private(set) var retryAfter: Duration?

    /// Whether the ``underlyingError`` is that of the upload's file or stream, and not of the transport.
    private(set) var isOfUpload = false

    /// Creates an error for an endpoint to throw. The client adds the request and the response.
    ///
    /// - Parameters:
    ///   - reason: The kind of failure.
    ///   - detail: A text with more information than the reason; `nil` if there is none.
    ///   - underlyingError: The error of the layer below, such as a `DecodingError`; `nil` if there is none.
    public init(_ reason: Reason, detail: String? = nil, underlyingError: (any Error)? = nil) {
        self.reason = reason
        self.detail = detail
        self.underlyingError = underlyingError
    }

    /// Creates the error of an exchange.
    ///
    /// - Parameter isOfUpload: Whether `underlyingError` is that of the upload's file or stream.
    init(_ reason: Reason, underlyingError: any Error, isOfUpload: Bool) {
        self.init(reason, underlyingError: underlyingError)
        self.isOfUpload = isOfUpload
    }

    /// Creates the error for a response with a status that is not accepted, as a client throws it: for tests and
    /// previews of the code that handles errors.
    ///
    /// ```swift
    /// let taken = EndpointError(status: 409, body: Data(#"{"fields": ["name"]}"#.utf8))
    /// ```
    ///
    /// The ``reason`` is ``Reason/status``. A client throws ``Reason/unauthorized`` instead if the server rejects the
    /// credential of an ``EndpointAuthenticator``.
    ///
    /// - Parameters:
    ///   - status: The status of the response.
    ///   - headers: The headers of the response, such as `Retry-After`, and `Content-Type` for a ``problem``.
    ///   - body: The body of the response, which the error does not keep if the status is 2xx.
    public init(status: Int, headers: [String: String] = [:], body: Data = Data()) {
        let head = HTTPURLResponse(
            url: URL(fileURLWithPath: "/"),
            statusCode: status,
            httpVersion: nil,
            headerFields: HeaderField.joined(headers)
        )
        self.init(.status)
        statusCode = status
        self = completed(request: nil, response: head, data: body)
    }
}

extension EndpointError {
    /// Throws unless a response has an accepted status. Use this function in endpoints that implement
    /// ``ResponseEndpoint/validate(_:response:data:)``.
    ///
    /// - Parameters:
    ///   - response: The head of the response.
    ///   - request: The request, which the error shows; `nil` if it is not known.
    ///   - data: The body of the response, whose first bytes the error shows; `nil` if there is none.
    ///   - accepted: The accepted statuses. By default 200 to 299.
    /// - Throws: ``EndpointError`` with the reason ``Reason/status``.
    public static func validateStatus(
        of response: HTTPURLResponse,
        to request: URLRequest?,
        data: Data?,
        accepted: AcceptedStatuses = .successful
    ) throws {
        if accepted.contains(response.statusCode) { return }
        throw EndpointError(.status).completed(request: request, response: response, data: data)
    }

    static func decode<Content: Decodable>(
        _ type: Content.Type,
        from body: Data,
        with decoder: JSONDecoder
    ) throws -> Content {
        do {
            return try decoder.decode(type, from: body)
        } catch {
            throw EndpointError(.content, underlyingError: error)
        }
    }

    /// Returns this error with the request and the response of a call. A part that this error has already is not
    /// replaced.
    ///
    /// - Parameters:
    ///   - request: The request, without the headers that the authenticator attached; `nil` if there is none.
    ///   - response: The head of the response; `nil` if none has arrived.
    ///   - data: The part of the body that has arrived; `nil` if none has.
    ///   - credentials: The headers that the authenticator attached, by name.
    ///   - decoder: The JSON decoder of the client; `nil` if there is none.
    func completed(
        request: URLRequest?,
        response: HTTPURLResponse?,
        data: Data?,
        credentials: [String: String] = [:],
        decoder: JSONDecoder? = nil
    ) -> EndpointError {
        var error = self
        error.decoder = self.decoder ?? decoder
        error.credentials.merge(credentials) { $1 }
        error.asked = asked ?? request.map(Asked.init)
        error.statusCode = statusCode ?? response?.statusCode
        // The body of a success is the requested content: often the credential itself.
        let isSuccess = error.statusCode.map((200..<300).contains) ?? false
        error.body = isSuccess ? nil : body ?? data.flatMap(Redaction.Excerpt.init)
        error.hasProblem = hasProblem || body == nil && response?.mediaType == "application/problem+json"
        error.retryAfter = retryAfter ?? response?.retryAfter()
        return error
    }

    private struct Asked {
        let method: String?
        let url: URL?
        let headers: [String: String]

        init(_ request: URLRequest) {
            method = request.shownMethod
            url = request.url
            headers = request.allHTTPHeaderFields ?? [:]
        }
    }
}

extension EndpointError: LocalizedError, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The error in one line: the request, the status, and what failed. The credentials that ``EndpointError`` recognizes
    /// are removed.
    public var description: String { line(bodyPrefix, cause: underlyingError.map(Redaction.text(of:))) }

    func line(_ bodyPrefix: String?, cause: String?) -> String {
        let asked = [method, url].compactMap(\.self).joined(separator: " ")
        let secrets = detail == nil && cause == nil ? [] : secrets
        let (detail, cause) = (
            detail.map { Redaction.text($0, without: secrets) }, cause.map { Redaction.text($0, without: secrets) }
        )
        let said = [asked, statusCode.map(String.init), what, detail, cause, bodyPrefix]
        return said.compactMap(\.self).filter { !$0.isEmpty }.joined(separator: ": ")
    }

    /// The ``description``, after the name of this type and the ``reason``: `EndpointError.status(…)`.
    public var debugDescription: String { "EndpointError.\(reason)(\(description))" }

    /// The ``description``, which `localizedDescription` returns too.
    public var errorDescription: String? { description }

    /// A mirror with only the ``description``. Otherwise `dump` would show the ``underlyingError``, which may contain a
    /// URL with its secrets.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }

    private var what: String? {
        switch reason {
        case .request: "the request can't be sent"
        case .transport: "the exchange failed"
        case .status: nil
        case .unauthorized: "the credential was rejected"
        case .content: "the body has unexpected content"
        case .bodyTooLarge: "the body is too large"
        }
    }
}

/// The content of an error's body.
extension EndpointError {
    /// Returns the body of the response: the body itself (`Data`), its text (`String`), or a value that is decoded from
    /// JSON.
    ///
    /// ```swift
    /// do {
    ///     try await client.post("orders", body: order)
    /// } catch let error as EndpointError {
    ///     guard let refusal = try? error.decode(Refusal.self) else { throw error }
    ///     print(refusal.fields)
    /// }
    /// ```
    ///
    /// The body is complete and unredacted, unlike ``bodyPrefix``: it may contain secrets, and the texts of this error
    /// do not show it. The error keeps a body of less than 64 KiB. It keeps no body of a 2xx response, and none of a
    /// response that broke off.
    ///
    /// The value is decoded at once, in the caller's isolation: its conformance to `Decodable` may belong to the caller's
    /// actor.
    ///
    /// - Parameters:
    ///   - type: The type of the content.
    ///   - decoder: Decodes the JSON; `nil` for the decoder of the client that threw the error, and, if no client did,
    ///     for a new one.
    /// - Throws: ``EndpointError`` with the reason ``Reason/content`` if the error has no complete body, or if the body
    ///   cannot be decoded: its ``underlyingError`` is then the error of the decoder.
    public func decode<Content: Decodable>(
        _ type: Content.Type,
        with decoder: JSONDecoder? = nil
    ) throws -> Content {
        guard reason != .transport, reason != .bodyTooLarge, let body = body?.complete else {
            throw EndpointError(.content, detail: "the error has no complete body of a response")
        }
        return try (decoder ?? self.decoder ?? JSONDecoder()).content(type, of: body)
    }

    /// The problem that the server describes in the body of its response (RFC 9457); `nil` if the `Content-Type` of the
    /// response is not `application/problem+json`, or if the body is not complete or is no JSON object. Not redacted.
    ///
    /// For the members that a server adds to those of the standard, decode a type of your own: ``decode(_:with:)``.
    public var problem: ProblemDetails? {
        hasProblem ? try? decode(ProblemDetails.self, with: JSONDecoder()) : nil
    }

    /// A description of a failure in the body of a response with the type `application/problem+json` (RFC 9457).
    public struct ProblemDetails: Sendable, Hashable, Decodable {
        /// The URI that identifies the type of the problem: `about:blank` if the server names none.
        public let type: String

        /// A summary of the type of the problem; `nil` if there is none.
        public let title: String?

        /// The status that the origin of the problem has chosen; `nil` if there is none. A proxy may have changed that
        /// of the response, which is ``EndpointError/statusCode``.
        public let status: Int?

        /// An explanation of this occurrence of the problem; `nil` if there is none.
        public let detail: String?

        /// The URI that identifies this occurrence of the problem; `nil` if there is none.
        public let instance: String?

        private enum CodingKeys: CodingKey { case type, title, status, detail, instance }

        /// Decodes a problem. A member whose value has another type than the standard requires is ignored, as the
        /// standard requires.
        ///
        /// - Throws: `DecodingError` if the JSON is not an object.
        public init(from decoder: any Decoder) throws {
            let members = try decoder.container(keyedBy: CodingKeys.self)
            func text(_ key: CodingKeys) -> String? { try? members.decode(String.self, forKey: key) }
            type = text(.type) ?? "about:blank"
            title = text(.title)
            status = try? members.decode(Int.self, forKey: .status)
            detail = text(.detail)
            instance = text(.instance)
        }
    }
}

// Events show the method and the URL of a request, and its outcome. They never show a header or a part of a body.

extension EndpointError: EventDescribable {
    package var eventText: String { line(nil, cause: underlyingError.map(Redaction.eventText(of:))) }
}

extension Redaction {
    /// Returns the text of a request in an event, such as `GET https://books.example/v1/search?q=…`.
    static func text(of request: URLRequest) -> String {
        let url = request.url.map { text(of: $0) } ?? ""
        return (request.shownMethod ?? "GET") + " " + url
    }
}

extension URLRequest {
    /// The method of the request, for events; `nil` if it is not a valid method, since it may then contain a secret.
    var shownMethod: String? { httpMethod.flatMap { HeaderField.isToken($0) ? $0 : nil } }
}

extension EndpointError: RetryAdvising {
    /// The statuses after which another attempt could succeed.
    private static let transientStatuses = HTTPRetryPolicy().statuses

    /// Whether another attempt could succeed, for `retry` around a call of a client: `true` after a transient error of
    /// the transport, and after the statuses 408, 425, 429, 500, 502, 503 and 504. `false` after every other status,
    /// such as 401 and 404, for every other ``reason``, and if the file or the stream of an upload could not be read.
    public var isWorthRetrying: Bool {
        switch reason {
        case .transport: !isOfUpload && underlyingError.map { TaskControlHTTP.isRetryable($0) } ?? true
        case .status: statusCode.map(Self.transientStatuses.contains) ?? false
        case .request, .unauthorized, .content, .bodyTooLarge: false
        }
    }
}

extension EndpointError: Interruption {
    package var isInterruption: Bool { underlyingError.map { TaskControl.isInterruption($0) } ?? false }
}

// Events show the name of a URLError's code. The core, which does not know Foundation, shows the domain and the number
// of an error of Foundation.

extension URLError: EventDescribable {
    /// The text of the error in events, such as `URLError(networkConnectionLost)`, or with the number of a code that
    /// has no name. Does not contain the URL, which the error stores beside its code.
    package var eventText: String { "URLError(\(Self.names[errorCode] ?? String(errorCode)))" }

    /// The names of Foundation's codes by their numbers, including those that only Apple's platforms have.
    private static let names = [
        -1: "unknown", -995: "backgroundSessionRequiresSharedContainer",
        -996: "backgroundSessionInUseByAnotherProcess", -997: "backgroundSessionWasDisconnected",
        -999: "cancelled", -1000: "badURL", -1001: "timedOut", -1002: "unsupportedURL", -1003: "cannotFindHost",
        -1004: "cannotConnectToHost", -1005: "networkConnectionLost", -1006: "dnsLookupFailed",
        -1007: "httpTooManyRedirects", -1008: "resourceUnavailable", -1009: "notConnectedToInternet",
        -1010: "redirectToNonExistentLocation", -1011: "badServerResponse", -1012: "userCancelledAuthentication",
        -1013: "userAuthenticationRequired", -1014: "zeroByteResource", -1015: "cannotDecodeRawData",
        -1016: "cannotDecodeContentData", -1017: "cannotParseResponse", -1018: "internationalRoamingOff",
        -1019: "callIsActive", -1020: "dataNotAllowed", -1021: "requestBodyStreamExhausted",
        -1022: "appTransportSecurityRequiresSecureConnection", -1100: "fileDoesNotExist", -1101: "fileIsDirectory",
        -1102: "noPermissionsToReadFile", -1103: "dataLengthExceedsMaximum", -1200: "secureConnectionFailed",
        -1201: "serverCertificateHasBadDate", -1202: "serverCertificateUntrusted",
        -1203: "serverCertificateHasUnknownRoot", -1204: "serverCertificateNotYetValid",
        -1205: "clientCertificateRejected", -1206: "clientCertificateRequired", -2000: "cannotLoadFromNetwork",
        -3000: "cannotCreateFile", -3001: "cannotOpenFile", -3002: "cannotCloseFile", -3003: "cannotWriteToFile",
        -3004: "cannotRemoveFile", -3005: "cannotMoveFile", -3006: "downloadDecodingFailedMidStream",
        -3007: "downloadDecodingFailedToComplete",
    ]
}

extension Redaction {
    /// Returns the text of an error in an event, which shows a `URLError` by the name of its code.
    static func eventText(of error: any Error) -> String {
        // Apple's URLSession throws an NSError, which a cast bridges to a type and not to a protocol.
        (error as? URLError)?.eventText ?? Diagnostics.text(of: error)
    }
}
