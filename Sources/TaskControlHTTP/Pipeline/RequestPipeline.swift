internal import Foundation
internal import TaskControlResilience

/// The parts of a client that all of its calls use, and the outermost steps of a call: its time limit, the request of
/// its endpoint, the ``URLRequestAdapter``. ``Call`` performs the inner steps.
///
/// Each call has a copy with the policies, the decoder and the encoder of its endpoint. The copies share the objects
/// that they refer to.
struct RequestPipeline: Sendable {
    let transport: any HTTPTransport
    private(set) var policies: ClientPolicies
    private(set) var coding: CallCoding
    let sharing = ExchangeSharing()
    private let adapter: any URLRequestAdapter
    private let observer: ResponseObserver?
    let budgets = HostTable<RetryBudget>(\.hostUse)
    /// The resilience policies of the hosts, for ``HTTPResilience/perHost(_:)``.
    let hostPolicies = HostTable<ResiliencePolicy>(\.hostUse)
    /// The identity of the client in events.
    private let identity = TaskEvent.Identity(Diagnostics.nextNumber())
    /// The name of the client in events; `nil` if it has none.
    let name: String?

    init(
        name: String?,
        adapter: any URLRequestAdapter,
        transport: any HTTPTransport,
        policies: ClientPolicies,
        coding: CallCoding,
        observer: ResponseObserver?
    ) {
        self.name = name
        self.coding = coding
        self.adapter = adapter
        self.transport = transport
        self.policies = policies
        self.observer = observer
    }

    /// Returns the pipeline for a call to an endpoint, with the policies, the decoder and the encoder of that endpoint.
    ///
    /// - Parameters:
    ///   - adjust: Changes the policies of the client for the endpoint.
    ///   - decoder: The decoder of the endpoint; `nil` for the client's decoder.
    ///   - encoder: The encoder of the endpoint; `nil` for the client's encoder.
    func call(
        _ adjust: (inout ClientPolicies) -> Void,
        _ decoder: JSONDecoder?,
        _ encoder: JSONEncoder?
    ) -> RequestPipeline {
        var pipeline = self
        adjust(&pipeline.policies)
        if decoder != nil || encoder != nil {
            pipeline.coding = CallCoding(decoder: decoder ?? coding.decoder, encoder: encoder ?? coding.encoder)
        }
        return pipeline
    }

    /// Creates the request of an endpoint, and sends it according to the policies.
    ///
    /// - Parameters:
    ///   - isCollected: Whether the whole response is collected before the endpoint decodes it.
    ///   - make: Creates the request, and the body of an upload (`nil` if the call is no upload).
    ///   - prepare: Changes the request of each attempt, before the credential is attached. By default it changes
    ///     nothing.
    ///   - exchange: Sends the request of an attempt and reads the response.
    func run<Value>(
        isCollected: Bool = false,
        make: () throws -> (URLRequest, UploadEndpointBody?),
        prepare: (inout URLRequest) throws -> Void = { _ in },
        exchange: Call.Send<Value>
    ) async throws -> Value {
        var call = Call(self)
        do {
            let value = try await policies.clock.limited(to: policies.timeout) {
                try Task.checkCancellation()
                let (request, body) = try await request(make)
                return try await call.run(request, body, isCollected: isCollected, prepare, exchange)
            }
            call.end(nil)
            return value
        } catch {
            call.end(error)
            throw error
        }
    }

    /// Creates the request of an endpoint, and lets the ``URLRequestAdapter`` change it. If that fails, notifies the
    /// ``ResponseObserver``.
    ///
    /// - Parameter make: Creates the request, and the body of an upload (`nil` if the call is no upload).
    private func request(
        _ make: () throws -> (URLRequest, UploadEndpointBody?)
    ) async throws -> (URLRequest, UploadEndpointBody?) {
        var attempt = Attempt()
        do {
            var (request, body) = try make()
            attempt.request = PreparedRequest(request, body, coding.decoder)
            request = try await adapter.adapt(request)
            if let url = request.url?.withLowercaseScheme { request.url = url }
            if body == nil, let stream = request.httpBodyStream {
                // The request no longer has it: the transport alone reads it.
                nonisolated(unsafe) let stream = stream
                request.httpBodyStream = nil
                body = .stream(stream)
            }
            return (request, body)
        } catch {
            let failure = attempt.fail(with: error)
            notifyObserver(of: attempt, failure)
            throw failure
        }
    }

    /// Sends a request and collects the response. The exchange is shared with other calls if the policies allow that.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - call: The call, whose attempt receives the response.
    ///   - progress: Reports the progress; `nil` for no reports.
    func collect(
        _ request: PreparedRequest,
        into call: inout Call,
        _ progress: ProgressReporter.Transfer?
    ) async throws {
        let exchange = call.exchange
        guard policies.coalescesGETRequests, let key = sharing.key(of: request, policies, over: transport) else {
            return try await exchange.collect(request, into: &call.attempt.response, progress)
        }
        try await sharing.collect(request, key, over: exchange, into: &call.attempt, progress)
    }

    /// Calls the ``ResponseObserver`` of the client for an attempt that has ended.
    ///
    /// - Parameters:
    ///   - attempt: The attempt.
    ///   - error: The error of the attempt; `nil` if it succeeded.
    func notifyObserver(of attempt: Attempt, _ error: (any Error)?) {
        observer?(attempt.request?.requestWithoutCredentials, attempt.response.head, attempt.response.body, error)
    }

    // MARK: Events

    func emitStarted(_ request: URLRequest, attempt: Int) -> CallEvents? {
        CallEvents.begin(
            .http,
            .started,
            .running,
            owner: identity,
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
                owner: identity,
                ownerName: name,
                detail: Redaction.text(of: request),
                attempt: attempt
            )
        )
    }
}

extension URLRequest {
    /// The host of the request in lower case, as the key of tables, since host names are not case-sensitive; `nil` if
    /// there is none.
    var host: String? { url?.host?.lowercased() }
}

extension Clock<Duration> {
    /// Runs an operation, with a time limit if `limit` is not `nil`.
    ///
    /// - Throws: `TimeoutError` at the limit; the error of the operation.
    func limited<Value>(to limit: Duration?, _ operation: () async throws -> Value) async throws -> Value {
        guard let limit else { return try await operation() }
        return try await withTimeout(limit, clock: self) { try await operation() }
    }
}
