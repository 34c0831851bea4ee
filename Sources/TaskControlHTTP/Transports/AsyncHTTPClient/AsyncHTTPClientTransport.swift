#if AsyncHTTPClient
public import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTPCompression

/// A transport over AsyncHTTPClient, for servers. With the package trait `AsyncHTTPClient`.
///
/// ```swift
/// let transport = AsyncHTTPClientTransport()
/// ```
///
/// What its reader has not read is not received either: a body of any length needs no more memory than a few of its parts. Files and
/// streams are sent as they are read, on a thread of their own.
///
/// `timeoutInterval` is how long the server may be silent. Where it is the default of `URLRequest`, 60 seconds, the client's own limit
/// holds instead, `Timeout.read`, which also holds beside a longer one: configure the client with a longer one for servers that take their
/// time.
///
/// ## Cancellation
/// A caller that is cancelled gets `CancellationError`, and its exchange ends; its connection is closed. A caller that is cancelled before
/// it starts sends nothing.
public final class AsyncHTTPClientTransport: HTTPTransport {
    private let client: HTTPClient
    private let isOwner: Bool

    /// Makes a client of the transport's own, which is shut down when the transport goes.
    ///
    /// - Parameter configuration: Of the client. By default, gzip and deflate are taken off, and a server may be silent for 60 seconds. Its
    ///   redirects are disallowed, since the transport follows them.
    public init(configuration: HTTPClient.Configuration = .taskControl) {
        var configuration = configuration
        configuration.redirectConfiguration = .disallow
        StatusGuard.install(in: &configuration)
        client = HTTPClient(
            eventLoopGroupProvider: .shared(HTTPClient.defaultEventLoopGroup),
            configuration: configuration
        )
        isOwner = true
    }

    /// Uses a client that somebody else owns, and shuts down.
    ///
    /// - Parameter client: Pass one whose configuration disallows redirects. Redirects that the configuration allows are followed by the client
    ///   itself, by its own rules: a server that is not to be trusted can end the process with a redirect to a port above 65535
    ///   (AsyncHTTPClient 1.37). `HTTPClient.shared` allows them. The client is not asked for an encoding: a request that wants one says
    ///   so in `Accept-Encoding`, and the client's configuration whether it is taken off.
    public init(_ client: HTTPClient) {
        self.client = client
        isOwner = false
    }

    deinit {
        // Each exchange keeps the transport, so there is none.
        if isOwner { client.shutdown { _ in } }
    }

    /// Sends one request, and hands over its response as it arrives; follows redirects.
    public func withResponse<Value>(
        to request: HTTPTransportRequest,
        _ receive: (HTTPTransportResponse) async throws -> Value
    ) async throws -> Value {
        try Task.checkCancellation()
        var request = request.normalized()
        var upload = try request.body.map(UploadReader.init)
        var redirects = RedirectPolicy()
        while true {
            let exchange = ClientExchange(request, upload)
            defer { exchange.leave() }
            let head: HTTPURLResponse = try await withTaskCancellationHandler {
                try await exchange.open(client, asksForEncoding: isOwner)
            } onCancel: {
                exchange.cancel()
            }
            if let next = try redirects.request(after: head, to: request) {
                do {
                    upload = try next.body.map(UploadReader.init)
                    // Whatever becomes of it: what counts is where it leads.
                    try? await exchange.discard()
                    try Task.checkCancellation()
                    request = next
                    continue
                } catch is UploadStreamConsumed {
                    // It can't be sent again: then the redirect is the answer.
                }
            }
            return try await withCancellationHandler {
                let body = HTTPResponseBody { try await exchange.next() }
                return try await receive(HTTPTransportResponse(head: head, body: body))
            } onCancel: {
                exchange.cancel()
            }
        }
    }
}

extension HTTPClient.Configuration {
    /// What ``AsyncHTTPClientTransport`` makes its client with by default: a server may be silent for 60 seconds, as with `URLRequest`, and
    /// gzip and deflate are taken off. Without a limit, since a body is read part by part.
    public static var taskControl: HTTPClient.Configuration {
        HTTPClient.Configuration(
            redirectConfiguration: .disallow,
            timeout: Timeout(connect: .seconds(10), read: .seconds(60)),
            decompression: .enabled(limit: .none)
        )
    }
}
#endif
