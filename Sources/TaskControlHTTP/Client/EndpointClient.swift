/// A client that sends endpoints' requests to a server.
///
/// ```swift
/// let client = EndpointClient(
///     baseURL: "https://books.example/v1",
///     policies: ClientPolicies(
///         authenticator: .bearer { try await login() },
///         retry: HTTPRetryPolicy(),
///         timeLimit: .seconds(30)
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
/// - A call that reaches a time limit of its ``ClientPolicies`` throws `TimeoutError`. A call that reaches the deadline
///   of its task (`Task.currentDeadline`) throws `DeadlineExceededError`.
/// - A call whose caller is cancelled throws `CancellationError`, even if the endpoint, the adapter or the
///   authenticator throws another error.
/// - A call that ``ClientPolicies/resilience`` refuses throws the error of that policy, unchanged.
///
/// Safe to use from any thread and any isolation. The client is retained while one of its calls runs. When it is
/// deallocated, it invalidates the `URLSession` that it has created, if any.
public final class EndpointClient: APIClient {
    /// The name of the client in diagnostics: in events, traces and snapshots. `nil` if it has none.
    public var name: String? { pipeline.name }

    /// The queue on which completion handlers are called.
    public let completionQueue: DispatchQueue

    let pipeline: RequestPipeline

    /// Creates a client that sends its requests through any transport.
    ///
    /// - Parameters:
    ///   - name: The name of the client in diagnostics: in events, traces and snapshots; `nil` for none.
    ///   - requestAdapter: Completes the request of each call, often with the URL of the server: see
    ///     ``BaseURLAdapter``.
    ///   - transport: Sends the requests.
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
        transport: any HTTPTransport,
        policies: ClientPolicies = ClientPolicies(),
        decoder: JSONDecoder = JSONDecoder(),
        encoder: JSONEncoder = JSONEncoder(),
        completionQueue: DispatchQueue = .main,
        responseObserver: ResponseObserver? = nil
    ) {
        self.completionQueue = completionQueue
        pipeline = RequestPipeline(
            name: name,
            adapter: requestAdapter,
            transport: transport,
            policies: policies,
            coding: CallCoding(decoder: decoder, encoder: encoder),
            observer: responseObserver
        )
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
        try await EndpointCall(endpoint, pipeline).content(onProgress: onProgress)
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
        try await EndpointCall(endpoint, pipeline).content(onProgress: onProgress)
    }
}

extension EndpointClient {
    /// Creates a client that sends its requests to one server, through any transport.
    ///
    /// - Parameters:
    ///   - name: The name of the client in diagnostics: in events, traces and snapshots; `nil` for none.
    ///   - baseURL: The URL of the server, such as `"https://books.example/v1"`; see ``BaseURLAdapter``.
    ///   - transport: Sends the requests; in tests, a ``MockTransport``.
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
        transport: any HTTPTransport,
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

    /// Creates a client that sends its requests to one server, through a `URLSession` of its own.
    ///
    /// - Parameters:
    ///   - name: The name of the client in diagnostics: in events, traces and snapshots; `nil` for none.
    ///   - baseURL: The URL of the server; see ``BaseURLAdapter``.
    ///   - configuration: The configuration of the session. On a server, use `.ephemeral`: on Linux, all sessions of
    ///     the process with the configuration `.default` share their cookies. See ``URLSessionTransport``.
    ///   - delegate: The delegate of the session; `nil` for none. See ``URLSessionTransport``.
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
        configuration: URLSessionConfiguration = .default,
        delegate: (any URLSessionDelegate)? = nil,
        policies: ClientPolicies = ClientPolicies(),
        decoder: JSONDecoder = JSONDecoder(),
        encoder: JSONEncoder = JSONEncoder(),
        completionQueue: DispatchQueue = .main,
        responseObserver: ResponseObserver? = nil
    ) {
        self.init(
            name: name,
            requestAdapter: BaseURLAdapter(baseURL: baseURL),
            configuration: configuration,
            delegate: delegate,
            policies: policies,
            decoder: decoder,
            encoder: encoder,
            completionQueue: completionQueue,
            responseObserver: responseObserver
        )
    }

    /// Creates a client that sends its requests to one server, through a `URLSession` of its own.
    ///
    /// - Parameters:
    ///   - name: The name of the client in diagnostics: in events, traces and snapshots; `nil` for none.
    ///   - baseURL: The URL of the server, such as `"https://books.example/v1"`; see ``BaseURLAdapter``.
    ///   - configuration: The configuration of the session. On a server, use `.ephemeral`: on Linux, all sessions of
    ///     the process with the configuration `.default` share their cookies. See ``URLSessionTransport``.
    ///   - delegate: The delegate of the session; `nil` for none. See ``URLSessionTransport``.
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
        configuration: URLSessionConfiguration = .default,
        delegate: (any URLSessionDelegate)? = nil,
        policies: ClientPolicies = ClientPolicies(),
        decoder: JSONDecoder = JSONDecoder(),
        encoder: JSONEncoder = JSONEncoder(),
        completionQueue: DispatchQueue = .main,
        responseObserver: ResponseObserver? = nil
    ) {
        self.init(
            name: name,
            requestAdapter: BaseURLAdapter(baseURL: baseURL),
            configuration: configuration,
            delegate: delegate,
            policies: policies,
            decoder: decoder,
            encoder: encoder,
            completionQueue: completionQueue,
            responseObserver: responseObserver
        )
    }

    /// Creates a client that sends its requests through a `URLSession` of its own.
    ///
    /// - Parameters:
    ///   - name: The name of the client in diagnostics: in events, traces and snapshots; `nil` for none.
    ///   - requestAdapter: Completes the request of each call, often with the URL of the server: see
    ///     ``BaseURLAdapter``.
    ///   - configuration: The configuration of the session. On a server, use `.ephemeral`: on Linux, all sessions of
    ///     the process with the configuration `.default` share their cookies. See ``URLSessionTransport``.
    ///   - delegate: The delegate of the session; `nil` for none. See ``URLSessionTransport``.
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
        requestAdapter: any URLRequestAdapter,
        configuration: URLSessionConfiguration = .default,
        delegate: (any URLSessionDelegate)? = nil,
        policies: ClientPolicies = ClientPolicies(),
        decoder: JSONDecoder = JSONDecoder(),
        encoder: JSONEncoder = JSONEncoder(),
        completionQueue: DispatchQueue = .main,
        responseObserver: ResponseObserver? = nil
    ) {
        self.init(
            name: name,
            requestAdapter: requestAdapter,
            transport: URLSessionTransport(configuration: configuration, delegate: delegate),
            policies: policies,
            decoder: decoder,
            encoder: encoder,
            completionQueue: completionQueue,
            responseObserver: responseObserver
        )
    }
}
