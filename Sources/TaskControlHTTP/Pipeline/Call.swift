internal import Foundation
internal import TaskControlResilience

// The way of a request, from the outside in:
//
//     EndpointClient                          the face
//     Call                                    one call: its request, the policies of the client, its retries
//       Attempt                               one attempt, and what has arrived in it
//       ExchangeSharing                       equal GET requests share one exchange
//     Exchange                                one request to the transport, and its response
//     HTTPTransport                           URLSessionTransport, AsyncHTTPClientTransport, MockTransport
//       ExchangeStateMachine                  the order of the callbacks of a transport

/// One call of a client: the request of its endpoint, the passes of the host's policy, and the attempts to send the request.
///
/// The steps of a call are, from the outside in: its time limit, the request of its endpoint, the ``URLRequestAdapter``, the
/// parts of the host's policy around a call, the retries, and the ``EndpointAuthenticator``. The call goes through that policy
/// as `withPolicy` does, in the order of `AttemptOrder`. Each attempt performs an ``Exchange``.
///
/// The frame of an asynchronous function has a place for each of its variables, also for those that are used only between two
/// waits, and the frames of all functions that wait for an exchange exist until its end. So a call is an object, and the work
/// between two waits is done by synchronous functions that are not inlined. `scripts/benchmark frames` shows the sizes.
final class Call {
    /// A function that creates the request of an endpoint, and the body of an upload (`nil` if the call is no upload).
    typealias Make = () throws -> (URLRequest, UploadEndpointBody?)
    /// A function that changes the request of each attempt, before the credential is attached.
    typealias Change = (inout URLRequest) throws -> Void
    /// A function that performs the exchange of an attempt and reads the response. It records in ``attempt`` what has arrived, and
    /// when reading begins.
    typealias Send = (Exchange) async throws -> Void

    let client: EndpointClient
    /// The policies of the client, as the endpoint has changed them.
    let policies: ClientPolicies
    /// The decoder and the encoder of the endpoint, or those of the client.
    let coding: CallCoding
    private let reporter: ProgressReporter?
    /// The body of an upload; `nil` if the call is no upload.
    private(set) var body: UploadEndpointBody?
    /// Whether the whole response is collected before the endpoint decodes it.
    var isCollected = false
    /// Whether code of the caller reads the response as it arrives.
    var isStreamed = false
    /// The place of the call among those of the client, which can cancel it; `nil` before it has begun.
    private(set) var entry: CallEntry?
    /// Whether the call waits in a child task, which the client cancels.
    private var hasTask = false
    /// The policy of the host; `nil` if the call has none, or has not entered it yet.
    private var host: HostTable<ResiliencePolicy>.Loan?
    /// The passes of the call for the parts of that policy.
    private var passes = _PolicyCall()
    /// The record of the call under that policy while it makes attempts; `nil` without a policy.
    private var record: _SharedCall?
    /// The outcome of the call for its host, if it is certain before the end of the call; otherwise `nil`.
    private var outcome: PolicyOutcome?
    /// The rule of the retries; `nil` if the request must not be sent again.
    private var retry: HTTPRetryPolicy?
    /// The number of attempts that have begun, for events. Each time that the request is sent counts, also where it is
    /// sent again with a new credential.
    private var number = 0
    /// The last attempt, or the current one.
    var attempt = Attempt()
    /// The events of that attempt; `nil` if no observer was registered when it began.
    private var events: CallEvents?
    /// Whether the request was sent again with a new credential since the last retry.
    private var hasRenewed = false
    /// Whether the request was sent again for the whole body since the last retry or new credential.
    private var hasRestarted = false

    /// Creates a call.
    ///
    /// - Parameter onProgress: Receives the progress of the upload and the response; `nil` for no reports.
    init(
        _ client: EndpointClient,
        _ policies: ClientPolicies,
        _ coding: CallCoding,
        onProgress: (@Sendable (TransferProgress) -> Void)? = nil
    ) {
        (self.client, self.policies, self.coding) = (client, policies, coding)
        reporter = onProgress.map(ProgressReporter.init)
    }

    /// Creates a call to an endpoint, with the policies, the decoder and the encoder of that endpoint.
    @inline(never)
    convenience init(
        _ client: EndpointClient,
        to endpoint: some ResponseEndpoint,
        onProgress: (@Sendable (TransferProgress) -> Void)?
    ) {
        var (policies, coding) = (client.policies, client.coding)
        endpoint.adjust(&policies)
        let (decoder, encoder) = (endpoint.decoder, endpoint.encoder)
        if decoder != nil || encoder != nil {
            coding = CallCoding(decoder: decoder ?? coding.decoder, encoder: encoder ?? coding.encoder)
        }
        self.init(client, policies, coding, onProgress: onProgress)
    }

    /// Creates the request of an endpoint, and sends it according to the policies.
    ///
    /// - Parameters:
    ///   - make: Creates the request.
    ///   - change: Changes the request of each attempt.
    ///   - send: Performs the exchange of an attempt. Has returned once when this function returns.
    func run(_ make: Make, change: Change = { _ in }, _ send: Send) async throws {
        let entry = try client.calls.enter()
        self.entry = entry
        do {
            if let timeout = policies.timeout {
                hasTask = true
                try await self.policies.clock.limited(to: timeout, cancelledBy: { entry.attach($0) }) {
                    try await self.perform(make, change, send)
                }
            } else {
                try await perform(make, change, send)
            }
        } catch {
            throw end(error)
        }
        leave(nil)
    }

    /// Creates the request, enters the policy of its host, and makes attempts until one succeeds or none may follow.
    @inline(never)
    private func perform(_ make: Make, _ change: Change, _ send: Send) async throws {
        let request = try await makeRequest(make)
        try await enterPolicy(of: request)
        do {
            if retry == nil {
                try await makeAttempts(request, change, send)
            } else {
                try await retrying(request, change, send)
            }
        } catch {
            didFail(error)
            throw error
        }
    }

    // MARK: Cancellation by the client

    /// Whether an exchange of the call needs a child task. It does not if the client can cancel it directly, no code of the
    /// caller reads the response meanwhile, and it waits for no permit.
    var needsTask: Bool { isStreamed || !client.cancelsExchanges || policies.resilience != nil }

    /// Runs an operation in a child task, which the client can cancel, unless the call waits in one already.
    @inline(never)
    func cancellable(_ operation: () async throws -> Void) async throws {
        guard !hasTask, let entry else { return try await operation() }
        hasTask = true
        let result = await withCancellation(by: { entry.attach($0) }, operation: operation)
        hasTask = false
        entry.detach()
        try result.get()
    }

    /// The place of the call, for an exchange that the client cancels directly; `nil` if it cancels a child task instead.
    var entryOfExchange: CallEntry? { hasTask || needsTask ? nil : entry }

    /// Returns why the client has cancelled the call; `nil` if it has not.
    private var cancellation: CancellationCause? {
        entry?.cause { attempt.request.map { Redaction.text(of: $0) } ?? "a call" }
    }

    // MARK: Before the attempts

    /// Creates the request of the endpoint, and lets the ``URLRequestAdapter`` change it. If that fails, notifies the
    /// ``ResponseObserver``.
    @inline(never)
    private func makeRequest(_ make: Make) async throws -> URLRequest {
        do {
            return adapted(try await client.adapter.adapt(try made(make)))
        } catch {
            throw notifyObserver(of: error)
        }
    }

    @inline(never)
    private func made(_ make: Make) throws -> URLRequest {
        let (request, body) = try coding.bind(make)
        (attempt.request, self.body) = (request, body)
        return request
    }

    @inline(never)
    private func adapted(_ request: URLRequest) -> URLRequest {
        var request = request
        if let url = request.url?.withLowercaseScheme { request.url = url }
        if body == nil, let stream = request.httpBodyStream {
            // The request no longer has it: the transport alone reads it.
            nonisolated(unsafe) let stream = stream
            request.httpBodyStream = nil
            body = .stream(stream)
        }
        retry = policies.retry.flatMap { $0.allows(request) ? $0 : nil }
        return request
    }

    /// Enters the policy of the host, if it has one.
    @inline(never)
    private func enterPolicy(of request: URLRequest) async throws {
        guard let resilience = policies.resilience,
            let host = resilience.policy(of: request.host, in: client.hostPolicies)
        else { return }
        self.host = host
        // A variable of its own, since the functions below change it while they wait.
        var passes = _PolicyCall()
        defer { self.passes = passes }
        if !(try host.value._enter(&passes, isMeasured: true)) {
            try await cancellable { try await host.value._waitToEnter(&passes) }
        }
        try host.value._checkAdmits(&passes)
        record = _SharedCall(of: passes)
    }

    // MARK: Attempts

    @inline(never)
    private func retrying(_ request: URLRequest, _ change: Change, _ send: Send) async throws {
        guard let retry else { return }
        let policy = RetryPolicy(
            attempts: retry.attempts,
            backoff: retry.backoff,
            budget: retry.budget.budget(for: request.host, in: client.budgets),
            maxElapsed: retry.maxElapsed,
            waitingFor: retry.waitingFor
        )
        var failure: (any Error)?
        // The time that `maxElapsed` limits begins with the first attempt.
        if retry.maxElapsed == nil {
            do {
                try await makeAttempts(request, change, send)
                policy.budget?._give(1)
                return
            } catch {
                failure = error
            }
        }
        try await cancellable { try await retrying(retry, policy, after: failure, request, change, send) }
    }

    /// Makes the attempts after a failure; all of them, if there is none.
    @inline(never)
    private func retrying(
        _ retry: HTTPRetryPolicy,
        _ policy: RetryPolicy,
        after failure: (any Error)?,
        _ request: URLRequest,
        _ change: Change,
        _ send: Send
    ) async throws {
        var failure = failure
        // Without capture lists: see scripts/workarounds/capture-list.swift.
        try await _retry(
            policy,
            after: failure,
            clock: policies.clock,
            shouldRetry: { entry?.hasEndedAttempts != true && attempt.isRetryable(after: $0, retry, body) },
            hint: { _ in attempt.response.head?.retryAfter() }
        ) { _ in
            // A shutdown has begun during the delay.
            if let failure, entry?.hasEndedAttempts == true { throw failure }
            do {
                try await makeAttempts(request, change, send)
            } catch let error {
                failure = error
                throw error
            }
        }
    }

    /// Makes an attempt, and others at once for the reasons of `isRepeated(_:)`. Notifies the ``ResponseObserver`` of the
    /// outcome of each.
    @inline(never)
    private func makeAttempts(_ request: URLRequest, _ change: Change, _ send: Send) async throws {
        while true {
            begin(request)
            do {
                var changed = try changed(request, change)
                var credential: CredentialSerial?
                if let authenticator = policies.authenticator {
                    credential = try authenticator.attachNow(to: &changed)
                    if credential == nil { credential = try await attach(authenticator, to: &changed) }
                }
                try await send(try exchange(changed, credential))
                endAttempt(request)
                return
            } catch {
                let failure = endAttempt(request, error)
                guard isRepeated(request) else { throw failure }
            }
        }
    }

    /// Waits for a credential, and attaches it.
    @inline(never)
    private func attach(
        _ authenticator: EndpointAuthenticator,
        to request: inout URLRequest
    ) async throws -> CredentialSerial? {
        var credential: CredentialSerial?
        try await cancellable { credential = try await authenticator.attach(to: &request) }
        // Obtaining the credential can have taken the rest of the time.
        try Task.checkDeadline()
        return credential
    }

    @inline(never)
    private func begin(_ request: URLRequest) {
        number += 1
        attempt = Attempt()
        attempt.request = request
        events = client.emitStarted(request, attempt: number)
    }

    @inline(never)
    private func changed(_ request: URLRequest, _ change: Change) throws -> URLRequest {
        var request = request
        try change(&request)
        try Task.checkDeadline()
        attempt.request = request
        return request
    }

    /// Begins the exchange of the attempt, and checks its request.
    ///
    /// - Parameters:
    ///   - request: The request, with its credential.
    ///   - credential: The serial number of the credential; `nil` if there is none.
    @inline(never)
    private func exchange(_ request: URLRequest, _ credential: CredentialSerial?) throws -> Exchange {
        let exchange = Exchange(
            request,
            withoutCredential: attempt.request ?? request,
            credential,
            of: self,
            under: host?.value,
            record
        )
        attempt.exchange = exchange
        // Checked here too, for transports of other modules, which may not check the request.
        try HTTPTransportRequest(request, body: body).check()
        attempt.stage = .exchange
        return exchange
    }

    @inline(never)
    private func endAttempt(_ request: URLRequest) {
        // Recorded before any caller is notified, since callers may then read what this request has written.
        client.sharing.didEnd(request)
        events?.end(.completed, .completed, attempt: number, status: attempt.response.head?.statusCode)
        client.notifyObserver(of: attempt, nil)
    }

    /// Ends the attempt with an error, and returns the error for the caller.
    @inline(never)
    private func endAttempt(_ request: URLRequest, _ error: any Error) -> any Error {
        client.sharing.didEnd(request)
        let failure = attempt.fail(with: error, cancelledFor: cancellation)
        events?.end(.failed, .failed, error: failure, attempt: number, status: attempt.response.head?.statusCode)
        client.notifyObserver(of: attempt, failure)
        return failure
    }

    @inline(never)
    private func notifyObserver(of error: any Error) -> any Error {
        let failure = attempt.fail(with: error, cancelledFor: cancellation)
        client.notifyObserver(of: attempt, failure)
        return failure
    }

    /// Returns whether the request is sent again at once after a failed attempt: for the whole body, if the server could
    /// not continue a download, or with a new credential, if it has rejected that of the attempt.
    @inline(never)
    private func isRepeated(_ request: URLRequest) -> Bool {
        if attempt.restarts, !hasRestarted {
            hasRestarted = true
            return true
        }
        hasRestarted = false
        if let authenticator = policies.authenticator, let rejected = attempt.rejectedCredential, !hasRenewed {
            client.emitRejected(request, attempt: number)
            authenticator.reject(rejected)
            hasRenewed = body?.canBeSentAgain != false
        } else {
            hasRenewed = false
        }
        return hasRenewed
    }

    // MARK: The response

    /// Begins to report the progress of an attempt; `nil` if the call reports none.
    func beginProgress() -> ProgressReporter.Transfer? { reporter?.begin() }

    /// Throws if the endpoint, the authenticator or the retry policy treats the response as a failure.
    ///
    /// - Parameter validate: The validation of the endpoint, which comes first.
    func check(_ validate: () throws -> Void) throws {
        let isRejection = policies.authenticator != nil && attempt.isRejection
        do {
            try coding.bind(validate)
        } catch let error as EndpointError where isRejection && error.reason == .status {
            // The error for the rejection, thrown below, is more specific.
        }
        if isRejection { throw EndpointError(.unauthorized) }
        if let status = attempt.response.head?.statusCode, retry?.statuses.contains(status) == true {
            throw EndpointError(.status)
        }
    }

    /// Reports the outcome that follows from the head of a response, before the body is read. Called when the endpoint has
    /// accepted the head.
    ///
    /// - Parameter isFinal: Whether the end of the call cannot change the outcome: the code that reads the body has received
    ///   the response. `false` for a download, whose body the call receives whole: the time of the service ends here.
    @inline(never)
    func reportHead(isFinal: Bool) {
        guard let host, outcome == nil, var record else { return }
        guard isFinal else { return host.value._endTime(of: &record) }
        let outcome = attempt.outcome(nil)
        host.value._report(&record, outcome)
        self.outcome = outcome
    }

    // MARK: The end

    /// Records the outcome for the host of attempts that have failed. Not at the end of the call, where the task of its time
    /// limit has ended.
    @inline(never)
    private func didFail(_ error: any Error) {
        guard Task.isCancelled, let host, outcome == nil, var record else { return }
        outcome = host.value._outcome(of: error, &record) { attempt.outcome($0) }
    }

    /// Ends a call that has failed.
    ///
    /// - Returns: The error for the caller: `CancellationError` if it is cancelled, and otherwise the cause if the client
    ///   has cancelled the call.
    @inline(never)
    private func end(_ error: any Error) -> any Error {
        var error = error
        if let cause = cancellation { error = cause }
        if error is CancellationCause, Task.isCancelled { error = CancellationError() }
        leave(error)
        return error
    }

    /// Leaves the policy of the host and the calls of the client, at the end of the call.
    ///
    /// - Parameter error: The error that the caller of the client receives; `nil` if the call has succeeded.
    @inline(never)
    private func leave(_ error: (any Error)?) {
        defer { entry?.leave() }
        guard let host else { return }
        let isUnknown = error != nil && Task.isCancelled
        record?.move(to: &passes)
        host.value._leave(&passes, outcome ?? (isUnknown ? .unknown : attempt.outcome(error)))
        host.giveBack()
    }
}

extension Task where Success == Never, Failure == Never {
    /// Throws `DeadlineExceededError` if the deadline of the task has passed.
    static func checkDeadline() throws {
        if let remaining = Task.currentDeadline?.remaining, remaining <= .zero { throw DeadlineExceededError() }
    }
}

extension Clock<Duration> {
    /// Runs an operation, with a time limit if `limit` is not `nil`.
    ///
    /// - Throws: `TimeoutError` at the limit; the error of the operation.
    func limited(to limit: Duration?, _ operation: () async throws -> Void) async throws {
        guard let limit else { return try await operation() }
        try await withTimeout(limit, clock: self) { try await operation() }
    }

    /// Runs an operation with a time limit, in a child task that other code can also cancel.
    ///
    /// - Parameters:
    ///   - limit: The time limit.
    ///   - register: Receives a closure that cancels the operation with a cause.
    /// - Throws: `TimeoutError` at the limit; the cause; the error of the operation.
    func limited(
        to limit: Duration,
        cancelledBy register: @escaping @Sendable (@escaping @Sendable (CancellationCause) -> Void) -> Void,
        _ operation: () async throws -> Void
    ) async throws {
        try await withTimeout(limit, clock: self, cancelledBy: register) { try await operation() }
    }
}

extension URLRequest {
    /// The host of the request in lower case, as the key of tables, since host names are not case-sensitive; `nil` if
    /// there is none.
    var host: String? { url?.host?.lowercased() }
}
