internal import Foundation
internal import TaskControlResilience

/// The policies of the attempts of one call: those of the client and the endpoint, combined with those of the host.
struct CallPolicies: Sendable {
    /// The rule for when the request is sent again; `nil`: it is never sent again.
    private(set) var retry: HTTPRetryPolicy?
    /// The budget that limits the retries; `nil` for no limit.
    private(set) var budget: RetryBudget?
    private(set) var attemptTimeLimit: Duration?
    /// The rule for when the request is sent again because the response takes long; `nil` for no hedging.
    private(set) var hedging: ExchangeHedging?
    /// The object that reports the outcome of the call to the policy of its host; `nil` if the host has none.
    let verdict: CallVerdict?
    private var shouldRetry: (@Sendable (any Error) -> Bool)?

    /// Creates policies without retries, a time limit or hedging, for a call whose policies are not known yet.
    init() { verdict = nil }

    /// Combines the policies of a client and of a host for one call.
    ///
    /// - Parameters:
    ///   - policies: The policies of the client and the endpoint.
    ///   - resilience: The policy of the host; `nil` if there is none.
    ///   - verdict: The object that reports the outcome to the policy of the host; `nil` if there is none.
    ///   - request: The request of the call.
    ///   - isTransfer: Whether the duration of the call depends on the length of a body: `true` for an upload, and for
    ///     a response that is streamed or written to a file.
    ///   - budget: Returns the retry budget of the host; `nil` if the retries are not limited.
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

    /// Returns whether the policy of the host allows another attempt after an error. `true` if the host has no policy,
    /// or if the client has a retry policy of its own.
    func isWorthRetrying(_ error: any Error) -> Bool { shouldRetry?(error) ?? true }
}
