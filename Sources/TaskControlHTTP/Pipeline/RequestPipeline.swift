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
    private let budgets = HostTable<RetryBudget>(\.hostUse)
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
        prepare: @escaping (inout URLRequest) throws -> Void = { _ in },
        exchange: Call.Exchange<Value>
    ) async throws -> Value {
        let verdict = policies.resilience.map { _ in CallVerdict() }
        do {
            return try await policies.limited(to: policies.timeLimit) {
                try Task.checkCancellation()
                var call = try await call(make, prepare)
                return try await call.run(exchange, verdict, isCollected: isCollected)
            }
        } catch {
            verdict?.end(error)
            throw error
        }
    }

    /// Creates the request of an endpoint, lets the ``URLRequestAdapter`` change it, and returns the call that sends it.
    /// If the request cannot be created or adapted, notifies the ``ResponseObserver``.
    ///
    /// - Parameters:
    ///   - make: Creates the request, and the body of an upload (`nil` if the call is no upload).
    ///   - prepare: Changes the request of each attempt, before the credential is attached.
    /// - Throws: An error if the request could not be created or adapted.
    private func call(
        _ make: () throws -> (URLRequest, UploadEndpointBody?),
        _ prepare: @escaping (inout URLRequest) throws -> Void
    ) async throws -> Call {
        var attempt = Attempt()
        do {
            var (request, body) = try make()
            attempt.request = PreparedRequest(request, body)
            request = try await adapter.adapt(request)
            if let url = request.url?.withLowercaseScheme { request.url = url }
            if body == nil, let stream = request.httpBodyStream {
                // The request no longer has it: the transport alone reads it.
                nonisolated(unsafe) let stream = stream
                request.httpBodyStream = nil
                body = .stream(stream)
            }
            return Call(request, body, self, prepare: prepare)
        } catch {
            let failure = attempt.fail(with: error)
            notifyObserver(of: attempt, failure)
            throw failure
        }
    }

    /// Throws if the endpoint, the authenticator or the retry policy treats a response as a failure.
    ///
    /// - Parameters:
    ///   - attempt: The attempt with the response.
    ///   - validate: The validation of the endpoint, which comes first.
    func check(_ attempt: Attempt, _ validate: () throws -> Void) throws {
        let isRejection = policies.authenticator != nil && attempt.isRejection
        do {
            try validate()
        } catch let error as EndpointError where isRejection && error.reason == .status {
            // The error for the rejection, thrown below, is more specific.
        }
        if isRejection { throw EndpointError(.unauthorized) }
        if let retry = attempt.policies.retry, let status = attempt.response.head?.statusCode,
            retry.statuses.contains(status)
        {
            throw EndpointError(.status)
        }
    }

    /// Sends a request and collects the response. The exchange is shared with other calls if the policies allow that.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - attempt: The attempt, which receives the response, and the key of the exchange if that is shared.
    ///   - progress: Reports the progress; `nil` for no reports.
    func collect(
        _ request: PreparedRequest,
        into attempt: inout Attempt,
        _ progress: ProgressReporter.Transfer?
    ) async throws {
        let limit = policies.bodyLimit
        guard policies.coalescesGETRequests, let key = sharing.key(of: request, policies, over: transport) else {
            return try await transport.collect(
                request,
                into: &attempt.response,
                limit: limit,
                hedging: attempt.policies.hedging,
                progress
            )
        }
        attempt.sharingKey = key
        try await sharing.collect(
            request,
            key,
            over: transport,
            into: &attempt.response,
            limit: limit,
            hedging: attempt.policies.hedging,
            progress
        )
    }

    /// Returns the policies for the attempts of a call: those of the client and the endpoint, combined with those of
    /// the host.
    ///
    /// - Parameters:
    ///   - request: The request of the call.
    ///   - resilience: The policy of the host; `nil` if there is none.
    ///   - verdict: The object that reports the outcome to the policy of the host; `nil` if there is none.
    ///   - isTransfer: Whether the duration of the call depends on the length of a body: `true` for an upload, and for
    ///     a response that is streamed or written to a file.
    func policies(
        of request: URLRequest,
        _ resilience: ResiliencePolicy?,
        _ verdict: CallVerdict?,
        isTransfer: Bool
    ) -> CallPolicies {
        CallPolicies(policies, resilience, verdict, of: request, isTransfer: isTransfer) {
            $0.budget(for: request.host, in: budgets)
        }
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

extension ClientPolicies {
    /// Runs an operation, with a time limit if `limit` is not `nil`.
    ///
    /// - Throws: `TimeoutError` at the limit; the error of the operation.
    func limited<Value>(to limit: Duration?, _ operation: () async throws -> Value) async throws -> Value {
        guard let limit else { return try await operation() }
        // `self`: without it, the compiler (Swift 6.3) does not open the existential.
        return try await withTimeout(limit, clock: self.clock) { try await operation() }
    }
}
