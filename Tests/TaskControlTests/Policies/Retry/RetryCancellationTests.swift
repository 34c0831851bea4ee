import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

@Suite(.timeLimit(.minutes(15)))
struct RetryCancellationTests {
    private func cancelCaller() {
        withUnsafeCurrentTask { $0?.cancel() }
    }

    /// Returns the error of a separate task, and the number of its attempts.
    private func attempts(_ body: @escaping @Sendable (OrderRecorder<Int>) async throws -> Void) async -> (
        Int, any Error
    ) {
        let made = OrderRecorder<Int>()
        let result = await Task { try await body(made) }.result
        guard case .failure(let error) = result else { return (made.count, MarkedError("nothing was thrown")) }
        return (made.count, error)
    }

    @Test(arguments: [nil, Duration.seconds(1)])
    func aCallerThatWasCancelledBeforeDoesNotBegin(maxElapsed: Duration?) async {
        let (made, error) = await attempts { made in
            cancelCaller()
            try await retry(attempts: 3, backoff: .none, maxElapsed: maxElapsed) { made.record($0) }
        }
        #expect(made == 0 && error is CancellationError)
    }

    @Test(arguments: [nil, Duration.seconds(1)])
    func aCallerThatIsCancelledDuringAnAttemptThrowsACancellationWhateverTheOperationThrew(maxElapsed: Duration?) async
    {
        for last in 1...3 {
            let (made, error) = await attempts { made in
                try await retry(
                    attempts: 3,
                    backoff: .none,
                    shouldRetry: { _ in
                        #expect(!Task.isCancelled, "it is not asked about a cancellation"); return true
                    },
                    budget: nil,
                    maxElapsed: maxElapsed
                ) { attempt in
                    made.record(attempt)
                    if attempt == last { cancelCaller() }
                    throw MarkedError()
                }
            }
            #expect(made == last && error is CancellationError)
        }
    }

    @Test func aValueThatAnAttemptReturnedIsReturned() async throws {
        let value = try await Task {
            try await retry(attempts: 3, backoff: .none) { attempt in
                cancelCaller()
                return attempt
            }
        }.value
        #expect(value == 1)
    }

    @Test func aCallerThatIsCancelledDuringADelayLeavesAtOnce() async throws {
        let clock = TestClock()
        let made = OrderRecorder<Int>()
        let budget = RetryBudget()
        let task = Task {
            try await retry(attempts: 3, backoff: .fixed(.seconds(1)), budget: budget, clock: clock) { attempt in
                made.record(attempt)
                throw MarkedError()
            }
        }
        try await clock.waitForSleepers()
        #expect(budget.available == 486)
        await clock.advance(by: .seconds(1))
        try await clock.waitForSleepers()
        #expect(budget.available == 472)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(made.events == [1, 2] && clock.now.offset == .seconds(1))
        #expect(budget.available == 486, "the retry that was not made costs nothing")
    }

    @Test func aCancellationWhileItIsDecidedEndsIt() async {
        for verdict in [true, false] {
            let (made, error) = await attempts { made in
                try await retry(
                    attempts: 3,
                    backoff: .none,
                    shouldRetry: { _ in
                        cancelCaller(); return verdict
                    },
                    budget: nil
                ) {
                    made.record($0)
                    throw MarkedError()
                }
            }
            #expect(made == 1 && error is CancellationError)
        }
    }

    @Test func aCancellationInOnRetryEndsItWithoutADelayToo() async {
        let budget = RetryBudget()
        let (made, error) = await attempts { made in
            try await retry(attempts: 3, backoff: .none, budget: budget, onRetry: { _ in cancelCaller() }) {
                made.record($0)
                throw MarkedError()
            }
        }
        #expect(made == 1 && error is CancellationError && budget.available == 500)
    }

    /// Also where a clock sleeps on, or throws something else.
    @Test func aClockThatIsDeafToCancellationDoesNotHideIt() async {
        struct Deaf: Clock {
            let error: MarkedError?
            var now: ContinuousClock.Instant { ContinuousClock.now }
            var minimumResolution: Duration { .zero }

            func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
                withUnsafeCurrentTask { $0?.cancel() }
                if let error { throw error }
            }
        }
        for clock in [Deaf(error: nil), Deaf(error: MarkedError())] {
            let budget = RetryBudget()
            let (made, error) = await attempts { made in
                try await retry(attempts: 3, backoff: .fixed(.seconds(1)), budget: budget, clock: clock) {
                    made.record($0)
                    throw MarkedError()
                }
            }
            #expect(made == 1 && error is CancellationError && budget.available == 500)
        }
    }

    @Test func whatAClockThrowsThatCannotSleepIsThrown() async {
        let budget = RetryBudget()
        await #expect(throws: BrokenClock.Broken.self) {
            try await retry(attempts: 3, backoff: .fixed(.seconds(1)), budget: budget, clock: BrokenClock()) {
                throw MarkedError()
            }
        }
        #expect(budget.available == 500)
    }

    @Test func aCancellationErrorOfTheOperationsOwnIsAnErrorLikeOthers() async throws {
        let asked = OrderRecorder<Bool>()
        let value = try await retry(
            attempts: 3,
            backoff: .none,
            shouldRetry: { error in
                asked.record(error is CancellationError); return true
            },
            budget: nil
        ) { attempt in
            if attempt < 3 { throw CancellationError() }
            return attempt
        }
        #expect(value == 3 && asked.events == [true, true])
        await #expect(throws: CancellationError.self) {
            try await retry(attempts: 3, backoff: .none) {
                throw CancellationError()
            } shouldRetry: { _ in
                false
            }
        }
    }
}
