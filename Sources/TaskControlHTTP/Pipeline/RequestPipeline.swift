/// What a client does with a request, from the outside in: all of its time, its attempts, the time of one, who asks, the exchange.
final class RequestPipeline: Sendable {
    let transport: any HTTPTransport
    let policies: ClientPolicies
    private let adapter: any RequestAdapter
    private let observer: ResponseObserver?
    private let budgets = HostBudgets()
    private let sharing = ExchangeSharing()
    /// What events know it by.
    private let identity = TaskEvent.Identity(Diagnostics.nextNumber())

    init(
        adapter: any RequestAdapter,
        transport: any HTTPTransport,
        policies: ClientPolicies,
        observer: ResponseObserver?
    ) {
        self.adapter = adapter
        self.transport = transport
        self.policies = policies
        self.observer = observer
    }

    /// Makes a request, and sends it until the policies have had enough.
    func run<Value>(
        make: () throws -> (URLRequest, UploadEndpointBody?),
        exchange: (Outgoing, inout Arrival) async throws -> Value
    ) async throws -> Value {
        guard let limit = policies.timeLimit else { return try await prepareAndSend(make: make, exchange: exchange) }
        return try await withTimeout(limit, clock: policies.clock) {
            try await prepareAndSend(make: make, exchange: exchange)
        }
    }

    private func prepareAndSend<Value>(
        make: () throws -> (URLRequest, UploadEndpointBody?),
        exchange: (Outgoing, inout Arrival) async throws -> Value
    ) async throws -> Value {
        try Task.checkCancellation()
        let (request, body) = try await prepare(make)
        do {
            var sent = 0
            guard let retry = policies.retry, retry.allows(request) else {
                return try await authenticated(request, body, &sent, exchange)
            }
            let budget = request.url?.host.flatMap { host in
                retry.budgetPerHost.map { budgets.budget(of: host, make: $0) }
            }
            // Without a capture list: a closure that has one loses its caller's isolation (Swift 6.3).
            return try await retry.run(budget: budget, clock: policies.clock) {
                try await authenticated(request, body, &sent, exchange)
            }
        } catch let failed as FailedAttempt {
            throw failed.error
        }
    }

    /// Makes a request; tells the observer if nothing comes of it.
    private func prepare(_ make: () throws -> (URLRequest, UploadEndpointBody?)) async throws -> (
        URLRequest, UploadEndpointBody?
    ) {
        var request: URLRequest?
        do {
            var (made, body) = try make()
            request = made
            made = try await adapter.adapt(made)
            if body == nil, let stream = made.httpBodyStream {
                // Sent here: the request that it came with does not keep it.
                nonisolated(unsafe) let stream = stream
                made.httpBodyStream = nil
                body = .stream(stream)
            }
            return (made, body)
        } catch {
            let error = settled(error, request: request, Arrival())
            observer?(request, nil, nil, error)
            throw error
        }
    }

    /// One attempt, or two, if the server rejects the credential of the first.
    private func authenticated<Value>(
        _ request: URLRequest,
        _ body: UploadEndpointBody?,
        _ sent: inout Int,
        _ exchange: (Outgoing, inout Arrival) async throws -> Value
    ) async throws -> Value {
        guard let authenticator = policies.authenticator else {
            return try await attempt(request, body, nil, &sent, exchange)
        }
        do {
            return try await attempt(request, body, authenticator, &sent, exchange)
        } catch let first as FailedAttempt {
            guard let rejected = first.rejected else { throw first }
            if Diagnostics.isOn { tellRejected(request, sent) }
            authenticator.reject(rejected)
            // What can't be sent again has had its answer.
            guard body?.canBeSentAgain != false else { throw first }
            return try await attempt(request, body, authenticator, &sent, exchange)
        }
    }

    /// Sends a request once, and tells the observer what came of it.
    private func attempt<Value>(
        _ request: URLRequest,
        _ body: UploadEndpointBody?,
        _ authenticator: Authenticator?,
        _ sent: inout Int,
        _ exchange: (Outgoing, inout Arrival) async throws -> Value
    ) async throws -> Value {
        var arrival = Arrival()
        var serial: CredentialSerial?
        sent += 1
        let told = Diagnostics.isOn ? tellStarted(request, sent) : nil
        do {
            let value: Value
            if let limit = policies.attemptTimeLimit {
                value = try await withTimeout(limit, clock: policies.clock) {
                    try await send(request, body, authenticator, &serial, &arrival, exchange)
                }
            } else {
                value = try await send(request, body, authenticator, &serial, &arrival, exchange)
            }
            // Before anybody hears of it, and asks for what it has written.
            sharing.ended(request)
            told?.end(.completed, attempt: sent, status: arrival.response?.statusCode)
            observer?(request, arrival.response, arrival.data, nil)
            return value
        } catch {
            sharing.ended(request)
            // An exchange that takes too long is not to be joined again, by the next attempt of this call or of another.
            if error is TimeoutError, let key = arrival.shared { sharing.forget(key) }
            let failed = FailedAttempt(
                error: settled(error, request: request, arrival),
                rejected: arrival.isRejection && !Task.isCancelled ? serial : nil,
                mayPass: body?.canBeSentAgain != false && arrival.mayPass(after: error, policies.retry),
                retryAfter: arrival.response?.retryAfter()
            )
            told?.end(.failed, error: failed.error, attempt: sent, status: arrival.response?.statusCode)
            observer?(request, arrival.response, arrival.data, failed.error)
            throw failed
        }
    }

    private func tellStarted(_ request: URLRequest, _ attempt: Int) -> CallEvents {
        CallEvents(.http, .started, owner: identity, detail: Redaction.text(of: request), attempt: attempt)
    }

    private func tellRejected(_ request: URLRequest, _ attempt: Int) {
        let detail = Redaction.text(of: request)
        Diagnostics.tell(TaskEvent(.http, .rejected, owner: identity, detail: detail, attempt: attempt), isInside: true)
    }

    private func send<Value>(
        _ request: URLRequest,
        _ body: UploadEndpointBody?,
        _ authenticator: Authenticator?,
        _ serial: inout CredentialSerial?,
        _ arrival: inout Arrival,
        _ exchange: (Outgoing, inout Arrival) async throws -> Value
    ) async throws -> Value {
        var outgoing = Outgoing(request: request, shown: request, body: body)
        if let authenticator {
            serial = try await authenticator.attach(to: &outgoing.request)
            outgoing.credential = serial
            arrival.credentials = outgoing.credentials
        }
        // Here also for transports of others, which need not know what is valid.
        try HTTPTransportRequest(outgoing.request, body: body).check()
        arrival.url = outgoing.request.url
        arrival.stage = .exchange
        return try await exchange(outgoing, &arrival)
    }

    /// Throws for a response that the endpoint or the policies take for a failure.
    ///
    /// - Parameter validate: The endpoint's say, which comes first.
    func check(_ arrival: Arrival, to request: URLRequest, _ validate: () throws -> Void) throws {
        let isRejection = policies.authenticator != nil && arrival.isRejection
        do {
            try validate()
        } catch let error as HTTPError where isRejection && error.reason == .status {
            // It only says what is known.
        }
        if isRejection { throw HTTPError(.unauthorized) }
        if let retry = policies.retry, retry.allows(request), let status = arrival.response?.statusCode,
            retry.statuses.contains(status)
        {
            throw HTTPError(.status)
        }
    }

    /// Sends a request and gathers what comes, together with others who ask for the same if the policies say so.
    func gather(_ outgoing: Outgoing, _ arrival: inout Arrival, _ progress: ProgressReporter.Attempt?) async throws {
        if policies.coalescesGets, let key = sharing.key(of: outgoing, over: transport) {
            arrival.shared = key
            return try await sharing.gather(
                outgoing,
                key,
                over: transport,
                &arrival,
                limit: policies.bodyLimit,
                progress
            )
        }
        try await transport.gather(outgoing, &arrival, limit: policies.bodyLimit, progress)
    }

    /// What the caller is to see of an error (law 10), with what is known of the request.
    private func settled(_ error: any Error, request: URLRequest?, _ arrival: Arrival) -> any Error {
        if Task.isCancelled { return CancellationError() }
        if let error = error as? HTTPError {
            return error.completed(
                request: request,
                response: arrival.response,
                data: arrival.data,
                credentials: arrival.credentials
            )
        }
        guard arrival.stage == .exchange, !(error is TimeoutError) else { return error }
        return HTTPError(.transport, underlyingError: error)
            .completed(
                request: request,
                response: arrival.response,
                data: arrival.data,
                credentials: arrival.credentials
            )
    }
}

extension HTTPRetryPolicy {
    /// `retry`, as the policy says.
    fileprivate func run<Value>(
        budget: RetryBudget?,
        clock: any Clock<Duration>,
        operation: () async throws -> Value
    ) async throws -> Value {
        try await retry(
            attempts: attempts,
            // The user's closure is to see the user's error.
            backoff: backoff.seeing { ($0 as? FailedAttempt)?.error ?? $0 },
            budget: budget,
            maxElapsed: maxElapsed,
            clock: clock,
            operation: operation
        ) { error in
            (error as? FailedAttempt)?.mayPass == true
        }
    }
}
