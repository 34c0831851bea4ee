internal import Foundation
internal import TaskControlResilience

/// One call of a client: the request of its endpoint, and the attempts to send this request.
///
/// The call goes through the policy of its host as `withPolicy` does, in the order of `PolicyOrder`. Between the parts
/// around the call and those around an attempt are the steps of HTTP, from the outside in: the retries, the
/// ``EndpointAuthenticator``, and the sharing of exchanges. The ``Exchange`` has the hedging, the parts around an attempt
/// and, innermost, the time limit of an attempt.
struct Call {
    /// A function that sends a request and reads the response. It records in the attempt of the call what has arrived,
    /// and when reading begins.
    typealias Send<Value> = (PreparedRequest, inout Call) async throws -> Value

    private let pipeline: RequestPipeline
    /// The policy of the host; `nil` if the call has none, or has not entered it yet.
    private var host: HostTable<ResiliencePolicy>.Loan?
    /// The passes of the call for the parts of that policy.
    private var passes = _PolicyCall()
    /// The outcome of the call for its host, if it is certain before the end of the call; otherwise `nil`.
    private var outcome: PolicyOutcome?
    /// The rule of the retries; `nil` if the request must not be sent again.
    private var retry: HTTPRetryPolicy?
    /// The way in which an attempt sends its request.
    private(set) var exchange: Exchange
    /// The number of attempts that have begun, for events. Each time that the request is sent counts, also where it is
    /// sent again with a new credential.
    private var number = 0
    /// The last attempt, or the current one.
    var attempt = Attempt()
    /// Whether the request was sent again with a new credential since the last retry.
    private var hasRenewed = false
    /// Whether the request was sent again for the whole body since the last retry or new credential.
    private var hasRestarted = false

    init(_ pipeline: RequestPipeline) {
        self.pipeline = pipeline
        exchange = Exchange(pipeline)
    }

    private var policies: ClientPolicies { pipeline.policies }

    /// Enters the policy of the host, and makes attempts until one succeeds or none may follow.
    ///
    /// - Parameters:
    ///   - request: The request, without the credential.
    ///   - body: The body of an upload; `nil` if the call is no upload.
    ///   - isCollected: Whether the whole response is collected before the endpoint decodes it.
    ///   - change: Changes the request of each attempt, before the credential is attached.
    ///   - send: Sends the request of an attempt, and reads the response.
    mutating func run<Value>(
        _ request: URLRequest,
        _ body: UploadEndpointBody?,
        isCollected: Bool,
        _ change: (inout URLRequest) throws -> Void,
        _ send: Send<Value>
    ) async throws -> Value {
        host = policies.resilience?.policy(of: request.host, in: pipeline.hostPolicies)
        if let host {
            if !(try host.value._enter(&passes, isMeasured: true)) { try await host.value._waitToEnter(&passes) }
            try host.value._checkAdmits(&passes)
        }
        exchange.apply(host?.value, passes, to: request, isTransfer: !isCollected || body != nil)
        do {
            return try await attempts(request, body, change, send)
        } catch {
            // Here and not at the end of the call, where the task of its time limit has ended.
            if Task.isCancelled, let host, outcome == nil, var call = exchange.call {
                outcome = host.value._outcome(of: error, &call) { attempt.outcome($0) }
            }
            throw error
        }
    }

    /// Makes attempts until one succeeds or none may follow.
    private mutating func attempts<Value>(
        _ request: URLRequest,
        _ body: UploadEndpointBody?,
        _ change: (inout URLRequest) throws -> Void,
        _ send: Send<Value>
    ) async throws -> Value {
        retry = policies.retry.flatMap { $0.allows(request) ? $0 : nil }
        guard let retry else { return try await repeated(request, body, change, send) }
        let budget = retry.budget.budget(for: request.host, in: pipeline.budgets)
        // Without capture lists: a closure that has one loses its caller's isolation (Swift 6.3).
        return try await _retry(
            RetryPolicy(
                attempts: retry.attempts,
                backoff: retry.backoff,
                budget: budget,
                maxElapsed: retry.maxElapsed
            ),
            after: nil,
            clock: policies.clock,
            shouldRetry: { attempt.isRetryable(after: $0, retry) },
            hint: { _ in attempt.response.head?.retryAfter() }
        ) { _ in
            try await repeated(request, body, change, send)
        }
    }

    /// Leaves the policy of the host, at the end of the call.
    ///
    /// - Parameter error: The error that the caller of the client receives; `nil` if the call has succeeded.
    mutating func end(_ error: (any Error)?) {
        guard let host else { return }
        let isUnknown = error != nil && Task.isCancelled
        exchange.call?.move(to: &passes)
        host.value._leave(&passes, outcome ?? (isUnknown ? .unknown : attempt.outcome(error)))
        host.giveBack()
    }

    /// Reports the outcome that follows from the head of a response, before the body is read. Called when the endpoint has
    /// accepted the head.
    ///
    /// - Parameter isFinal: Whether the end of the call cannot change the outcome: the code that reads the body has received
    ///   the response. `false` for a download, whose body the call receives whole: the time of the service ends here.
    mutating func reportHead(isFinal: Bool) {
        guard let host, outcome == nil, var call = exchange.call else { return }
        guard isFinal else { return host.value._endTime(of: &call) }
        let outcome = attempt.outcome(nil)
        host.value._report(&call, outcome)
        self.outcome = outcome
    }

    /// Throws if the endpoint, the authenticator or the retry policy treats the response as a failure.
    ///
    /// - Parameter validate: The validation of the endpoint, which comes first.
    func check(_ validate: () throws -> Void) throws {
        let isRejection = policies.authenticator != nil && attempt.isRejection
        do {
            try validate()
        } catch let error as EndpointError where isRejection && error.reason == .status {
            // The error for the rejection, thrown below, is more specific.
        }
        if isRejection { throw EndpointError(.unauthorized) }
        if let status = attempt.response.head?.statusCode, retry?.statuses.contains(status) == true {
            throw EndpointError(.status)
        }
    }

    // MARK: Attempts

    /// Makes an attempt, and others at once for the reasons of `isRepeated(_:_:)`.
    private mutating func repeated<Value>(
        _ request: URLRequest,
        _ body: UploadEndpointBody?,
        _ change: (inout URLRequest) throws -> Void,
        _ send: Send<Value>
    ) async throws -> Value {
        while true {
            do {
                return try await makeAttempt(request, body, change, send)
            } catch {
                guard isRepeated(request, body) else { throw error }
            }
        }
    }

    /// Returns whether the request is sent again at once after a failed attempt: for the whole body, if the server could
    /// not continue a download, or with a new credential, if it has rejected that of the attempt.
    private mutating func isRepeated(_ request: URLRequest, _ body: UploadEndpointBody?) -> Bool {
        if attempt.restarts, !hasRestarted {
            hasRestarted = true
            return true
        }
        hasRestarted = false
        if let authenticator = policies.authenticator, let rejected = attempt.rejectedCredential, !hasRenewed {
            pipeline.emitRejected(request, attempt: number)
            authenticator.reject(rejected)
            hasRenewed = body?.canBeSentAgain != false
        } else {
            hasRenewed = false
        }
        return hasRenewed
    }

    /// Makes one attempt, and notifies the ``ResponseObserver`` of its outcome.
    private mutating func makeAttempt<Value>(
        _ request: URLRequest,
        _ body: UploadEndpointBody?,
        _ change: (inout URLRequest) throws -> Void,
        _ send: Send<Value>
    ) async throws -> Value {
        number += 1
        attempt = Attempt()
        attempt.request = PreparedRequest(request, body, pipeline.coding.decoder)
        let events = pipeline.emitStarted(request, attempt: number)
        do {
            let value = try await send(try await prepare(request, body, change), &self)
            // Recorded before any caller is notified, since callers may then read what this request has written.
            pipeline.sharing.didEnd(request)
            events?.end(.completed, .completed, attempt: number, status: attempt.response.head?.statusCode)
            pipeline.notifyObserver(of: attempt, nil)
            return value
        } catch {
            pipeline.sharing.didEnd(request)
            let failure = attempt.fail(with: error)
            events?.end(.failed, .failed, error: failure, attempt: number, status: attempt.response.head?.statusCode)
            pipeline.notifyObserver(of: attempt, failure)
            throw failure
        }
    }

    /// Attaches the credential to the request of the attempt, and checks the request.
    private mutating func prepare(
        _ request: URLRequest,
        _ body: UploadEndpointBody?,
        _ change: (inout URLRequest) throws -> Void
    ) async throws -> PreparedRequest {
        var request = request
        try change(&request)
        try Task.checkDeadline()
        var prepared = PreparedRequest(request, body, pipeline.coding.decoder)
        prepared.allowsInsecureRedirects = policies.allowsInsecureRedirects
        // The callers of a shared request have different deadlines.
        let isShared = policies.coalescesGETRequests && request.httpMethod == "GET"
        prepared.deadlineHeader = isShared ? nil : policies.deadlineHeader
        attempt.request = prepared
        if let authenticator = policies.authenticator {
            prepared.credential = try await authenticator.attach(to: &prepared.request)
            attempt.request = prepared
            // Obtaining the credential can have taken the rest of the time.
            try Task.checkDeadline()
        }
        // Checked here too, for transports of other modules, which may not check the request.
        try HTTPTransportRequest(prepared.request, body: body).check()
        attempt.stage = .exchange
        return prepared
    }

}

extension Task where Success == Never, Failure == Never {
    /// Throws `DeadlineExceededError` if the deadline of the task has passed.
    static func checkDeadline() throws {
        if let remaining = Task.currentDeadline?.remaining, remaining <= .zero { throw DeadlineExceededError() }
    }
}
