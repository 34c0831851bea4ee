internal import TaskControl

/// The parts of a ``ResiliencePolicy``, and values that are computed from them once.
///
/// Immutable, and an object: a policy is passed to each call, and a reference is copied faster than the parts.
@usableFromInline
package final class _PolicyParts: Sendable {
    struct Values: Sendable {
        var concurrentCalls: AsyncSemaphore?
        var callParts: [any PolicyPart] = []
        var breaker: CircuitBreaker?
        var hedging: ResiliencePolicy.Hedging?
        var retry: RetryPolicy?
        var rate: RateLimiter?
        var attemptParts: [any PolicyPart] = []
        var attemptTimeout: Duration?
    }

    let values: Values
    package let limits: LimitOrder
    package let histories: HistoryOrder
    package let attempts: AttemptOrder
    /// Whether there are parts around the attempts.
    @usableFromInline package let hasAttemptParts: Bool
    /// Whether the first attempt can call the operation directly: the policy has no hedging and no time limit, which
    /// need child tasks, and no `maxElapsed`, which needs the time at which the call began.
    @usableFromInline let isDirect: Bool
    /// The budget to which a successful first attempt returns a token; `nil` if no budget pays for retries, or there is
    /// no `retry`.
    let budgetOfSuccess: KeptReference<RetryBudget>?

    init(_ values: Values) {
        self.values = values
        limits = values.limits
        histories = values.histories
        attempts = values.attempts
        hasAttemptParts = values.rate != nil || !values.attemptParts.isEmpty
        isDirect = values.hedging == nil && values.attemptTimeout == nil && values.retry?.maxElapsed == nil
        budgetOfSuccess = values.retry?.budget.map { KeptReference($0) }
    }
}
