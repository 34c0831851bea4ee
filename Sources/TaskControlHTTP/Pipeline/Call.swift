internal import TaskControlResilience

/// One call of a client: the request of its endpoint, and the attempts to send this request.
///
/// ``RequestPipeline`` limits the time of the call and lets the ``URLRequestAdapter`` complete the request. Then the call
/// applies the other ``ClientPolicies``, from the outside in: the resilience policy of the host, the retries, the
/// ``EndpointAuthenticator``, the time limit of an attempt. The innermost step is the ``Exchange``.
struct Call {
    /// A function that sends a request and reads the response. It records in the attempt what has arrived, and when
    /// reading begins.
    typealias Exchange<Value> = (PreparedRequest, inout Attempt) async throws -> Value

    private let pipeline: RequestPipeline
    private let request: URLRequest
    private let body: UploadEndpointBody?
    /// The closure that changes the request of each attempt, before the credential is attached.
    private let prepare: (inout URLRequest) throws -> Void
    /// The policies of the attempts, set when the resilience policy of the host is known.
    private var callPolicies = CallPolicies()
    /// The number of attempts that have begun, for events. Each time that the request is sent counts, also where it is
    /// sent again with a new credential.
    private var attempts = 0
    /// The last attempt, or the current one.
    private var attempt = Attempt()

    /// Creates a call that has sent nothing.
    ///
    /// - Parameters:
    ///   - request: The request, without the credential.
    ///   - body: The body of an upload; `nil` if the call is no upload.
    ///   - pipeline: The parts of the client that the call uses.
    ///   - prepare: Changes the request of each attempt, before the credential is attached.
    init(
        _ request: URLRequest,
        _ body: UploadEndpointBody?,
        _ pipeline: RequestPipeline,
        prepare: @escaping (inout URLRequest) throws -> Void
    ) {
        self.pipeline = pipeline
        self.request = request
        self.body = body
        self.prepare = prepare
    }

    private var policies: ClientPolicies { pipeline.policies }

    /// Sends the request after the resilience policy of its host has admitted the call.
    ///
    /// - Parameters:
    ///   - exchange: Sends the request of an attempt, and reads the response.
    ///   - verdict: Reports the outcome of the call to the policy of its host; `nil` if there is no such policy. If the
    ///     task is cancelled while an attempt runs, no outcome is reported here, and the caller must call
    ///     ``CallVerdict/end(_:)``.
    ///   - isCollected: Whether the whole response is collected before the endpoint decodes it.
    mutating func run<Value>(
        _ exchange: Exchange<Value>,
        _ verdict: CallVerdict?,
        isCollected: Bool
    ) async throws -> Value {
        let isTransfer = !isCollected || body != nil
        guard let resilience = policies.resilience, let verdict else {
            callPolicies = pipeline.policies(of: request, nil, nil, isTransfer: isTransfer)
            return try await repeated(exchange)
        }
        return try await resilience.withPolicy(for: request.host, in: pipeline.hostPolicies) { policy in
            callPolicies = pipeline.policies(of: request, policy, verdict, isTransfer: isTransfer)
            return try await policy._admitted { admission in
                verdict.begin(admission)
                do {
                    let value = try await repeated(exchange)
                    verdict.report(attempt, nil)
                    return value
                } catch {
                    if !Task.isCancelled || attempt.stage == .preparation { verdict.report(attempt, error) }
                    throw error
                }
            }
        }
    }

    /// Makes attempts until one succeeds, or until the retry policy allows no other attempt.
    private mutating func repeated<Value>(_ exchange: Exchange<Value>) async throws -> Value {
        guard let policy = callPolicies.retry else { return try await authenticated(exchange) }
        // Without capture lists: a closure that has one loses its caller's isolation (Swift 6.3).
        return try await retry(
            attempts: max(1, policy.attempts),
            backoff: policy.backoff,
            budget: callPolicies.budget,
            maxElapsed: policy.maxElapsed,
            clock: policies.clock,
            hint: { _ in attempt.response.head?.retryAfter() },
            operation: { try await authenticated(exchange) },
            shouldRetry: { attempt.isRetryable(after: $0, policy) }
        )
    }

    /// Makes an attempt, and a second one with a new credential if the server rejects the credential of the first.
    private mutating func authenticated<Value>(_ exchange: Exchange<Value>) async throws -> Value {
        do {
            return try await sendOrRestart(exchange)
        } catch {
            guard let authenticator = policies.authenticator, let rejected = attempt.rejectedCredential else {
                throw error
            }
            pipeline.emitRejected(request, attempt: attempts)
            authenticator.reject(rejected)
            guard body?.canBeSentAgain != false else { throw error }
        }
        return try await sendOrRestart(exchange)
    }

    /// Makes an attempt. If the attempt is that of a download, and the server cannot continue the part that was
    /// received earlier, makes a second attempt for the whole body.
    private mutating func sendOrRestart<Value>(_ exchange: Exchange<Value>) async throws -> Value {
        do {
            return try await sendOnce(exchange)
        } catch {
            guard attempt.restarts else { throw error }
        }
        return try await sendOnce(exchange)
    }

    /// Makes one attempt, and notifies the ``ResponseObserver`` of its outcome.
    private mutating func sendOnce<Value>(_ exchange: Exchange<Value>) async throws -> Value {
        attempts += 1
        attempt = Attempt(callPolicies)
        attempt.request = PreparedRequest(request, body)
        let events = pipeline.emitStarted(request, attempt: attempts)
        do {
            let value = try await policies.limited(to: callPolicies.attemptTimeLimit) { try await send(exchange) }
            // Recorded before any caller is notified, since callers may then read what this request has written.
            pipeline.sharing.didEnd(request)
            events?.end(.completed, .completed, attempt: attempts, status: attempt.response.head?.statusCode)
            pipeline.notifyObserver(of: attempt, nil)
            return value
        } catch {
            pipeline.sharing.didEnd(request)
            // Later attempts, of this call or of another, must not join an exchange that takes too long.
            if error is TimeoutError, let key = attempt.sharingKey { pipeline.sharing.didTimeOut(key) }
            let failure = attempt.fail(with: error)
            events?.end(.failed, .failed, error: failure, attempt: attempts, status: attempt.response.head?.statusCode)
            pipeline.notifyObserver(of: attempt, failure)
            throw failure
        }
    }

    /// Throws `DeadlineExceededError` if the deadline of the task has passed.
    private func checkDeadline() throws {
        if let remaining = Task.currentDeadline?.remaining, remaining <= .zero { throw DeadlineExceededError() }
    }

    /// Returns the header in which a request sends the time until the deadline; `nil` if the policies have no such
    /// header, or if the request is shared: its callers have different deadlines.
    private func deadlineHeader(of request: URLRequest) -> DeadlineHeader? {
        policies.coalescesGETRequests && request.httpMethod == "GET" ? nil : policies.deadlineHeader
    }

    /// Attaches the credential to the request, checks the request, and sends it.
    private mutating func send<Value>(_ exchange: Exchange<Value>) async throws -> Value {
        var request = request
        try prepare(&request)
        try checkDeadline()
        var prepared = PreparedRequest(request, body)
        prepared.allowsInsecureRedirects = policies.allowsInsecureRedirects
        prepared.deadlineHeader = deadlineHeader(of: request)
        attempt.request = prepared
        if let authenticator = policies.authenticator {
            prepared.credential = try await authenticator.attach(to: &prepared.request)
            attempt.request = prepared
            // Obtaining the credential can have taken the rest of the time.
            try checkDeadline()
        }
        // Checked here too, for transports of other modules, which may not check the request.
        try HTTPTransportRequest(prepared.request, body: body).check()
        attempt.stage = .exchange
        return try await exchange(prepared, &attempt)
    }
}
