internal import TaskControl

/// The parts of a ``ResiliencePolicy``, and values that are computed from them once.
///
/// Immutable, and an object: a policy is passed to each call, and a reference is copied faster than the parts.
@usableFromInline
package final class _PolicyParts: Sendable {
    struct Values: Sendable {
        var callParts: [any PolicyPart] = []
        var breaker: CircuitBreaker?
        var hedging: ResiliencePolicy.Hedging?
        var retry: RetryPolicy?
        var permits: AsyncSemaphore?
        var rate: RateLimiter?
        var attemptParts: [any PolicyPart] = []
        var attemptTimeout: Duration?
    }

    let values: Values
    /// The parts around a call.
    let calls: PartList
    let attempts: AttemptOrder
    let breaker: KeptReference<CircuitBreaker>?
    /// Whether the attempts enter parts, or their time is measured.
    @usableFromInline package let hasAttemptParts: Bool
    /// Whether the time of the attempts is measured: not for a call that has only one attempt, whose time is that of the
    /// call unless it waits.
    let measuresAttempts: Bool
    /// Whether the parts of a call receive the time in which its attempts were under way.
    let tellsTime: Bool
    /// Whether the first attempt can call the operation directly: the policy has no hedging and no time limit, which
    /// need child tasks, and no `maxElapsed`, which needs the time at which the call began.
    @usableFromInline let isDirect: Bool
    /// The budget to which a successful first attempt returns a token; `nil` if no budget pays for retries, or there is
    /// no `retry`.
    let budgetOfSuccess: KeptReference<RetryBudget>?

    init(_ values: Values) {
        self.values = values
        calls = PartList(values.callParts)
        attempts = AttemptOrder(values)
        breaker = values.breaker.map { KeptReference($0) }
        let hasCallParts = !values.callParts.isEmpty
        let countsSlowCalls = values.breaker?.countsSlowCalls == true
        tellsTime = countsSlowCalls || hasCallParts
        let hasParts = values.breaker != nil || hasCallParts || !values.attemptParts.isEmpty
        hasAttemptParts = hasParts || values.permits != nil || values.rate != nil
        measuresAttempts = tellsTime || hasParts && (values.retry != nil || values.hedging != nil)
        isDirect = values.hedging == nil && values.attemptTimeout == nil && values.retry?.maxElapsed == nil
        budgetOfSuccess = values.retry?.budget.map { KeptReference($0) }
    }

    /// The time by the clock of the breaker, which judges by it, or by the `ContinuousClock` if there is no breaker.
    @inline(__always)
    func now(_ time: inout PolicyTime) -> Duration {
        guard let breaker else { return time.now }
        return breaker.with { $0.stopwatch.now(&time.reading) }
    }
}
