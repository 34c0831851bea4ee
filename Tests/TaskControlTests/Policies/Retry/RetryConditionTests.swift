import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

/// `retry(waitingFor:)`.
@Suite(.timeLimit(.minutes(15)))
struct RetryConditionTests {
    /// A condition whose streams begin with its state. Records when streams begin and end.
    private final class Condition: Sendable {
        private let state: Locked<(isMet: Bool?, streams: [AsyncStream<Bool>.Continuation])>
        let begun = OrderRecorder<Int>()
        let ended = OrderRecorder<Int>()

        init(_ isMet: Bool?) { state = Locked((isMet, [])) }

        func reports() -> AsyncStream<Bool> {
            let (stream, continuation) = AsyncStream<Bool>.makeStream()
            continuation.onTermination = { [ended] _ in ended.record(0) }
            let isMet = state.withLock { state in
                state.streams.append(continuation)
                return state.isMet
            }
            if let isMet { continuation.yield(isMet) }
            begun.record(0)
            return stream
        }

        func report(_ isMet: Bool) {
            let streams = state.withLock { state in
                state.isMet = isMet
                return state.streams
            }
            for stream in streams { stream.yield(isMet) }
        }

        func end() { for stream in state.withLock(\.streams) { stream.finish() } }
    }

    private let clock = TestClock()
    private let begun = OrderRecorder<Duration>()

    private func attempts(
        _ condition: Condition,
        backoff: RetryBackoff = .fixed(.seconds(10)),
        maxElapsed: Duration? = nil,
        succeedingAt last: Int = 2
    ) -> Task<Int, any Error> {
        Task {
            try await retry(
                attempts: 9,
                backoff: backoff,
                maxElapsed: maxElapsed,
                waitingFor: { condition.reports() },
                clock: clock
            ) { attempt in
                begun.record(clock.now.offset)
                if attempt < last { throw MarkedError("\(attempt)") }
                return attempt
            }
        }
    }

    @Test func aConditionThatIsMetLeavesTheDelay() async throws {
        let condition = Condition(true)
        let task = attempts(condition)
        try await clock.waitForSleepers()
        await clock.advance(by: .seconds(9))
        #expect(begun.events == [.zero])
        await clock.advance(by: .seconds(1))
        #expect(try await task.value == 2)
        #expect(begun.events == [.zero, .seconds(10)])
        // The stream is no longer read.
        try await condition.ended.waitForEvents(count: 1)
    }

    @Test func aConditionThatBecomesTrueEndsTheDelay() async throws {
        let condition = Condition(false)
        let task = attempts(condition)
        try await clock.waitForSleepers()
        await clock.advance(by: .seconds(3))
        condition.report(true)
        #expect(try await task.value == 2)
        #expect(begun.events == [.zero, .seconds(3)])
        #expect(clock.sleeperCount == 0)
    }

    @Test(arguments: [false, nil])
    func aConditionHoldsUpTheAttemptAfterItsDelay(state: Bool?) async throws {
        let condition = Condition(state)
        let task = attempts(condition)
        try await clock.waitForSleepers()
        await clock.advance(by: .seconds(100), waking: 1)
        #expect(begun.events == [.zero])
        condition.report(true)
        #expect(try await task.value == 2)
        #expect(begun.events == [.zero, .seconds(100)])
    }

    @Test func eachFailureAsksForTheConditionAgain() async throws {
        let condition = Condition(false)
        let task = attempts(condition, succeedingAt: 4)
        try await clock.waitForSleepers()
        condition.report(true)
        try await condition.begun.waitForEvents(count: 2)
        // From now on, the condition is met, and the delays count.
        await clock.advance(by: .seconds(10), waking: 1)
        await clock.advance(by: .seconds(10), waking: 1)
        #expect(try await task.value == 4)
        #expect(begun.events == [0, 0, 10, 20].map { .seconds($0) } && condition.begun.count == 3)
    }

    @Test(arguments: [true, false])
    func aStreamThatEndsHoldsUpNothing(isEarly: Bool) async throws {
        let condition = Condition(false)
        let task = attempts(condition)
        try await clock.waitForSleepers()
        if isEarly { condition.end() }
        await clock.advance(by: .seconds(10), waking: 1)
        if !isEarly { condition.end() }
        #expect(try await task.value == 2)
        #expect(begun.events == [.zero, .seconds(10)])
    }

    @Test func withoutADelayTheConditionStillHolds() async throws {
        let condition = Condition(false)
        let task = attempts(condition, backoff: .none)
        try await condition.begun.waitForEvents(count: 1)
        condition.report(true)
        #expect(try await task.value == 2)
    }

    @Test func theTimeLimitEndsTheWaitWithTheLastError() async throws {
        let condition = Condition(false)
        let task = attempts(condition, maxElapsed: .seconds(30))
        try await clock.waitForSleepers()
        await clock.advance(by: .seconds(10), waking: 1)
        try await clock.waitForSleepers()
        await clock.advance(by: .seconds(20), waking: 1)
        await #expect(throws: MarkedError("1")) { try await task.value }
        #expect(begun.events == [.zero] && clock.sleeperCount == 0)
    }

    @Test func theDeadlineOfTheTaskEndsTheWait() async throws {
        let (condition, clock) = (Condition(false), clock)
        let task = Task {
            try await withDeadline(in: .seconds(30), clock: clock) {
                try await retry(attempts: 9, backoff: .none, waitingFor: { condition.reports() }, clock: clock) {
                    throw MarkedError()
                }
            }
        }
        try await condition.begun.waitForEvents(count: 1)
        try await clock.waitForSleepers()
        await clock.advance(by: .seconds(30))
        await #expect(throws: DeadlineExceededError.self) { try await task.value }
        try await condition.ended.waitForEvents(count: 1)
    }

    @Test func aCancellationEndsTheWait() async throws {
        let condition = Condition(false)
        let task = attempts(condition, backoff: .none)
        try await condition.begun.waitForEvents(count: 1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(begun.events.count == 1)
        try await condition.ended.waitForEvents(count: 1)
    }

    @Test func aBudgetReceivesTheTokensOfAnAttemptThatIsNotMade() async throws {
        let (condition, budget) = (Condition(false), RetryBudget(capacity: 20, cost: 14))
        let task = Task {
            try await retry(
                attempts: 9,
                backoff: .none,
                budget: budget,
                maxElapsed: .seconds(5),
                waitingFor: { condition.reports() },
                clock: clock
            ) {
                throw MarkedError()
            }
        }
        try await clock.waitForSleepers()
        #expect(budget.available == 6)
        await clock.advance(by: .seconds(5))
        await #expect(throws: MarkedError.self) { try await task.value }
        #expect(budget.available == 20)
    }

    @Test func aClockThatCannotSleepEndsTheAttempts() async {
        let condition = Condition(false)
        await #expect(throws: BrokenClock.Broken.self) {
            try await retry(
                attempts: 9,
                backoff: .fixed(.seconds(1)),
                waitingFor: { condition.reports() },
                clock: BrokenClock()
            ) {
                throw MarkedError()
            }
        }
    }

    @Test func aPolicyHasACondition() async throws {
        let condition = Condition(false)
        let policy = RetryPolicy(backoff: .fixed(.seconds(10)), waitingFor: { condition.reports() })
        let task = Task {
            try await retry(policy, clock: clock) { attempt in
                if attempt == 1 { throw MarkedError() }
                return attempt
            }
        }
        try await clock.waitForSleepers()
        condition.report(true)
        #expect(try await task.value == 2 && clock.now.offset == .zero)
    }

    /// The condition matters only after a failure.
    @Test func aCallThatSucceedsDoesNotAskForTheCondition() async throws {
        let condition = Condition(false)
        let task = attempts(condition, succeedingAt: 1)
        #expect(try await task.value == 1)
        #expect(condition.begun.events == [])
    }
}
