#if AsyncHTTPClient
public import AsyncHTTPClient
internal import Foundation
internal import NIOCore

/// A transport over AsyncHTTPClient, for servers. Available with the package trait `AsyncHTTPClient`. In this
/// description, *the client* is the `HTTPClient` of AsyncHTTPClient, which the transport uses.
///
/// ```swift
/// let transport = AsyncHTTPClientTransport()
/// ```
///
/// Responses have back-pressure: while received bytes have not been read yet, the transport receives no more. So a body
/// of any length needs only the memory of a few of its parts. Files and streams are sent as they are read, on a thread
/// of their own.
///
/// ## Compression
/// A transport with a client of its own (``init(configuration:)``) decompresses bodies: gzip, also with several members,
/// and deflate, also without the header of zlib. A body that cannot be decompressed fails with
/// `URLError.cannotDecodeRawData`. A body in a coding that was not asked for, such as brotli, is not changed. The
/// decompression is not limited, since a body is read part by part; ``ClientPolicies/bodyLimit`` limits the length of a
/// body that is collected.
///
/// If the configuration enables the decompression of AsyncHTTPClient (`decompression`), for example because of its limit,
/// that decompression is used instead. It understands neither several members nor deflate without the header of zlib, and
/// an empty body in chunks that has a coding is an error.
///
/// ## Time limits
/// The `timeoutInterval` of a request limits how long the server may be silent, in seconds, including the wait for a
/// connection, as in `URLSession`. The limit `timeout.read` of the client's configuration applies too: at the earlier
/// of both limits, the request fails. For a slow server, raise both limits. The interval of 60 seconds, which is the
/// default of `URLRequest`, has no effect: only `timeout.read` then applies.
///
/// Both limits apply only while the transport waits for the server: a reader may pause between two parts of a body for as
/// long as it needs. Exception: AsyncHTTPClient itself applies `timeout.read`, and counts such pauses, if its client was
/// passed to ``init(_:)``, or if the configuration allows HTTP/2.
///
/// A request that waits longer than `timeout.connect` for a connection of the pool fails with
/// `HTTPClientError.getConnectionFromPoolTimeout`, which an ``HTTPRetryPolicy`` treats as a transient error. It is not a
/// failure of the host: see ``HTTPResilience``.
///
/// ## Connections that the server has closed
/// A server may close an idle connection at the moment that the next request is sent on it. A transport with a client
/// of its own (``init(configuration:)``) then sends the request again, at most twice, if the method of the request is
/// idempotent (RFC 9110, 9.2.2), or if it has the header `Idempotency-Key`, and its body can be sent again. Any other
/// request fails with
/// `HTTPClientError.remoteConnectionClosed`, and so does every request of a transport whose client was passed to
/// ``init(_:)``.
///
/// When a connection breaks in the middle of a response's body, the client drops the bytes that it has received and not
/// yet passed on. If a download is then continued, it requests these bytes again.
///
/// ## Credentials and cookies
/// A user and a password in a URL are sent as `Authorization: Basic`, unless the request has such a header. There is no
/// cookie jar: cookies that a server sets are not sent back.
///
/// ## Limitations
/// AsyncHTTPClient 1.37 and SwiftNIO 2.101 have the following limitations:
/// - A URL whose path has escapes that are not those of UTF-8, such as `/caf%E9`, fails with `URLError.badURL`, since
///   AsyncHTTPClient would send `/` in its place.
/// - A response fails whose lines end in LF alone, with a header in several lines, or with more than one `Content-Length`.
///
/// ## Proxies
/// The proxy is that of the client's configuration (`proxy`). The environment of the process is not used.
///
/// ## Cancellation
/// A cancelled caller receives `CancellationError`, and its exchange ends: the connection is closed. If a caller was
/// cancelled before the call, nothing is sent.
public final class AsyncHTTPClientTransport: HTTPTransport {
    /// The largest number of times that a request is sent again because the server had closed its connection.
    private static let maxResends = 2

    private let client: HTTPClient
    private let isShutDown = Locked(false)
    private let decompression: ClientExchange.Decompression
    /// The exchanges that share the connections of the client; `nil` if it can use HTTP/2, or is not known.
    private let line: ConnectionLine?

    /// Creates a transport with an `HTTPClient` of its own, which is shut down with ``shutdown()``, or when the transport is deallocated.
    ///
    /// - Parameter configuration: The configuration of the client. By default, a server may be silent for 60 seconds.
    ///   The configuration's setting for redirects is not used: the transport follows redirects itself. The transport
    ///   decompresses bodies itself too, unless the configuration enables the decompression of AsyncHTTPClient.
    public init(configuration: HTTPClient.Configuration = .taskControl) {
        var configuration = configuration
        configuration.redirectConfiguration = .disallow
        decompression = if case .disabled = configuration.decompression { .byTransport } else { .byClient }
        ConnectionGuard.install(in: &configuration)
        let limit = configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit
        line = configuration.httpVersion == .http1Only ? ConnectionLine(limit: limit) : nil
        client = HTTPClient(
            eventLoopGroupProvider: .shared(HTTPClient.defaultEventLoopGroup),
            configuration: configuration
        )
    }

    /// Creates a transport that uses an existing client. The transport does not shut down the client: the code that
    /// created the client must do so.
    ///
    /// - Parameter client: The client, whose configuration should disallow redirects. If it allows them, the client
    ///   follows redirects itself, by its own rules, and an untrusted server can end the process with a redirect to a
    ///   port above 65535 (AsyncHTTPClient 1.37). `HTTPClient.shared` allows redirects. The transport adds no
    ///   `Accept-Encoding`: for a compressed response, set this header in the request. The client's configuration
    ///   decides whether the response is decompressed.
    public init(_ client: HTTPClient) {
        self.client = client
        decompression = .byUser
        line = nil
    }

    private var isOwner: Bool { decompression != .byUser }

    deinit {
        // Each exchange retains the transport, so no exchange is left.
        if isOwner, !isShutDown.withLock(\.self) { client.shutdown { _ in } }
    }

    /// Refuses later requests, which throw `CancellationCause`, and shuts down the client of the transport, if it is its own
    /// (``init(configuration:)``): returns when the connections are closed. Exchanges that another client has begun fail. See
    /// ``HTTPTransport/shutdown()``.
    public func shutdown() async {
        isShutDown.withLock { $0 = true }
        // An error means that connections had to be cut off, or that the client was shut down before.
        if isOwner { try? await client.shutdown() }
    }

    /// Sends one request, follows redirects, and passes the response to a closure as it arrives. See
    /// ``HTTPTransport/withResponse(to:_:)``.
    ///
    /// - Throws: The error of `receive`, unchanged; ``EndpointError`` with the reason ``EndpointError/Reason/request`` for a
    ///   request that cannot be sent; `URLError` for a URL or a redirect that is not valid; `CancellationError` if the
    ///   caller is cancelled; the error of AsyncHTTPClient, or of the upload's file or stream.
    public func withResponse<Value>(
        to request: HTTPTransportRequest,
        _ receive: (HTTPTransportResponse) async throws -> Value
    ) async throws -> Value {
        try Task.checkCancellation()
        if isShutDown.withLock(\.self) { throw CancellationCause.shutdown(name: nil) }
        var redirects = RedirectPolicy()
        var resends = 0
        var next = try firstExchange(request)
        while true {
            let exchange = next
            let place = place(of: exchange)
            defer {
                exchange.leave()
                line?.leave(place)
            }
            let head: HTTPURLResponse
            do {
                head = try await withTaskCancellationHandler {
                    try await exchange.open(client)
                } onCancel: {
                    performOutsideHandler { exchange.cancel() }
                }
            } catch {
                next = try self.exchange(after: error, of: exchange, &resends)
                continue
            }
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
            next = self.exchange(redirected.request, redirected.upload)
        }
    }

    // The functions above and below are separate, since the frame of a function that waits is kept until the exchange has ended.

    /// Returns the place of an exchange among those that share the connections of the client.
    @inline(never)
    private func place(of exchange: ClientExchange) -> ConnectionLine.Place? { line?.enter(exchange.request) }

    @inline(never)
    private func firstExchange(_ request: HTTPTransportRequest) throws -> ClientExchange {
        let request = try request.normalized()
        return exchange(request, try request.openBody())
    }

    @inline(never)
    private func exchange(_ request: HTTPTransportRequest, _ upload: UploadReader?) -> ClientExchange {
        var request = request
        request.updateDeadline()
        return ClientExchange(request, upload, decompression)
    }

    /// Returns the exchange that sends a request again because the server closed a kept connection before the request
    /// arrived. The client uses another open connection, or makes a new one.
    ///
    /// - Throws: The error of the exchange, if the request is not sent again.
    @inline(never)
    private func exchange(
        after error: any Error,
        of exchange: ClientExchange,
        _ resends: inout Int
    ) throws -> ClientExchange {
        let request = exchange.request
        guard error is UnansweredConnection || error.isClosedBeforeWriting, request.uploadFault?.hasOccurred != true
        else { throw error }
        let unanswered = error as? UnansweredConnection
        let error = unanswered?.cause ?? error
        guard isOwner, unanswered?.wasKept ?? true, request.isRepeatable, resends < Self.maxResends else {
            throw error
        }
        do {
            let upload = try request.openBody()
            resends += 1
            return self.exchange(request, upload)
        } catch is UploadStreamConsumed {
            throw error
        }
    }

    /// Returns the exchange that follows a redirect; `nil` if the response is no redirect, or if the body of the request
    /// cannot be sent again: the caller then receives the redirect as its response.
    @inline(never)
    private func exchange(
        after head: HTTPURLResponse,
        to exchange: ClientExchange,
        _ redirects: inout RedirectPolicy
    ) throws -> ClientExchange? {
        guard let next = try redirects.request(after: head, to: exchange.request) else { return nil }
        do {
            return ClientExchange(next, try next.openBody(), decompression)
        } catch is UploadStreamConsumed {
            return nil
        }
    }
}

extension HTTPClient.Configuration {
    /// The default configuration of an ``AsyncHTTPClientTransport``. It differs from the default of AsyncHTTPClient in
    /// order to be similar to `URLSession`:
    ///
    /// - A server may be silent for 60 seconds (`timeout.read`), the default of `URLRequest`.
    /// - A server that refuses the connection fails the attempt at once. The client's own retries are off
    ///   (`connectionPool.retryConnectionEstablishment`): an ``HTTPRetryPolicy`` retries instead, with its delays and
    ///   its budget. If a connection cannot be made, the other requests that wait for a connection to the same server
    ///   fail too.
    /// - A connection must be available within 60 seconds (`timeout.connect`). This time limits how long it may take to
    ///   make a connection, and how long a request may wait for one of the 8 connections per host that HTTP/1 requests
    ///   share (`connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit`; `URLSession` has 6). For many requests to
    ///   a slow server, raise `timeout.connect` and the number of connections.
    /// - An idle connection is closed after 45 seconds (`connectionPool.idleTimeout`), before the 60 seconds at which
    ///   many load balancers close it.
    ///
    /// Unlike `URLSession`, which also uses HTTP/2, the configuration allows only HTTP/1.1 (`httpVersion`), since
    /// AsyncHTTPClient ends the process when a server resets an HTTP/2 stream at certain moments (its issue 922, open
    /// in version 1.36). With a version that has the correction, set `httpVersion` to `.automatic`.
    public static var taskControl: HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow,
            timeout: Timeout(connect: .seconds(60), read: .seconds(60))
        )
        configuration.httpVersion = .http1Only
        configuration.connectionPool.idleTimeout = .seconds(45)
        configuration.connectionPool.retryConnectionEstablishment = false
        return configuration
    }
}
#endif
