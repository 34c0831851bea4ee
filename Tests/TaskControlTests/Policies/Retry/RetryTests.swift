import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

@Suite(.timeLimit(.minutes(15)))
struct RetryTests {
    private struct Failure: Error, Equatable {
        let attempt: Int
    }

    /// Time goes to the next deadline by itself.
    private let clock = TestClock(advancesAutomatically: true)
    /// When attempts began.
    private let begun = OrderRecorder<Duration>()

    // MARK: Attempts

    @Test func theFirstSuccessIsReturnedAndNothingFollowsIt() async throws {
        let attempts = OrderRecorder<Int>()
        let value = try await retry(attempts: 5, backoff: .none) { attempt in
            attempts.record(attempt)
            if attempt < 3 { throw Failure(attempt: attempt) }
            return attempt * 10
        }
        #expect(value == 30)
        #expect(attempts.events == [1, 2, 3])
    }

    @Test func whenAttemptsRunOutTheLastErrorIsThrownAsItIs() async {
        for attempts in [1, 2, 70] {
            await #expect(throws: Failure(attempt: attempts)) {
                try await retry(attempts: attempts, backoff: .none) { throw Failure(attempt: $0) }
            }
        }
    }

    @Test func unlessTheCallSaysSoThereIsNoDelay() async {
        await #expect(throws: Failure(attempt: 3)) {
            try await retry(attempts: 3, backoff: .none, clock: BrokenClock()) {
                throw Failure(attempt: $0)
            }
        }
    }

    @Test func theDelaysAreThoseOfTheBackoff() async {
        await #expect(throws: Failure(attempt: 4)) {
            try await retry(attempts: 4, backoff: .exponential(base: .seconds(1)), clock: clock) {
                attempt in
                begun.record(clock.now.offset)
                throw Failure(attempt: attempt)
            }
        }
        #expect(begun.events == [0, 1, 3, 7].map { .seconds($0) })
        #expect(clock.now.offset == .seconds(7), "after the last attempt there is no delay")
    }

    @Test func aDelayBeginsWhenTheAttemptHasFailed() async {
        try? await retry(attempts: 3, backoff: .fixed(.seconds(1)), clock: clock) {
            begun.record(clock.now.offset)
            try await clock.sleep(for: .seconds(10))
            throw MarkedError()
        }
        #expect(begun.events == [0, 11, 22].map { .seconds($0) })
    }

    @Test func aHintLiftsTheDelay() async {
        try? await retry(attempts: 4, backoff: .fixed(.seconds(2)), clock: clock) { attempt in
            begun.record(clock.now.offset)
            throw Throttled(retryAfter: [.seconds(1), .seconds(3), .seconds(60), nil][attempt - 1])
        }
        #expect(begun.events == [0, 2, 5, 65].map { .seconds($0) })
    }

    /// An attempt before the server's time would be refused again.
    @Test(arguments: [RetryBackoff.none, .fixed(.seconds(1)).capped(at: .seconds(60)), .exponential(base: .seconds(1))])
    func aHintBeyondTheCapFailsAtOnceAndTheErrorHasIt(_ backoff: RetryBackoff) async {
        let budget = RetryBudget(capacity: 5)
        let error = await #expect(throws: Throttled.self) {
            try await retry(attempts: 3, backoff: backoff, budget: budget, clock: clock) {
                begun.record(clock.now.offset)
                throw Throttled(retryAfter: .seconds(61))
            }
        }
        #expect(error?.retryAfter == .seconds(61))
        #expect(begun.events == [.zero] && clock.now.offset == .zero && budget.available == 5)
    }

    @Test func anAbsurdDelayIsACentury() async {
        try? await retry(attempts: 3, backoff: .exponential(base: .seconds(Int64.max)), clock: clock) {
            throw MarkedError()
        }
        #expect(clock.now.offset == .longestWait + .longestWait)
    }

    // MARK: What decides

    @Test func anErrorThatIsNotWorthItIsThrownAtOnce() async {
        let asked = OrderRecorder<Int>()
        await #expect(throws: Failure(attempt: 2)) {
            try await retry(
                attempts: 5,
                backoff: .none,
                shouldRetry: { error in
                    let attempt = (error as? Failure)?.attempt ?? 0
                    asked.record(attempt)
                    return attempt < 2
                },
                budget: nil
            ) {
                throw Failure(attempt: $0)
            }
        }
        #expect(asked.events == [1, 2])
    }

    @Test func aBackoffThatReturnsNilEndsItWithTheError() async {
        await #expect(throws: Failure(attempt: 2)) {
            try await retry(attempts: 5, backoff: .custom { attempt, _ in attempt < 2 ? .zero : nil }) {
                throw Failure(attempt: $0)
            }
        }
    }

    @Test(arguments: [
        (Duration.seconds(2), 3), (.milliseconds(1_999), 2), (.milliseconds(2_500), 3), (.zero, 1),
        (.seconds(Int64.max), 5), (.nanoseconds(-1), 1), (.seconds(Int64.min), 1),
    ])
    func aRetryWhoseDelayWouldPassTheLimitIsNotBegun(maxElapsed: Duration, attempts: Int) async {
        await #expect(throws: Failure(attempt: attempts)) {
            try await retry(
                attempts: 5,
                backoff: .fixed(.seconds(1)),
                budget: nil,
                maxElapsed: maxElapsed,
                clock: clock
            ) {
                throw Failure(attempt: $0)
            }
        }
        #expect(clock.now.offset == .seconds(attempts - 1), "nor is its delay")
    }

    @Test func theTimeOfAttemptsCountsAndNoneIsCutShort() async {
        await #expect(throws: Failure(attempt: 2)) {
            try await retry(attempts: 5, backoff: .none, maxElapsed: .seconds(10), clock: clock) {
                attempt in
                try await clock.sleep(for: .seconds(6))
                throw Failure(attempt: attempt)
            }
        }
        #expect(clock.now.offset == .seconds(12))
    }

    @Test func theLimitCountsFromTheCall() async {
        try? await clock.sleep(for: .seconds(100))
        await #expect(throws: Failure(attempt: 3)) {
            try await retry(
                attempts: 3,
                backoff: .fixed(.seconds(1)),
                budget: nil,
                maxElapsed: .seconds(2),
                clock: clock
            ) {
                throw Failure(attempt: $0)
            }
        }
    }

    @Test func whereNoTimePassesZeroIsALimitLikeAnyOther() async {
        await #expect(throws: Failure(attempt: 3)) {
            try await retry(attempts: 3, backoff: .none, maxElapsed: .zero, clock: clock) {
                throw Failure(attempt: $0)
            }
        }
    }

    @Test func aHintThatPassesTheLimitEndsIt() async {
        await #expect(throws: Throttled.self) {
            try await retry(attempts: 3, backoff: .none, maxElapsed: .seconds(2), clock: clock) {
                throw Throttled(retryAfter: .seconds(3))
            }
        }
        #expect(clock.now.offset == .zero)
    }

    @Test func onRetryIsToldOfEachFailureThatAnAttemptFollows() async {
        let events = OrderRecorder<RetryEvent>()
        try? await retry(
            attempts: 3,
            backoff: .exponential(base: .seconds(1)),
            budget: nil,
            clock: clock,
            onRetry: { event in
                events.record(event)
                begun.record(clock.now.offset)
            },
            operation: { throw Throttled(retryAfter: $0 == 2 ? .seconds(3) : nil) }
        )
        #expect(events.events.map(\.attempt) == [1, 2])
        #expect(events.events.map(\.delay) == [.seconds(1), .seconds(3)])
        #expect(events.events.map { ($0.error as? Throttled)?.retryAfter } == [nil, .seconds(3)])
        #expect(begun.events == [.zero, .seconds(1)], "before the delay")
    }

    /// The conditions are asked in turn, and the first refusal is the last question.
    @Test func theQuestionsComeInTheirOrder() async {
        struct Curious: Error, RetryAdvising {
            let asked: OrderRecorder<String>
            var retryAfter: Duration? {
                asked.record("hint")
                return .seconds(1)
            }
        }
        func ask(
            attempts: Int = 2,
            shouldRetry: Bool = true,
            delay: Duration? = .zero,
            maxElapsed: Duration = .seconds(9),
            tokens: Int = 5
        ) async -> [String] {
            let asked = OrderRecorder<String>()
            let budget = RetryBudget(capacity: tokens)
            try? await retry(
                attempts: attempts,
                backoff: .custom { _, _ in
                    asked.record("backoff")
                    return delay
                },
                shouldRetry: { _ in
                    asked.record("shouldRetry")
                    return shouldRetry
                },
                budget: budget,
                maxElapsed: maxElapsed,
                clock: TestClock(advancesAutomatically: true),
                onRetry: { _ in asked.record("onRetry, \(budget.available)") },
                operation: { attempt in
                    asked.record("\(attempt)")
                    throw Curious(asked: asked)
                }
            )
            return asked.events + ["\(budget.available)"]
        }
        #expect(await ask() == ["1", "shouldRetry", "hint", "backoff", "onRetry, 0", "2", "0"])
        #expect(await ask(attempts: 1) == ["1", "5"])
        #expect(await ask(shouldRetry: false) == ["1", "shouldRetry", "5"])
        #expect(await ask(delay: nil) == ["1", "shouldRetry", "hint", "backoff", "5"])
        // The hint makes it a second, which is too long: nothing is taken.
        #expect(await ask(maxElapsed: .milliseconds(500)) == ["1", "shouldRetry", "hint", "backoff", "5"])
        #expect(await ask(tokens: 4) == ["1", "shouldRetry", "hint", "backoff", "4"])
    }
}

struct Throttled: Error, RetryAdvising, Equatable {
    var retryAfter: Duration?
}
