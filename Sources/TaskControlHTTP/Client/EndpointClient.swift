public import Dispatch
public import Foundation
internal import TaskControlResilience

/// A client that sends endpoints' requests to a server.
///
/// ```swift
/// let client = EndpointClient(
///     baseURL: "https://books.example/v1",
///     policies: ClientPolicies(
///         authenticator: .bearer { try await login() },
///         retry: HTTPRetryPolicy(),
///         timeout: .seconds(30)
///     )
/// )
/// let books = try await client.request(BookListEndpoint())
/// ```
///
/// Errors reach the caller in this form:
/// - Errors that the endpoint, the ``URLRequestAdapter`` or the ``EndpointAuthenticator`` throws are thrown unchanged; to an
///   ``EndpointError`` among them, the client adds the request and the response.
/// - For a response whose status the endpoint does not accept, the call throws an ``EndpointError`` with the reason
///   ``EndpointError/Reason/status``. ``EndpointError/Reason`` lists the other failures of a request or a response.
/// - An error of the transport is thrown as an ``EndpointError``, whose ``EndpointError/underlyingError`` it is.
/// - A call that reaches a time limit of its ``ClientPolicies``, also one of silence, throws `TimeoutError`. A call that reaches the deadline
///   of its task (`Task.currentDeadline`) throws `DeadlineExceededError`.
/// - A call whose caller is cancelled throws `CancellationError`, even if the endpoint, the adapter or the
///   authenticator throws another error.
/// - A call that ``ClientPolicies/resilience`` refuses throws the error of that policy, unchanged.
/// - A call that the client itself cancels or refuses throws `CancellationCause`, which says why.
///
/// Safe to use from any thread and any isolation. The client is retained while one of its calls runs. When it is
/// deallocated, it invalidates the `URLSession` that it has created, if any.
///
/// ## The client as an owner
/// A client is the `TaskOwner` of its calls: requests, uploads, downloads and streamed responses. Its shutdown refuses later
/// calls, waits for the present ones, cancels those that are left after the grace period, and then shuts down the transport
/// (``HTTPTransport/shutdown()``):
///
/// ```swift
/// let report = await client.shutdown(grace: .seconds(5))
/// if !report.isEmpty { print(report) }        // cancelled: GET https://books.example/v1/books
/// ```
///
/// `cancelAll(because:)` and `close()` cancel the calls, not the tasks of their callers, which receive the error. Each
/// wait of a call ends at once: for its exchange, whose end the server sees, for a credential, a permit or a delay. The code that
/// reads a response in ``withResponse(to:_:)`` is cancelled too, since it runs in a child task of the caller. An
/// ``URLRequestAdapter`` that waits is cancelled only if the call has a time limit (``ClientPolicies/timeout``); otherwise the
/// call ends after it. A call whose response has arrived by then succeeds.
///
/// `drain()` waits for the present calls, without escalating them, since they belong to the tasks of their callers.
public final class EndpointClient: APIClient, TaskOwner, ClosableOwner {
    /// The name of the client in diagnostics: in events, traces and snapshots. `nil` if it has none.
    public let name: String?

    /// The queue on which completion handlers are called.
    public let completionQueue: DispatchQueue

    let transport: any HTTPTransport
    let policies: ClientPolicies
    let coding: CallCoding
    let adapter: any URLRequestAdapter
    private let observer: ResponseObserver?
    let sharing = ExchangeSharing()
    let budgets = HostTable<RetryBudget>(\.hostUse)
    /// The resilience policies of the hosts, for ``HTTPResilience/perHost(_:)``.
    let hostPolicies = HostTable<ResiliencePolicy>(\.hostUse)
    let calls: CallTable
    /// Whether the client cancels the exchanges of its transport directly. Otherwise, it cancels the tasks that wait for them.
    let cancelsExchanges: Bool
    /// The client as the source of its events.
    private let source: EventSource

    /// Creates a client whose requests an adapter completes.
    ///
    /// - Parameters:
    ///   - name: The name of the client in diagnostics: in events, traces and snapshots; `nil` for none.
    ///   - requestAdapter: Completes the request of each call, often with the URL of the server: see
    ///     ``BaseURLAdapter``.
    ///   - transport: Sends the requests; in tests, a ``MockTransport``. By default a `URLSession` of the client's own, with
    ///     the configuration `.default`: for another configuration or a delegate, pass a ``URLSessionTransport``.
    ///   - policies: The policies of the client: credentials, retries, and limits.
    ///   - decoder: Decodes contents, except those of endpoints that have a decoder of their own. Must not be changed
    ///     after this call.
    ///   - encoder: Encodes bodies, except those of endpoints that have an encoder of their own. Must not be changed
    ///     after this call.
    ///   - completionQueue: The queue on which completion handlers are called.
    ///   - responseObserver: Called after each attempt to send a request, with the request, the response and the error;
    ///     `nil` for no calls.
    public init(
        name: String? = nil,
        requestAdapter: any URLRequestAdapter,
        transport: any HTTPTransport = URLSessionTransport(),
        policies: ClientPolicies = ClientPolicies(),
        decoder: JSONDecoder = JSONDecoder(),
        encoder: JSONEncoder = JSONEncoder(),
        completionQueue: DispatchQueue = .main,
        responseObserver: ResponseObserver? = nil
    ) {
        (self.name, self.completionQueue) = (name, completionQueue)
        source = EventSource(.http, name: name)
        calls = CallTable(source)
        cancelsExchanges = transport is URLSessionTransport
        (adapter, self.transport, self.policies) = (requestAdapter, transport, policies)
        coding = CallCoding(decoder: decoder, encoder: encoder)
        observer = responseObserver
    }

    /// Sends a request, and returns the decoded content of the response.
    ///
    /// The whole body is collected in memory. A body that is larger than ``ClientPolicies/bodyLimit`` fails the call:
    /// for such bodies, use ``download(_:to:resuming:onProgress:)`` or ``withResponse(to:_:)``.
    ///
    /// - Parameters:
    ///   - endpoint: Creates the request, and decodes the content of the response.
    ///   - onProgress: Called when more bytes have been sent or received, one call after another, from any thread;
    ///     `nil` for no reports. If the request is sent again, the progress begins again at zero. The closure should
    ///     return quickly: with ``URLSessionTransport`` on Linux, a closure that blocks can delay all other requests of
    ///     the transport.
    /// - Returns: The content that the endpoint decodes.
    /// - Throws: The same errors as ``APIClient/request(_:onProgress:)``.
    public func request<E: Endpoint>(
        _ endpoint: E,
        onProgress: (@Sendable (TransferProgress) -> Void)?
    ) async throws -> E.Content {
        let call = Call(self, to: endpoint, onProgress: onProgress)
        return try await call.content(
            { (try endpoint.makeRequest(), nil) },
            { try endpoint.validate($0, response: $1, data: $2) },
            call.decoding(of: endpoint)
        )
    }

    /// Uploads a body, and returns the decoded content of the response.
    ///
    /// - Parameters:
    ///   - endpoint: Creates the request, and decodes the content of the response.
    ///   - onProgress: Called when more bytes have been sent or received, one call after another, from any thread;
    ///     `nil` for no reports. If the request is sent again, the progress begins again at zero. The closure should
    ///     return quickly: with ``URLSessionTransport`` on Linux, a closure that blocks can delay all other requests of
    ///     the transport.
    /// - Returns: The content that the endpoint decodes.
    /// - Throws: The same errors as ``APIClient/request(_:onProgress:)``.
    public func upload<E: UploadEndpoint>(
        _ endpoint: E,
        onProgress: (@Sendable (TransferProgress) -> Void)?
    ) async throws -> E.Content {
        let call = Call(self, to: endpoint, onProgress: onProgress)
        return try await call.content(
            { try endpoint.makeRequest() },
            { try endpoint.validate($0, response: $1, data: $2) },
            call.decoding(of: endpoint)
        )
    }
}

extension EndpointClient {
    /// Creates a client that sends its requests to one server.
    ///
    /// - Parameters:
    ///   - name: The name of the client in diagnostics: in events, traces and snapshots; `nil` for none.
    ///   - baseURL: The URL of the server, such as `"https://books.example/v1"`; see ``BaseURLAdapter``.
    ///   - transport: Sends the requests; in tests, a ``MockTransport``. By default a `URLSession` of the client's own, with
    ///     the configuration `.default`: for another configuration or a delegate, pass a ``URLSessionTransport``. On a server,
    ///     use `.ephemeral`: on Linux, all sessions of the process with the configuration `.default` share their cookies.
    ///   - policies: The policies of the client: credentials, retries, and limits.
    ///   - decoder: Decodes contents, except those of endpoints that have a decoder of their own. Must not be changed
    ///     after this call.
    ///   - encoder: Encodes bodies, except those of endpoints that have an encoder of their own. Must not be changed
    ///     after this call.
    ///   - completionQueue: The queue on which completion handlers are called.
    ///   - responseObserver: Called after each attempt to send a request, with the request, the response and the error;
    ///     `nil` for no calls.
    public convenience init(
        name: String? = nil,
        baseURL: RequestURL,
        transport: any HTTPTransport = URLSessionTransport(),
        policies: ClientPolicies = ClientPolicies(),
        decoder: JSONDecoder = JSONDecoder(),
        encoder: JSONEncoder = JSONEncoder(),
        completionQueue: DispatchQueue = .main,
        responseObserver: ResponseObserver? = nil
    ) {
        self.init(
            name: name,
            requestAdapter: BaseURLAdapter(baseURL: baseURL),
            transport: transport,
            policies: policies,
            decoder: decoder,
            encoder: encoder,
            completionQueue: completionQueue,
            responseObserver: responseObserver
        )
    }

    /// Creates a client that sends its requests to one server, whose URL is a value.
    ///
    /// - Parameters:
    ///   - name: The name of the client in diagnostics: in events, traces and snapshots; `nil` for none.
    ///   - baseURL: The URL of the server; see ``BaseURLAdapter``.
    ///   - transport: Sends the requests; in tests, a ``MockTransport``. By default a `URLSession` of the client's own, with
    ///     the configuration `.default`: for another configuration or a delegate, pass a ``URLSessionTransport``. On a server,
    ///     use `.ephemeral`: on Linux, all sessions of the process with the configuration `.default` share their cookies.
    ///   - policies: The policies of the client: credentials, retries, and limits.
    ///   - decoder: Decodes contents, except those of endpoints that have a decoder of their own. Must not be changed
    ///     after this call.
    ///   - encoder: Encodes bodies, except those of endpoints that have an encoder of their own. Must not be changed
    ///     after this call.
    ///   - completionQueue: The queue on which completion handlers are called.
    ///   - responseObserver: Called after each attempt to send a request, with the request, the response and the error;
    ///     `nil` for no calls.
    public convenience init(
        name: String? = nil,
        baseURL: URL,
        transport: any HTTPTransport = URLSessionTransport(),
        policies: ClientPolicies = ClientPolicies(),
        decoder: JSONDecoder = JSONDecoder(),
        encoder: JSONEncoder = JSONEncoder(),
        completionQueue: DispatchQueue = .main,
        responseObserver: ResponseObserver? = nil
    ) {
        self.init(
            name: name,
            requestAdapter: BaseURLAdapter(baseURL: baseURL),
            transport: transport,
            policies: policies,
            decoder: decoder,
            encoder: encoder,
            completionQueue: completionQueue,
            responseObserver: responseObserver
        )
    }
}

extension EndpointClient {
    /// Sends a request, and passes the response to a closure as it arrives.
    ///
    /// ```swift
    /// let lines = try await client.withResponse(to: ExportEndpoint()) { response in
    ///     var lines = 0
    ///     for try await chunk in response.body { lines += chunk.count { $0 == UInt8(ascii: "\n") } }
    ///     return lines
    /// }
    /// ```
    ///
    /// The endpoint creates the request, and validates the response before the closure is called; its
    /// `content(from:with:)` is not called.
    ///
    /// Until the call returns, the exchange has one of the connections of the transport, which by default has 6
    /// (``URLSessionTransport``) or 8 (`AsyncHTTPClientTransport`) connections to a host over HTTP/1. With as many
    /// responses open, every other request to the host waits, also one that the closure sends. For responses that stay
    /// open, such as server-sent events, use a client with a transport of its own, and a configuration that allows enough
    /// connections.
    ///
    /// - Parameters:
    ///   - endpoint: Creates the request and validates the response.
    ///   - receive: Called at most once, in the caller's isolation. When the closure returns or throws, the exchange
    ///     (the request and its response) ends, even if the body has not been read to its end. The closure is not
    ///     called for a response that the endpoint does not accept, or that a policy of the client treats as a failure:
    ///     a 401 that rejects the ``EndpointAuthenticator``'s credential, and, if the request is one that the retry policy
    ///     repeats, each of ``HTTPRetryPolicy/statuses``, also after the last attempt. After such a response, the
    ///     request is sent again, or the call throws an error.
    /// - Returns: The value of `receive`.
    /// - Throws: The same errors as ``request(_:onProgress:)``. An error that `receive` throws is treated like one that
    ///   the endpoint throws.
    public func withResponse<E: Endpoint, Value>(
        to endpoint: E,
        _ receive: (HTTPTransportResponse) async throws -> Value
    ) async throws -> Value {
        try await Call(self, to: endpoint, onProgress: nil).withResponse(
            { (try endpoint.makeRequest(), nil) },
            { try endpoint.validate($0, response: $1, data: $2) },
            receive
        )
    }

    /// Uploads a body, and passes the response to a closure as it arrives.
    ///
    /// The closure is called after the upload: no transport of this module returns a response before the whole body is
    /// sent.
    ///
    /// - Parameters:
    ///   - endpoint: Creates the request and validates the response; its `content(from:with:)` is not called.
    ///   - onProgress: Called when more bytes have been sent or received, one call after another, from any thread;
    ///     `nil` for no reports.
    ///   - receive: Called at most once, in the caller's isolation. When the closure returns or throws, the exchange
    ///     (the request and its response) ends, even if the body of the response has not been read to its end. The
    ///     closure is not called for a response that the endpoint does not accept, or that a policy of the client
    ///     treats as a failure: a 401 that rejects the ``EndpointAuthenticator``'s credential, and, if the request is one that
    ///     the retry policy repeats, each of ``HTTPRetryPolicy/statuses``, also after the last attempt. After such a
    ///     response, the request is sent again, or the call throws an error.
    /// - Returns: The value of `receive`.
    /// - Throws: The same errors as ``upload(_:onProgress:)``. An error that `receive` throws is treated like one that
    ///   the endpoint throws.
    public func withResponse<E: UploadEndpoint, Value>(
        to endpoint: E,
        onProgress: (@Sendable (TransferProgress) -> Void)? = nil,
        _ receive: (HTTPTransportResponse) async throws -> Value
    ) async throws -> Value {
        try await Call(self, to: endpoint, onProgress: onProgress).withResponse(
            { try endpoint.makeRequest() },
            { try endpoint.validate($0, response: $1, data: $2) },
            receive
        )
    }

    /// Sends a request, and writes the body of its response to a file, as it arrives.
    ///
    /// The target (`file`), unless it is a device or a pipe, appears or is replaced when the body is complete. An
    /// existing regular file is replaced in one step, and the new file has its permissions. If `file` is a symbolic
    /// link, the target is the file to which the link points, and the link stays. If the target is a folder, the call
    /// fails before it sends a request.
    ///
    /// Without `resuming:`, the body is written to a hidden file in the folder of the target until it is complete. If
    /// the call fails, the hidden file is removed. If the process is killed, the hidden file stays, and nothing removes
    /// it later; its name begins with `.taskcontrol-` and ends in `.part`. A device or a pipe as the target is an
    /// exception: the body is written to it directly, as it arrives. Writing to a pipe blocks the caller's thread while
    /// no process reads from the pipe.
    ///
    /// With `resuming:`, the body is written to ``DownloadResumption/partialFile`` until it is complete. If the call
    /// fails, this file stays if a later call can continue the body, and is removed otherwise. If the target is a
    /// device or a pipe, the call fails before it sends a request.
    ///
    /// ## Resuming
    /// A connection that breaks off in the middle of the body is an error of the transport, after which
    /// ``ClientPolicies/retry`` can allow another attempt. This attempt requests only the rest of the body, if the
    /// received part can be continued; otherwise, it requests the whole body. ``DownloadResumption`` describes the
    /// conditions under which a part can be continued, and also keeps the part for a later call.
    ///
    /// A compressed body cannot be continued. So a request for the rest of a body asks the server not to compress it
    /// (`Accept-Encoding: identity`). With `resuming:`, a request for the whole body does so too, unless the endpoint
    /// sets that header. Without `resuming:`, the server may compress the whole body; if the connection then breaks
    /// off, the next attempt begins again with the first byte.
    ///
    /// A server answers a request for the rest of the body with the status 206, and the call returns the head of that
    /// response. The endpoint's `validate` receives a changed head, as if the response had the status 200 and the whole
    /// body: without `Content-Range`, and with the `Content-Length` of the whole body. So the endpoint need not accept
    /// the status 206.
    ///
    /// A request whose method is not GET, or to which the endpoint or the adapter adds `Range` or `If-Range`, is never
    /// continued: each attempt requests the same body, and the call ignores `resuming:`.
    ///
    /// - Parameters:
    ///   - endpoint: Creates the request and validates the response; its `content(from:with:)` is not called.
    ///   - file: The target: the file to write, in a folder that exists.
    ///   - resumption: Keeps the received part if the call fails or is cancelled, and continues the part of an earlier
    ///     call. By default `nil`: an attempt can continue the part of an earlier attempt of the same call, and no part
    ///     is kept after the call.
    ///   - onProgress: Called when more bytes have arrived, one call after another, from any thread; `nil` for no
    ///     reports. ``TransferProgress/received`` includes the bytes of a continued part. The closure should return
    ///     quickly: a closure that blocks delays the download, and can also delay other calls of the client.
    /// - Returns: The head of the response to the last request.
    /// - Throws: The same errors as ``request(_:onProgress:)``; the `CocoaError` of the file system; ``EndpointError`` with
    ///   the reason ``EndpointError/Reason/status`` for a status that is not 2xx, even if the endpoint accepts it.
    @discardableResult
    public func download<E: Endpoint>(
        _ endpoint: E,
        to file: URL,
        resuming resumption: DownloadResumption? = nil,
        onProgress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws -> HTTPURLResponse {
        try await Call(self, to: endpoint, onProgress: onProgress).download(
            { (try endpoint.makeRequest(), nil) },
            { try endpoint.validate($0, response: $1, data: $2) },
            to: Download(to: file, resumption)
        )
    }
}

extension EndpointClient {
    /// Calls the ``ResponseObserver`` of the client for an attempt that has ended.
    ///
    /// - Parameters:
    ///   - attempt: The attempt.
    ///   - error: The error of the attempt; `nil` if it succeeded.
    func notifyObserver(of attempt: Attempt, _ error: (any Error)?) {
        observer?(attempt.request, attempt.response.head, attempt.response.body, error)
    }

    func emitStarted(_ request: URLRequest, attempt: Int) -> CallEvents? {
        CallEvents.begin(
            .http,
            .started,
            .running,
            owner: source.identity,
            ownerName: name,
            detail: Redaction.text(of: request),
            attempt: attempt
        )
    }

    func emitRejected(_ request: URLRequest, attempt: Int) {
        Diagnostics.emit(
            isInside: true,
            TaskEvent(
                .http,
                .rejected,
                owner: source.identity,
                ownerName: name,
                detail: Redaction.text(of: request),
                attempt: attempt
            )
        )
    }
}

/// The JSON decoder and encoder of a call of an ``APIClient``, in a task-local value.
///
/// The functions of an ``Endpoint`` have no parameter for them. A client binds the value around each of its synchronous
/// calls to an endpoint, so the binding ends with the call.
///
/// A class, so that the task-local value is one reference, as all of this package are.
final class CallCoding: Sendable {
    @TaskLocal private static var current: CallCoding?

    let decoder: JSONDecoder
    let encoder: JSONEncoder

    init(decoder: JSONDecoder, encoder: JSONEncoder) {
        self.decoder = decoder
        self.encoder = encoder
    }

    /// The decoder of the current call of a client; a new decoder outside such a call.
    static var decoder: JSONDecoder { current?.decoder ?? JSONDecoder() }

    /// The encoder of the current call of a client; a new encoder outside such a call.
    static var encoder: JSONEncoder { current?.encoder ?? JSONEncoder() }

    /// Calls a function of an endpoint with this decoder and encoder as those of the current call of the client.
    func bind<Value>(_ body: () throws -> Value) rethrows -> Value {
        try Self.$current.withValue(self, operation: body)
    }
}
