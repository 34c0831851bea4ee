import TaskControl
import TaskControlTesting
import TestSupport
import Testing

/// A policy as a value: its defaults, and that `retry` follows it.
@Suite(.timeLimit(.minutes(15)))
struct RetryPolicyTests {
    private let clock = TestClock(advancesAutomatically: true)

    @Test func theDefaultMakesThreeAttemptsWithDelays() async {
        let (calls, delays) = (OrderRecorder<Int>(), OrderRecorder<Duration>())
        let error = MarkedError()
        await #expect(throws: error) {
            try await retry(clock: clock, onRetry: { delays.record($0.delay) }) { attempt in
                calls.record(attempt)
                throw error
            }
        }
        #expect(calls.events == [1, 2, 3])
        #expect(delays.events.count == 2)
        #expect(delays.events[0] <= .milliseconds(50) && delays.events[1] <= .milliseconds(100))
    }

    @Test(arguments: [
        CancellationError() as any Error, ReentrancyError(key: "1"), ReentrancyError(queueName: nil),
        ContinuationDroppedError(),
        DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "")),
    ])
    func anErrorThatStaysTheSameIsNotRetried(_ error: any Error) async {
        let calls = OrderRecorder<Int>()
        await #expect(throws: (any Error).self) {
            try await retry(clock: clock) { attempt in
                calls.record(attempt)
                throw error
            }
        }
        #expect(calls.events == [1])
        #expect(!RetryPolicy.isWorthRetrying(error) && RetryPolicy.isWorthRetrying(MarkedError()))
    }

    private struct Interrupted: Interruption {
        var isInterruption = true
    }

    private struct InterruptionWithAHint: Interruption, RetryAdvising {
        var isInterruption: Bool { true }
        var retryAfter: Duration? { .seconds(1) }
    }

    @Test func anInterruptionIsNotWorthRetrying() {
        #expect(!RetryPolicy.isWorthRetrying(InterruptionWithAHint()))
        #expect(!RetryPolicy.isWorthRetrying(CancellationError()) && !RetryPolicy.isWorthRetrying(Interrupted()))
        #expect(RetryPolicy.isWorthRetrying(Interrupted(isInterruption: false)))
    }

    @Test func aQueueThatWouldWaitForItselfIsNotRetried() async throws {
        let (queue, calls) = (FIFOQueue(), OrderRecorder<Int>())
        await #expect(throws: ReentrancyError.self) {
            try await queue.run {
                try await retry(clock: clock) { attempt in
                    calls.record(attempt)
                    try await queue.run {}
                }
            }
        }
        #expect(calls.events == [1])
    }

    @Test func eachSettingIsFollowed() async throws {
        var policy = RetryPolicy(attempts: 9, backoff: .fixed(.seconds(2)), budget: nil, maxElapsed: .seconds(5))
        policy.shouldRetry = { _ in true }
        let calls = OrderRecorder<Int>()
        await #expect(throws: CancellationError.self) {
            try await retry(policy, clock: clock) { attempt in
                calls.record(attempt)
                throw CancellationError()
            }
        }
        #expect(calls.events == [1, 2, 3], "the next delay would end after 6 seconds")
        #expect(try await retry(policy, clock: clock) { 7 } == 7)
    }

    @Test func aBudgetIsSharedByTheCopiesOfAPolicyOnly() async {
        let budget = RetryBudget(capacity: 14)
        let policy = RetryPolicy(backoff: .none, budget: budget)
        var copy = policy
        copy.attempts = 2
        let calls = OrderRecorder<Int>()
        for policy in [policy, copy, RetryPolicy(attempts: 2, backoff: .none)] {
            try? await retry(policy, clock: clock) { attempt in
                calls.record(attempt)
                throw MarkedError()
            }
        }
        #expect(calls.events == [1, 2, 1, 1, 2])
        #expect(budget.available == 0)
    }

    @Test func aPolicyThatIsWrittenAtACallHasOneBudgetForAllExecutions() {
        func policy() -> RetryPolicy { RetryPolicy(attempts: 5) }
        let (one, other, elsewhere) = (policy(), policy(), RetryPolicy(attempts: 5))
        #expect(one.budget === other.budget && one.budget != nil)
        #expect(one.budget !== elsewhere.budget && one.budget !== RetryPolicy.default.budget)
        #expect(one.budget !== RetryBudget.perCallSite)
        #expect(RetryPolicy(budget: nil).budget == nil)
        let (first, second) = (RetryPolicy(attempts: 1), RetryPolicy(attempts: 1))
        #expect(first.budget !== second.budget, "two places in one line are two places")
    }

    @Test func attemptsAloneHaveTheDelaysAndTheJudgementOfTheDefault() async {
        let (calls, delays) = (OrderRecorder<Int>(), OrderRecorder<Duration>())
        await #expect(throws: MarkedError.self) {
            try await retry(attempts: 3, clock: clock, onRetry: { delays.record($0.delay) }) { attempt in
                calls.record(attempt)
                throw MarkedError()
            }
        }
        #expect(calls.events == [1, 2, 3])
        #expect(delays.events[0] <= .milliseconds(50) && delays.events[1] <= .milliseconds(100))
        await #expect(throws: DecodingError.self) {
            try await retry(attempts: 3, clock: clock) { attempt in
                calls.record(attempt)
                throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: ""))
            }
        }
        #expect(calls.events == [1, 2, 3, 1], "the judgement of the default")
    }

    private struct Rejected: RetryAdvising {
        let isWorthRetrying: Bool
    }

    @Test(arguments: [true, false]) func anErrorClassifiesItself(_ isWorthRetrying: Bool) async {
        let (calls, error) = (OrderRecorder<Int>(), Rejected(isWorthRetrying: isWorthRetrying))
        await #expect(throws: Rejected.self) {
            try await retry(attempts: 2, backoff: .none) { attempt in
                calls.record(attempt)
                throw error
            }
        }
        #expect(calls.events == (isWorthRetrying ? [1, 2] : [1]))
        #expect(RetryPolicy.isWorthRetrying(error) == isWorthRetrying)
    }
}
