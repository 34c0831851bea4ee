internal import TaskControl

/// The parts of a ``ResiliencePolicy``, and values that are computed from them once.
///
/// Immutable, and an object: a policy is passed to each call, and a reference is copied faster than the parts.
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
    /// Whether the first attempt can call the operation directly: the policy has no hedging and no time limit, which
    /// need child tasks, and no `maxElapsed`, which needs the time at which the call began.
    @usableFromInline let isDirect: Bool
    /// The budget that pays for retries: that of the throttle if there is one, otherwise that of `retry`; `nil` if the
    /// number of retries is not limited by a budget.
    let retryBudget: RetryBudget?
    /// The budget to which a successful first attempt returns a token; `nil` if no budget pays for retries, or there is
    /// no `retry`.
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
