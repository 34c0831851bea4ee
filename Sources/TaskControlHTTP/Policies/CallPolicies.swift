internal import TaskControlResilience

/// The policies of the attempts of one call: those of the client and the endpoint, combined with those of the host.
struct CallPolicies: Sendable {
    /// When the request is sent again; `nil`: it is not.
    private(set) var retry: HTTPRetryPolicy?
    /// Pays for retries; `nil`: they are not limited.
    private(set) var budget: RetryBudget?
    private(set) var attemptTimeLimit: Duration?
    /// When another exchange begins; `nil`: none does.
    private(set) var hedging: ExchangeHedging?
    /// Receives the outcome of the call; `nil`: the host has no policy.
    let verdict: CallVerdict?
    private var shouldRetry: (@Sendable (any Error) -> Bool)?

    /// Creates the policies of a call that sends nothing.
    init() { verdict = nil }

    /// Creates the policies of a call.
    ///
    /// - Parameters:
    ///   - isTransfer: Whether the duration of the call depends on the length of a body.
    ///   - budget: Returns the budget of the host for a policy.
    init(
        _ policies: ClientPolicies,
        _ resilience: ResiliencePolicy?,
        _ verdict: CallVerdict?,
        of request: URLRequest,
        isTransfer: Bool,
        budget: (HTTPRetryBudget) -> RetryBudget?
    ) {
        self.verdict = verdict
        let repeats = policies.retry ?? resilience?.retry.map(HTTPRetryPolicy.init)
        retry = repeats?.allows(request) == true ? repeats : nil
        if policies.retry == nil { shouldRetry = resilience?.retry?.shouldRetry }
        self.budget = resilience?.throttle?.budget ?? retry.flatMap { budget($0.budget) }
        attemptTimeLimit = policies.attemptTimeLimit ?? (isTransfer ? nil : resilience?.attemptTimeout)
        guard !isTransfer, var hedging = resilience?.hedging, HTTPRetryPolicy.isIdempotent(request) else { return }
        if let throttle = resilience?.throttle { hedging.budget = throttle.budget }
        self.hedging = ExchangeHedging(hedging, policies.clock)
    }

    /// Returns whether a policy of the host lets an attempt follow after an error.
    func isWorthRetrying(_ error: any Error) -> Bool { shouldRetry?(error) ?? true }
}
