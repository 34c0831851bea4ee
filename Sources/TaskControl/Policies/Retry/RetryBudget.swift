/// A limit on the retries of many calls together, so that clients that retry do not make an outage worse.
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
/// The budget is a bucket of tokens, full at first. A retry takes tokens, and a success returns tokens. If most calls
/// succeed, the bucket stays full and has no effect. If most calls fail, the bucket is soon empty: a call that fails
/// then throws its error without a retry. Then only first attempts reach the server, until calls succeed again.
///
/// The rules and numbers are those of the AWS SDKs (retry behavior 2.1): a bucket of 500; a retry costs 14 tokens, a
/// throttled retry (after an error with a hint: ``RetryAdvising``) costs 5. A call that succeeds after a retry
/// returns the cost of its last retry; a call that succeeds at its first attempt returns 1. The bucket never holds more
/// than ``capacity``. A retry after an interruption, such as a `CancellationError` of a task that was not cancelled, is
/// free: the server has not failed.
///
/// The cost of a retry is taken before its delay, when all other conditions allow the retry. If the caller is cancelled
/// during the delay, the retry is not made, and its cost is returned.
///
/// Safe to use from any thread and any isolation. No call ever waits for tokens. Each seed of a simulation begins with a full
/// budget.
public final class RetryBudget: Sendable {
    /// The number of tokens of a full budget.
    public let capacity: Int

    private let cost: Int
    private let throttledCost: Int
    /// Whether a client of `TaskControlHTTP` has a copy of this budget for each host.
    package let isPerHost: Bool
    private let tokens: AtomicWord

    /// The tokens of this budget, or, in a simulation, of its copy: each seed begins with a full budget.
    @inline(__always)
    private var tokensLeft: AtomicWord { ProcessValues.ofSimulation.map(tokens(in:)) ?? tokens }

    private struct Copy {
        let copy: RetryBudget
        let original: RetryBudget
    }

    @inline(never)
    private func tokens(in process: ProcessValues) -> AtomicWord {
        process.value(of: ObjectIdentifier(self)) {
            Copy(copy: RetryBudget(like: self, isPerHost: isPerHost), original: self)
        }.copy.tokens
    }

    /// Creates a full budget.
    ///
    /// - Parameters:
    ///   - capacity: The number of tokens of a full budget. A retry that costs more than that is never made. A
    ///     negative number counts as 0: no retries.
    ///   - cost: The tokens that a retry takes after an error without a hint. Less than 1 counts as 1.
    ///   - throttledCost: The tokens that a retry takes after an error with a hint (see ``RetryAdvising``). Less
    ///     than 1 counts as 1.
    public init(capacity: Int = 500, cost: Int = 14, throttledCost: Int = 5) {
        let capacity = ComputedNumber.count(capacity, atLeast: 0, "RetryBudget(capacity:)", .retry)
        self.capacity = capacity
        self.cost = ComputedNumber.count(cost, "RetryBudget(cost:)", .retry)
        self.throttledCost = ComputedNumber.count(throttledCost, "RetryBudget(throttledCost:)", .retry)
        isPerHost = false
        tokens = AtomicWord(Int64(capacity))
    }

    /// Creates a full budget with the capacity and the costs of another one.
    package init(like budget: RetryBudget, isPerHost: Bool) {
        (capacity, cost, throttledCost) = (budget.capacity, budget.cost, budget.throttledCost)
        self.isPerHost = isPerHost
        tokens = AtomicWord(Int64(budget.capacity))
    }

    deinit { tokens.deallocate() }

    /// The budget of a ``RetryPolicy`` that is created without one: all policies that one line of code creates have the
    /// same budget, with the default capacity and costs. Only the initializer of a policy replaces this value: anywhere
    /// else it is one budget for all of its users.
    public static let perCallSite = RetryBudget()

    private static let budgetsOfCallSites = Locked([CallSite: RetryBudget]())

    private struct CallSite: Hashable {
        let fileID: String
        let line: Int
        let column: Int
    }

    /// Returns the budget of the policies that are created at a place in the code.
    static func ofCallSite(_ fileID: StaticString, _ line: Int, _ column: Int) -> RetryBudget {
        let site = CallSite(fileID: "\(fileID)", line: line, column: column)
        return budgetsOfCallSites.withLock { budgets in
            if let budget = budgets[site] { return budget }
            let budget = RetryBudget()
            budgets[site] = budget
            return budget
        }
    }

    /// The number of tokens that are left. It may have changed by the time the caller uses it.
    public var available: Int { Int(tokensLeft.value) }

    /// Takes the cost of a retry from the budget.
    ///
    /// - Parameter isThrottled: Whether the error of the failed attempt has a hint: see ``RetryAdvising``.
    /// - Returns: The number of tokens that were taken; `nil` if no tokens were taken, because the budget has too few.
    package func take(isThrottled: Bool) -> Int? {
        let cost = isThrottled ? throttledCost : cost
        return tokensLeft.replace { $0 >= cost ? $0 - Int64(cost) : nil } ? cost : nil
    }

    /// Puts `count` tokens into the budget, up to its capacity.
    @usableFromInline
    package func _give(_ count: Int) {
        let capacity = Int64(capacity)
        // The missing tokens are compared, not the resulting ones: a cost may be as large as an integer can be. A full
        // bucket is not written.
        _ = tokensLeft.replace { $0 < capacity ? $0 + min(Int64(count), capacity - $0) : nil }
    }
}
