#if canImport(FoundationNetworking)
internal import Foundation
#else
public import Foundation
#endif

/// A request in the form that an ``HTTPTransport`` receives.
public struct HTTPTransportRequest: Sendable {
    /// The method, the URL, the headers, `timeoutInterval`, and the body if it is in memory.
    ///
    /// The transports of this package throw ``EndpointError/Reason/request`` if the method or the name of a header is not a
    /// token (RFC 9110, 5.6.2), if the value of a header contains a control character other than the tab, or if a GET
    /// has a body. They ignore `Content-Length` and `Transfer-Encoding`, since they derive these headers from the body.
    ///
    /// A `timeoutInterval` of 60 seconds, which is the default of Foundation, counts as not set: the limit of the
    /// transport's configuration then applies.
    public var request: URLRequest

    /// The body that is sent instead of the request's own body; `nil`: the request's own body is sent.
    public var body: UploadEndpointBody?

    /// The names of headers that are not sent to another origin (scheme, host and port) after a redirect, even if they
    /// are among the headers that ``HTTPTransport`` lists for other origins. Upper and lower case are not
    /// distinguished.
    public var credentialHeaders: Set<String>

    /// Whether a redirect from HTTPS to HTTP is followed. `false`, the default: such a redirect fails the exchange.
    public var allowsInsecureRedirects: Bool

    /// A closure that receives the progress of the upload; `nil` if the progress is not needed.
    ///
    /// Its parameters are the number of bytes of the body that have been sent, and the length of the body in bytes, or
    /// `nil` if the length is not known. The first number never decreases, except when the body is sent again, after a
    /// redirect or on a new connection. The closure is called from any thread, one call after another, and never after
    /// the exchange has ended. With ``URLSessionTransport`` on Linux it is called on a queue of Foundation: a closure
    /// that blocks delays every exchange of every such transport.
    public var didSend: (@Sendable (_ sent: Int64, _ expected: Int64?) -> Void)?

    /// The header of the request that contains the time until the deadline of the task; `nil` if there is none.
    var deadlineHeader: DeadlineHeader?

    /// The call of a client, which cancels the exchange of the request directly; `nil` if there is none, or if the client
    /// cancels a task instead.
    var call: CallEntry?

    /// The object that the transport informs when an exchange of the request has ended; `nil` if there is none.
    var connectionWait: ConnectionWait?

    /// The object that the transport informs if the file or the stream of the body cannot be opened or read; `nil` if
    /// there is none.
    var uploadFault: UploadFault?

    /// A closure that is called before the transport follows a redirect; `nil` if there is none.
    var willFollowRedirect: (@Sendable () -> Void)?

    /// Creates a request for a transport.
    ///
    /// - Parameters:
    ///   - request: The request. Its URL is absolute.
    ///   - body: The body that is sent instead of the request's own body; `nil`: the request's own body is sent.
    ///   - credentialHeaders: The names of headers that are never sent to another origin (scheme, host and port) after
    ///     a redirect.
    ///   - allowsInsecureRedirects: Whether a redirect from HTTPS to HTTP is followed.
    ///   - didSend: Receives the number of bytes of the body that have been sent, and the length of the body (`nil` if
    ///     the length is not known). Pass no closure if the progress is not needed.
    public init(
        _ request: URLRequest,
        body: UploadEndpointBody? = nil,
        credentialHeaders: Set<String> = [],
        allowsInsecureRedirects: Bool = false,
        didSend: (@Sendable (_ sent: Int64, _ expected: Int64?) -> Void)? = nil
    ) {
        self.request = request
        self.body = body
        self.credentialHeaders = credentialHeaders
        self.allowsInsecureRedirects = allowsInsecureRedirects
        self.didSend = didSend
    }
}

extension HTTPTransportRequest {
    /// Whether the request may be sent again although the server may have executed it already: its method is idempotent
    /// by RFC 9110 (9.2.2), or it has the header `Idempotency-Key`.
    var isRepeatable: Bool {
        HTTPRetryPolicy.isIdempotent(request) || request.value(forHTTPHeaderField: "Idempotency-Key") != nil
    }

    /// Sets a header to the time that is left until the deadline of the task, if the task has one.
    mutating func setDeadline(in header: DeadlineHeader) {
        guard let remaining = Task.currentDeadline?.remaining else { return }
        request.setValue(header.value(for: remaining), forHTTPHeaderField: header.name)
    }

    /// Sets the header with the time until the deadline again, if the request still has it: a redirect to another origin
    /// removes it. For transports, each time that they send the request.
    mutating func updateDeadline() {
        guard let header = deadlineHeader, request.value(forHTTPHeaderField: header.name) != nil else { return }
        setDeadline(in: header)
    }
}

extension HTTPTransportRequest {
    /// Throws unless the URL of the request has one of the given schemes, a host, and a valid port. The network libraries do not check all of this.
    ///
    /// - Throws: `URLError` with the code `unsupportedURL` or `badURL`.
    func checkURL(schemes: Set<String> = ["http", "https"]) throws {
        guard let url = request.url else { throw URLError(.badURL) }
        guard let scheme = url.scheme?.lowercased(), schemes.contains(scheme) else {
            throw URLError(.unsupportedURL, text: "The scheme of the URL is not one of HTTP.")
        }
        // The URL of a Unix domain socket has a path and no host.
        guard url.host?.isEmpty == false || scheme == "unix" else {
            throw URLError(.badURL, text: "The URL has no host.")
        }
        guard url.hasUsablePort else { throw URLError(.badURL, text: URL.unusablePort) }
    }
}

extension URL {
    /// The value of the header `Authorization` for the user and the password of the URL (RFC 7617); `nil` if there is no
    /// user. The escapes are decoded to bytes, since they need not be those of UTF-8.
    var basicCredential: String? {
        guard let user = user(percentEncoded: true) else { return nil }
        var bytes = Data()
        var rest = "\(user):\(password(percentEncoded: true) ?? "")".utf8[...]
        while let first = rest.popFirst() {
            if first == UInt8(ascii: "%"), let byte = UInt8(Substring(rest.prefix(2)), radix: 16) {
                bytes.append(byte)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(first)
            }
        }
        return "Basic \(bytes.base64EncodedString())"
    }

    static let unusablePort = "The port of the URL is not in 1...65535."

    /// Whether the URL has a port in 1...65535, or none.
    ///
    /// With a larger port, SwiftNIO (2.100) traps if the host is an IP address, and drops the upper bits of the port if
    /// the host is a name.
    var hasUsablePort: Bool {
        if let port { return (1...65_535).contains(port) }
        // `port` is `nil` also for a number that no `Int` can hold.
        guard let slashes = absoluteString.range(of: "//") else { return true }
        let authority = absoluteString[slashes.upperBound...].prefix { !"/?#".contains($0) }
        let digits = authority.reversed().prefix(while: \.isNumber)
        return digits.isEmpty || authority.dropLast(digits.count).last != ":"
    }
}

extension URLError {
    init(_ code: Code, text: String) {
        self.init(code, userInfo: [NSLocalizedDescriptionKey: text])
    }
}
