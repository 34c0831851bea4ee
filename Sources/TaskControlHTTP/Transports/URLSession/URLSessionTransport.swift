/// A transport over `URLSession`, which clients use by default.
///
/// ```swift
/// let transport = URLSessionTransport(configuration: .ephemeral)
/// ```
///
/// The transport has a session of its own, whose connections are closed after the transport is deallocated.
///
/// The session decompresses bodies: gzip, deflate, brotli.
///
/// ## Cookies
/// All transports with the configuration `.default` use the cookie jar `HTTPCookieStorage.shared`, which other code of
/// the process uses too. In an app, the cookies in this jar keep the user signed in. On Linux, `Secure` cookies of any
/// jar are also sent over plain HTTP.
///
/// In a server that sends requests for several users, the cookies of one user must not be sent for another. Create a
/// transport per user with the configuration `.ephemeral`: each access to `URLSessionConfiguration.ephemeral` returns a
/// configuration with a new jar. Or set `httpCookieStorage` of the configuration to `nil`: no cookies are kept.
///
/// ## On Linux
/// Foundation's session on Linux is another implementation, over libcurl. It has the following limitations, which this
/// transport cannot remove (Swift 6.3 with libcurl 7.88). A server process, and every client of servers that are not
/// trusted, should use `AsyncHTTPClientTransport`.
///
/// A server can end the process, by a trap within Foundation, if it
/// - closes the connection in the middle of a response's head,
/// - sends trailers after a body in chunks, or
/// - sends `Content-Length: 9223372036854775807`.
///
/// A server can delay every exchange of the transport:
/// - The time that Foundation takes to read the head of a response grows with the square of the number of lines: 8,000
///   lines take 2 seconds; 70,000 lines take more than 45 seconds. All exchanges of a transport share one queue. A time
///   limit ends the call, but not this work.
///
/// Responses:
/// - A body of gzip whose compressed data are incomplete is treated as complete if it has the length that
///   `Content-Length` states. An invalid body of brotli is treated as empty.
/// - A header with a byte that is not UTF-8, such as `é` in Latin-1, fails the exchange with `URLError.unknown`.
/// - A response with the status 301 to 308 that is not followed has no body.
/// - There is no back-pressure: bytes that the reader of a response has not read yet are kept in memory.
///
/// Requests:
/// - A URL with an IPv6 address, such as `http://[::1]:8080/`, fails with `URLError.badURL`.
/// - A stream is read on the session's queue, and progress is reported there: if the stream or the progress closure
///   blocks, all exchanges of this transport stop.
/// - `timeoutInterval` is in whole seconds, rounded up.
/// - A certificate that is not trusted fails the exchange with the same code as on Apple's platforms, such as
///   `URLError.serverCertificateUntrusted`. The transport recognizes the certificate only by the text of libcurl's
///   error, which another version of libcurl can change.
///
/// ## Cancellation
/// A cancelled caller receives `CancellationError` at once, and its exchange ends: the connection is closed. If a
/// caller was cancelled before the call, nothing is sent.
public final class URLSessionTransport: HTTPTransport {
    private let session: URLSession
    /// The cookie jar from which the session adds cookies; `nil` if it has none.
    private let jar: HTTPCookieStorage?
    /// The queue on which tasks are cancelled, suspended and resumed, one after another.
    private let taskQueue = DispatchQueue(label: "TaskControlHTTP.URLSessionTransport")

    /// Creates a transport with a session of its own.
    ///
    /// - Parameters:
    ///   - configuration: The configuration of the session: `.ephemeral` is recommended on servers. Later changes to it
    ///     have no effect. Its `httpAdditionalHeaders` are sent to every server, also after a redirect. The initializer
    ///     traps for a background configuration: a background session has no task delegates, which this transport
    ///     needs.
    ///   - delegate: The delegate of the session. It is notified when the session becomes invalid, which happens after
    ///     the transport is deallocated, and is retained until then. On Apple's platforms it is also asked for
    ///     credentials and trust, and receives metrics. It is not asked about redirects.
    public init(
        configuration: URLSessionConfiguration = .default,
        delegate: (any URLSessionDelegate)? = nil
    ) {
        insist(
            configuration.identifier == nil,
            "URLSessionTransport: a background session does not call task delegates. Use URLSessionConfiguration.default or .ephemeral."
        )
        session = SessionPlatform.session(configuration, delegate)
        jar = configuration.httpShouldSetCookies ? configuration.httpCookieStorage : nil
    }

    deinit {
        // Each exchange retains the transport, so the only exchanges left are those that were cancelled just now. Not
        // `invalidateAndCancel`, which waits for the session's queue on Linux; this may run on it.
        session.finishTasksAndInvalidate()
    }

    /// Sends one request, follows redirects, and passes the response to a closure as it arrives. See
    /// ``HTTPTransport/withResponse(to:_:)``.
    ///
    /// - Throws: The error of `receive`, unchanged; ``HTTPError`` with the reason ``HTTPError/Reason/request`` for a
    ///   request that cannot be sent; `CancellationError` if the caller is cancelled; the error of the session or of
    ///   the upload's file or stream, such as `URLError` or `CocoaError`.
    public func withResponse<Value>(
        to request: HTTPTransportRequest,
        _ receive: (HTTPTransportResponse) async throws -> Value
    ) async throws -> Value {
        try Task.checkCancellation()
        var request = try request.normalized()
        var upload = try SessionPlatform.upload(of: request)
        var redirects = RedirectPolicy()
        while true {
            try request.checkURL()
            let exchange = SessionExchange(request, upload, taskQueue: taskQueue)
            let end: End<Value> = try await withCancellationHandler {
                defer { exchange.leave() }
                exchange.start(in: session)
                let head = try await exchange.head()
                if let next = try redirects.request(after: head, to: request),
                    let upload = try Self.reopened(next)
                {
                    await exchange.body.discard()
                    try Task.checkCancellation()
                    return .redirect(next, upload)
                }
                return .value(try await receive(HTTPTransportResponse(head: head, body: exchange.body)))
            } onCancel: {
                exchange.cancel()
            }
            switch end {
            case .value(let value): return value
            case .redirect(let next, let reopened): (request, upload) = (next, reopened)
            }
        }
    }

    /// Returns the cookies that the session would add to a request from its `httpCookieStorage`; `nil` if there are
    /// none. The text has the form `name=value; name=value`, sorted, so that equal cookies give equal texts.
    public func cookies(for request: URLRequest) -> String? {
        guard let jar, let url = request.url, let cookies = jar.cookies(for: url), !cookies.isEmpty else { return nil }
        return cookies.map { "\($0.name)=\($0.value)" }.sorted().joined(separator: "; ")
    }

    /// The outcome of one exchange: the value that the `receive` closure of the caller returned, or the request that
    /// follows a redirect, with its opened body.
    private enum End<Value> {
        case value(Value)
        case redirect(HTTPTransportRequest, SessionUpload?)
    }

    /// Opens the body of a request again, for a redirect.
    ///
    /// - Returns: The opened body, or a nested `nil` if the request has none; `nil` if the body cannot be sent again: the caller then receives the
    ///   redirect as its response.
    private static func reopened(_ request: HTTPTransportRequest) throws -> SessionUpload?? {
        do {
            return .some(try SessionPlatform.upload(of: request))
        } catch is UploadStreamConsumed {
            return nil
        }
    }
}
