internal import TaskControl

/// The parts of a policy, and what follows from them.
///
/// Immutable, and behind one reference: a policy is passed to each call, and a copy of its parts takes longer than a call.
@usableFromInline
final class _PolicyParts: Sendable {
    struct Values: Sendable {
        var concurrency: AsyncSemaphore?
        var rate: RateLimiter?
        var adaptiveLimit: AdaptiveLimiter?
        var throttle: ClientThrottle?
        var breaker: CircuitBreaker?
        var hedging: ResiliencePolicy.Hedging?
        var retry: RetryPolicy?
        var attemptTimeout: Duration?
    }

    let values: Values
    let concurrency: KeptReference<AsyncSemaphore>?
    let rate: KeptReference<RateLimiter>?
    let adaptiveLimit: KeptReference<AdaptiveLimiter>?
    let throttle: KeptReference<ClientThrottle>?
    let breaker: KeptReference<CircuitBreaker>?
    /// Whether nothing is around the first attempt: no child task, and no beginning to measure from.
    @usableFromInline let isDirect: Bool
    /// Pays for retries: the account of the throttle, if there is one.
    let retryBudget: RetryBudget?
    /// Receives the success of a first attempt.
    let budgetOfSuccess: KeptReference<RetryBudget>?

    init(_ values: Values) {
        self.values = values
        concurrency = values.concurrency.map { KeptReference($0) }
        rate = values.rate.map { KeptReference($0) }
        adaptiveLimit = values.adaptiveLimit.map { KeptReference($0) }
        throttle = values.throttle.map { KeptReference($0) }
        breaker = values.breaker.map { KeptReference($0) }
        isDirect = values.hedging == nil && values.attemptTimeout == nil && values.retry?.maxElapsed == nil
        let retryBudget = values.throttle?.budget ?? values.retry?.budget
        self.retryBudget = retryBudget
        budgetOfSuccess = values.retry == nil ? nil : retryBudget.map { KeptReference($0) }
    }
}
