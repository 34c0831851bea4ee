internal import Dispatch

#if canImport(FoundationNetworking)
internal import Foundation
#else
public import Foundation
#endif

/// A transport over `URLSession`, which clients use by default.
///
/// ```swift
/// let transport = URLSessionTransport(configuration: .ephemeral)
/// ```
///
/// The transport has a session of its own, whose connections are closed after the transport is shut down (``shutdown()``)
/// or deallocated.
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
/// All sessions of the process share one queue, on which one exchange can delay every exchange of every such transport.
/// Meanwhile a time limit, or a cancellation, ends the call, but not the work on the queue:
/// - The time that Foundation takes to read the head of a response grows with the square of the number of lines: 8,000
///   lines take 2 seconds; 70,000 lines take more than 45 seconds.
/// - A stream is read on the queue, and progress is reported there, so the stream or the progress closure can block it.
///
/// Responses:
/// - A body of gzip whose compressed data are incomplete is treated as complete if the message itself is complete, by its
///   `Content-Length` or its last chunk. An invalid body of brotli is treated as empty.
/// - A body of gzip with several members, or with bytes after the compressed data, fails the exchange.
/// - The following heads fail the exchange with `URLError.unknown`: a header with a byte that is not UTF-8, such as `é`
///   in Latin-1; a header without a space after the colon, or whose value consists of several spaces; a status line
///   without a space after the status; lines that end in LF alone.
/// - Of two headers whose names differ only in upper and lower case, one is lost.
/// - The following heads are accepted, which a client must reject (RFC 9112, 6.3 and 2.2): several headers
///   `Content-Length` with different values, of which the last one counts; a `Content-Length` with a plus sign, or with a
///   number of more than 63 bits, which counts as none; and a CR within the value of a header, which stays in the value.
/// - A response that the server sends on an idle connection before it closes it, such as 408 from HAProxy or Jetty, is
///   taken for the response to the next request on that connection.
/// - A redirect is followed after its body has arrived: if the body is cut short, the exchange fails.
/// - A response with the status 301 to 308 that is not followed has no body.
/// - There is no back-pressure: bytes that the reader of a response has not read yet are kept in memory.
///
/// Requests:
/// - A URL with an IPv6 address, such as `http://[::1]:8080/`, fails with `URLError.badURL`.
/// - If the server closes a kept connection without an answer, libcurl sends the request again, up to five times,
///   without asking a ``HTTPRetryPolicy``. The transport prevents this if the method is not idempotent (RFC 9110, 9.2.2)
///   and the request has no header `Idempotency-Key`: the exchange fails with `URLError.networkConnectionLost`. For this
///   purpose, such a request with an empty body, or with none, is sent on a new connection, which is then closed. The
///   head of a request with a body can still be sent again, without the body, before the exchange fails.
/// - `timeoutInterval` is in whole seconds, rounded up.
/// - A certificate that is not trusted fails the exchange with the same code as on Apple's platforms, such as
///   `URLError.serverCertificateUntrusted`. The transport recognizes the certificate only by the text of libcurl's
///   error, which another version of libcurl can change.
///
/// ## Proxies
/// On Apple's platforms, the proxies are those of the system and of the configuration. On Linux, libcurl takes them from
/// the environment of the process: `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`. A proxy of `http_proxy`
/// receives requests to `http` URLs with all of their headers, such as `Authorization`.
///
/// ## Cancellation
/// A cancelled caller receives `CancellationError` at once, and its exchange ends: the connection is closed. If a
/// caller was cancelled before the call, nothing is sent.
public final class URLSessionTransport: HTTPTransport {
    /// The session; `nil` after a shutdown.
    private let session: Locked<URLSession?>
    private let end = SessionEnd()
    /// The cookie jar from which the session adds cookies; `nil` if it has none.
    private let jar: HTTPCookieStorage?
    /// The exchanges that share the connections of the session. Only those over plain HTTP: `https` can be HTTP/2, whose
    /// exchanges share one connection.
    private let line: ConnectionLine
    /// The queue on which tasks are made, cancelled, suspended and resumed, one after another.
    private let taskQueue = DispatchQueue(label: "TaskControlHTTP.URLSessionTransport")

    /// Creates a transport with a session of its own.
    ///
    /// - Parameters:
    ///   - configuration: The configuration of the session: `.ephemeral` is recommended on servers. Later changes to it
    ///     have no effect. Its `httpAdditionalHeaders` are sent to every server, also after a redirect. The initializer
    ///     traps for a background configuration: a background session has no task delegates, which this transport
    ///     needs.
    ///   - delegate: The delegate of the session. It is notified when the session becomes invalid, which happens after
    ///     the transport is shut down or deallocated, and is retained until then. On Apple's platforms it is also asked for
    ///     credentials and trust, and receives metrics. It is not asked about redirects.
    public init(
        configuration: URLSessionConfiguration = .default,
        delegate: (any URLSessionDelegate)? = nil
    ) {
        insist(
            configuration.identifier == nil,
            "URLSessionTransport: a background session does not call task delegates. Use URLSessionConfiguration.default or .ephemeral."
        )
        session = Locked(SessionPlatform.session(configuration, delegate, end))
        line = ConnectionLine(limit: configuration.httpMaximumConnectionsPerHost)
        jar = configuration.httpShouldSetCookies ? configuration.httpCookieStorage : nil
    }

    deinit {
        // Each exchange retains the transport, so the only exchanges left are those that were cancelled just now. Not
        // `invalidateAndCancel`, which waits for the session's queue on Linux; this may run on it.
        session.withLock { $0.take() }?.finishTasksAndInvalidate()
    }

    /// Refuses later requests, which throw `CancellationCause`, and waits until the exchanges of all clients have ended and
    /// the session is invalid: its connections are then closed. See ``HTTPTransport/shutdown()``.
    ///
    /// On Apple's platforms, a transport with a delegate of yours does not wait: the delegate is notified of the end.
    public func shutdown() async {
        // On the task queue, since a session that is invalid traps if a task is made.
        taskQueue.async { [self] in session.withLock { $0.take() }?.finishTasksAndInvalidate() }
        await end.wait()
    }

    /// Sends one request, follows redirects, and passes the response to a closure as it arrives. See
    /// ``HTTPTransport/withResponse(to:_:)``.
    ///
    /// - Throws: The error of `receive`, unchanged; ``EndpointError`` with the reason ``EndpointError/Reason/request`` for a
    ///   request that cannot be sent; `CancellationError` if the caller is cancelled; the error of the session or of
    ///   the upload's file or stream, such as `URLError` or `CocoaError`.
    public func withResponse<Value>(
        to request: HTTPTransportRequest,
        _ receive: (HTTPTransportResponse) async throws -> Value
    ) async throws -> Value {
        try Task.checkCancellation()
        var redirects = RedirectPolicy()
        var next = try firstExchange(request)
        while true {
            let exchange = next
            let place = place(of: exchange)
            request.call?.attach { _ in exchange.cancel() }
            defer {
                request.call?.detach()
                exchange.leave()
                line.leave(place)
            }
            start(exchange)
            let head = try await exchange.head()
            guard let redirected = try self.exchange(after: head, to: exchange, &redirects) else {
                return try await withCancellationHandler {
                    try await receive(HTTPTransportResponse(head: head, body: exchange.body))
                } onCancel: {
                    exchange.cancel()
                }
            }
            await exchange.body.discard()
            try Task.checkCancellation()
            // Less time is left until the deadline now.
            next = try self.exchange(redirected.request, redirected.upload)
        }
    }

    // The functions above and below are separate, since the frame of a function that waits is kept until the exchange has ended.

    @inline(never)
    private func firstExchange(_ request: HTTPTransportRequest) throws -> SessionExchange {
        let request = try request.normalized()
        return try exchange(request, try SessionPlatform.upload(of: request))
    }

    @inline(never)
    private func exchange(_ request: HTTPTransportRequest, _ upload: SessionUpload?) throws -> SessionExchange {
        var request = request
        try request.checkURL()
        request.updateDeadline()
        return SessionExchange(request, upload, taskQueue: taskQueue)
    }

    /// Returns the exchange that follows a redirect; `nil` if the response is no redirect, or if the body of the request
    /// cannot be sent again: the caller then receives the redirect as its response.
    @inline(never)
    private func exchange(
        after head: HTTPURLResponse,
        to exchange: SessionExchange,
        _ redirects: inout RedirectPolicy
    ) throws -> SessionExchange? {
        guard let next = try redirects.request(after: head, to: exchange.request) else { return nil }
        do {
            return SessionExchange(next, try SessionPlatform.upload(of: next), taskQueue: taskQueue)
        } catch is UploadStreamConsumed {
            return nil
        }
    }

    /// Returns the place of an exchange among those that share the connections of the session.
    @inline(never)
    private func place(of exchange: SessionExchange) -> ConnectionLine.Place? {
        exchange.request.request.url?.scheme?.lowercased() == "http" ? line.enter(exchange.request) : nil
    }

    /// Starts an exchange on the task queue.
    ///
    /// Not on this thread: Foundation on Linux makes a task with a `sync` to a queue that another exchange, even of
    /// another session, can keep busy for a long time. The caller waits for the head of the response, where it can be
    /// cancelled. Retains this transport until then, since its session must not be invalidated before.
    private func start(_ exchange: SessionExchange) {
        taskQueue.async {
            guard let session = self.session.withLock(\.self) else {
                return exchange.fail(CancellationCause.shutdown(name: nil))
            }
            SessionPlatform.withSession(for: exchange, session) { exchange.start(in: $0) }
        }
    }

    /// Returns the cookies that the session would add to a request from its `httpCookieStorage`; `nil` if there are
    /// none. The text has the form `name=value; name=value`, sorted, so that equal cookies give equal texts.
    public func cookies(for request: URLRequest) -> String? {
        guard let jar, let url = request.url, let cookies = jar.cookies(for: url), !cookies.isEmpty else { return nil }
        return cookies.map { "\($0.name)=\($0.value)" }.sorted().joined(separator: "; ")
    }
}
