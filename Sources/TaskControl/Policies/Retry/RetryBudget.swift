/// What the retries of many calls may cost together, so that an outage is not made worse by everybody who tries again.
///
/// ```swift
/// let budget = RetryBudget()             // one for each server
///
/// func fetch(_ page: Int) async throws -> Page {
///     try await retry(attempts: 3, backoff: .exponential(base: .milliseconds(50)), budget: budget) {
///         try await server.fetch(page)
///     }
/// }
/// ```
///
/// A bucket of tokens, full at first. A retry takes some out; success gives some back. Where most calls succeed the bucket stays full
/// and nobody notices it. Where most fail it is soon empty: then a call that fails throws its error at once, and what is left is the load of
/// the first attempts, until they succeed again.
///
/// The rules and numbers are those of the AWS SDKs (retry behavior 2.1): a bucket of 500; a retry costs 14, one that was throttled (whose
/// error gives a hint: ``RetryAfterProviding``) 5; when a call succeeds that was retried, it gives back what its last retry cost; when one succeeds at its first
/// attempt, it gives back 1. It never holds more than at first.
///
/// A retry is paid for when everything else allows it, before its delay. If its caller is cancelled in that delay, the retry is not made, and what it
/// cost is given back.
///
/// Safe to use from any thread and any isolation. Nobody ever waits for tokens.
public final class RetryBudget: Sendable {
    /// How many tokens there are when none is taken.
    public let capacity: Int

    private let cost: Int
    private let throttledCost: Int
    private let tokens: AtomicWord
    /// Whether anything is paid for at all. May call a clock of the client, so never while holding a lock.
    private let isOpen: (@Sendable () -> Bool)?

    /// Makes a full bucket.
    ///
    /// - Parameters:
    ///   - capacity: How many tokens it holds. With less than the cost of a retry, there are no retries. A negative number traps.
    ///   - cost: What a retry takes: 1 or more, or it traps.
    ///   - throttledCost: What a retry takes whose error gives a hint: 1 or more, or it traps.
    public convenience init(capacity: Int = 500, cost: Int = 14, throttledCost: Int = 5) {
        self.init(capacity: capacity, cost: cost, throttledCost: throttledCost, isOpen: nil)
    }

    /// Creates a full bucket that pays only under a condition.
    ///
    /// - Parameter isOpen: Whether a retry is paid for if there are enough tokens. Must not keep the budget alive.
    package init(capacity: Int, cost: Int, throttledCost: Int, isOpen: (@Sendable () -> Bool)?) {
        insist(
            capacity >= 0,
            "RetryBudget(capacity: \(capacity)): a bucket holds no debts. Give 0 (no retries) or more."
        )
        insist(cost >= 1, "RetryBudget(cost: \(cost)): a retry that takes nothing is not limited. Give 1 or more.")
        insist(
            throttledCost >= 1,
            "RetryBudget(throttledCost: \(throttledCost)): a retry that takes nothing is not limited. Give 1 or more."
        )
        self.capacity = capacity
        self.cost = cost
        self.throttledCost = throttledCost
        self.isOpen = isOpen
        tokens = AtomicWord(Int64(capacity))
    }

    deinit { tokens.deallocate() }

    /// How many tokens are left. It may have changed when the caller looks at it.
    public var available: Int { Int(tokens.value) }

    /// Takes the cost of a retry and returns it. `nil`: there is not enough, and nothing is taken.
    package func take(isThrottled: Bool) -> Int? {
        if let isOpen, !isOpen() { return nil }
        let cost = isThrottled ? throttledCost : cost
        return tokens.replace { $0 >= cost ? $0 - Int64(cost) : nil } ? cost : nil
    }

    /// Takes tokens back, as many as there is room for.
    @usableFromInline
    package func _give(_ count: Int) {
        let capacity = Int64(capacity)
        // What is missing is compared, not what there would be: a cost may be as large as an integer can be. A full bucket is not written.
        _ = tokens.replace { $0 < capacity ? $0 + min(Int64(count), capacity - $0) : nil }
    }
}
