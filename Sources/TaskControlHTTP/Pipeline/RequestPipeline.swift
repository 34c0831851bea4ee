internal import TaskControlResilience

/// The parts of a client that all of its calls use, and the outermost steps of a call: its time limit, the request of
/// its endpoint, the adapter. ``Call`` takes the inner steps.
///
/// A value: a call has a copy, with the policies and the coding of its endpoint. Calls share only the references.
struct RequestPipeline: Sendable {
    let transport: any HTTPTransport
    private(set) var policies: ClientPolicies
    private(set) var coding: CallCoding
    let sharing = ExchangeSharing()
    private let adapter: any RequestAdapter
    private let observer: ResponseObserver?
    private let budgets = HostTable<RetryBudget>(\.hostUse)
    /// The resilience policies of the hosts.
    let hostPolicies = HostTable<ResiliencePolicy>(\.hostUse)
    /// The identity of the client in events.
    private let identity = TaskEvent.Identity(Diagnostics.nextNumber())
    /// The name of the client in events.
    let name: String?

    init(
        name: String?,
        adapter: any RequestAdapter,
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

    /// Returns the pipeline of a call to an endpoint.
    func call(
        _ adjust: (inout ClientPolicies) -> Void,
        _ decoder: JSONDecoder?,
        _ encoder: JSONEncoder?
    ) -> RequestPipeline {
        var pipeline = self
        adjust(&pipeline.policies)
        if let decoder { pipeline.coding.decoder = decoder }
        if let encoder { pipeline.coding.encoder = encoder }
        return pipeline
    }

    /// Makes a request, and sends it as the policies say.
    ///
    /// - Parameters:
    ///   - isCollected: Whether the response is collected before its endpoint makes something of it.
    ///   - prepare: Changes the request of each attempt.
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

    /// Makes a request and creates its call. Notifies the observer if that fails.
    private func call(
        _ make: () throws -> (URLRequest, UploadEndpointBody?),
        _ prepare: @escaping (inout URLRequest) throws -> Void
    ) async throws -> Call {
        var attempt = Attempt()
        do {
            var (request, body) = try make()
            attempt.request = PreparedRequest(request, body)
            request = try await adapter.adapt(request)
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

    /// Throws for a response that the endpoint or the policies take for a failure.
    ///
    /// - Parameter validate: The endpoint's validation, which comes first.
    func check(_ attempt: Attempt, _ validate: () throws -> Void) throws {
        let isRejection = policies.authenticator != nil && attempt.isRejection
        do {
            try validate()
        } catch let error as HTTPError where isRejection && error.reason == .status {
            // The rejection, below, says more.
        }
        if isRejection { throw HTTPError(.unauthorized) }
        if let retry = attempt.policies.retry, let status = attempt.response.head?.statusCode,
            retry.statuses.contains(status)
        {
            throw HTTPError(.status)
        }
    }

    /// Sends a request and collects the response, in an exchange with other calls if the policies say so.
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

    /// Returns the policies of the attempts of a call.
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

    /// Calls the observer with an attempt that has ended, and its error if it failed.
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
    /// The key of the host in tables: names of hosts are the same in any case.
    var host: String? { url?.host?.lowercased() }
}

extension ClientPolicies {
    /// Runs an operation, with a time limit if there is one.
    func limited<Value>(to limit: Duration?, _ operation: () async throws -> Value) async throws -> Value {
        guard let limit else { return try await operation() }
        // `self`: without it, the compiler (Swift 6.3) does not open the existential.
        return try await withTimeout(limit, clock: self.clock) { try await operation() }
    }
}
