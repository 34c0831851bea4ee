import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

@Suite(.timeLimit(.minutes(15)))
struct RetryBudgetTests {
    private struct Throttled: Error, RetryAdvising {
        var retryAfter: Duration? = .zero
    }

    /// Calls that fail the given number of times, and then succeed if they may.
    private func call(_ budget: RetryBudget, failures: Int, of attempts: Int = 100, _ error: any Error = MarkedError())
        async -> Int
    {
        var made = 0
        try? await retry(attempts: attempts, backoff: .none, budget: budget) {
            made += 1
            if made <= failures { throw error }
        }
        return made
    }

    @Test func theDefaultsAreThoseOfAWS() async {
        let budget = RetryBudget()
        #expect(budget.capacity == 500 && budget.available == 500)
        #expect(await call(budget, failures: 1, of: 1) == 1)
        #expect(budget.available == 500, "what is not retried costs nothing")
        #expect(await call(budget, failures: 2, of: 2) == 2)
        #expect(budget.available == 500 - 14)
        #expect(await call(budget, failures: 3, of: 3, Throttled()) == 3)
        #expect(budget.available == 500 - 14 - 2 * 5)
    }

    @Test func aHintThatIsNotGivenIsNoThrottling() async {
        let budget = RetryBudget()
        #expect(await call(budget, failures: 2, of: 2, Throttled(retryAfter: nil)) == 2)
        #expect(budget.available == 500 - 14)
    }

    @Test func aRetryAfterAnInterruptionIsFree() async {
        let budget = RetryBudget()
        var made = 0
        try? await retry(attempts: 10, backoff: .none, shouldRetry: { _ in true }, budget: budget) {
            made += 1
            throw made == 1 ? MarkedError() : CancellationError() as any Error
        }
        #expect(made == 10)
        #expect(budget.available == 500 - 14, "the first retry is paid, and its cost is not returned")
    }

    @Test func successGivesBackWhatTheLastRetryCost() async {
        let budget = RetryBudget()
        #expect(await call(budget, failures: 3) == 4)
        #expect(budget.available == 500 - 2 * 14)
        var made = 0
        try? await retry(attempts: 3, backoff: .none, budget: budget) {
            made += 1
            // The last retry is the throttled one.
            if made == 1 { throw MarkedError() }
            if made == 2 { throw Throttled() }
        }
        #expect(budget.available == 500 - 3 * 14)
    }

    @Test func successAtFirstGivesBackOne() async {
        let budget = RetryBudget(capacity: 20)
        _ = await call(budget, failures: 2, of: 2)
        #expect(budget.available == 6)
        for _ in 0..<5 { _ = await call(budget, failures: 0) }
        #expect(budget.available == 11)
        // With a limit it takes another way.
        try? await retry(attempts: 1, backoff: .none, budget: budget, maxElapsed: .seconds(1)) {}
        #expect(budget.available == 12)
        for _ in 0..<20 { _ = await call(budget, failures: 0) }
        #expect(budget.available == 20, "and never more than it holds")
    }

    @Test func spentItEndsCallsAtOnceWithTheirError() async {
        let budget = RetryBudget(capacity: 30, cost: 10)
        #expect(await call(budget, failures: 100) == 4)
        #expect(budget.available == 0)
        let error = MarkedError("spent")
        await #expect(throws: error) { try await retry(attempts: 5, backoff: .none, budget: budget) { throw error } }
        #expect(await call(budget, failures: 100) == 1)
    }

    @Test func whatIsLeftIsKeptForThoseWhoseRetryCostsLess() async {
        let budget = RetryBudget(capacity: 7)
        #expect(await call(budget, failures: 100) == 1)
        #expect(budget.available == 7)
        #expect(await call(budget, failures: 100, Throttled()) == 2)
        #expect(budget.available == 2)
    }

    @Test func emptyFromTheStartItAllowsNoRetries() async {
        #expect(await call(RetryBudget(capacity: 0), failures: 1) == 1)
        #expect(await call(RetryBudget(capacity: 0), failures: 0) == 1)
    }

    @Test func costsMayBeAbsurd() async {
        let budget = RetryBudget(capacity: .max, cost: .max, throttledCost: .max - 1)
        #expect(await call(budget, failures: 1) == 2)
        #expect(budget.available == .max)
        #expect(await call(budget, failures: 3, Throttled()) == 2)
        #expect(budget.available == 1)
    }

    /// On real threads; and as many calls return tokens as take them.
    @Test func manyAtOnceTakeNoMoreThanThereIs() async {
        let (budget, retries) = (RetryBudget(capacity: 7 * 1_000), OrderRecorder<Int>())
        await withTaskGroup { group in
            for _ in 0..<2_000 {
                group.addTask {
                    _ = try? await retry(attempts: 2, backoff: .none, budget: budget) {
                        if $0 > 1 { retries.record($0) }
                        throw MarkedError()
                    }
                }
            }
        }
        #expect(retries.count == 500 && budget.available == 0)
        await withTaskGroup { group in
            for _ in 0..<2_000 {
                group.addTask { _ = try? await retry(attempts: 1, backoff: .none, budget: budget) {} }
            }
        }
        #expect(budget.available == 2_000)
    }
}
