import TaskControl
import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControlResilience

@Suite(.timeLimit(.minutes(15)))
struct HedgedTests {
    private let clock = TestClock()
    private let budget = RetryBudget(capacity: 100, cost: 20)

    @Test func aCallThatIsFastEnoughIsNotHedged() async throws {
        let value = try await withHedging(after: .fixed(.seconds(1)), budget: budget, clock: clock) { attempt in attempt
        }
        #expect(value == 1 && budget.available == 100)
        #expect(clock.sleeperCount == 0, "the timer has ended")
    }

    @Test func aSlowCallIsHedgedAndTheFirstSuccessWins() async throws {
        let (attempts, causes) = (OrderRecorder<Int>(), OrderRecorder<CancellationCause?>())
        let (clock, budget) = (clock, budget)
        let call = Task {
            try await withHedging(after: .fixed(.seconds(1)), maxHedges: 2, budget: budget, clock: clock) { attempt in
                attempts.record(attempt)
                if attempt == 3 { return attempt }
                defer { causes.record(Task.cancellationCause) }
                try await Gate().wait()
                return 0
            }
        }
        try await attempts.waitForEvents(count: 1)
        await clock.advance(by: .seconds(1), waking: 1)
        try await attempts.waitForEvents(count: 2)
        await clock.advance(by: .seconds(1), waking: 1)
        #expect(try await call.value == 3)
        #expect(attempts.events == [1, 2, 3])
        let cause = CancellationCause.requested(reason: "another attempt has decided the call")
        #expect(causes.events == [cause, cause], "the others have ended")
        #expect(budget.available == 100 - 2 * 20 + 1)
    }

    @Test func aFailureBeginsTheNextAttemptAtOnce() async throws {
        let value = try await withHedging(after: .fixed(.seconds(1)), maxHedges: 3, budget: budget, clock: clock) {
            attempt in
            if attempt < 3 { throw MarkedError() }
            return attempt
        }
        #expect(value == 3 && clock.now == .zero)
    }

    @Test func theErrorOfTheLastAttemptIsThrown() async {
        await #expect(throws: MarkedError("3")) {
            try await withHedging(after: .fixed(.seconds(1)), maxHedges: 2, budget: budget, clock: clock) { attempt in
                throw MarkedError("\(attempt)")
            }
        }
        #expect(budget.available == 60, "failures give nothing back")
    }

    @Test func anErrorThatWouldBeTheSameEndsTheCall() async {
        await #expect(throws: MarkedError("1")) {
            try await withHedging(after: .fixed(.seconds(1)), budget: budget, clock: clock) { attempt in
                throw MarkedError("\(attempt)")
            } shouldHedge: { _ in
                false
            }
        }
        #expect(budget.available == 100)
    }

    @Test func anInterruptedAttemptDoesNotEndThoseThatRun() async throws {
        let (attempts, gate) = (OrderRecorder<Int>(), Gate())
        let (clock, budget) = (clock, budget)
        let call = Task {
            try await withHedging(after: .fixed(.seconds(1)), maxHedges: 5, budget: budget, clock: clock) { attempt in
                attempts.record(attempt)
                if attempt == 2 {
                    gate.open()
                    throw CancellationError()
                }
                try await gate.wait()
                return attempt
            }
        }
        try await attempts.waitForEvents(count: 1)
        await clock.advance(by: .seconds(1), waking: 1)
        #expect(try await call.value == 1)
        #expect(attempts.events == [1, 2])
    }

    @Test func anAttemptThatReplacesAnInterruptedOneIsFree() async throws {
        let value = try await withHedging(after: .fixed(.seconds(1)), maxHedges: 3, budget: budget, clock: clock) {
            attempt in
            if attempt < 4 { throw CancellationError() }
            return attempt
        } shouldHedge: { _ in
            true
        }
        #expect(value == 4 && budget.available == 100)
    }

    @Test func withoutABudgetThereIsOneAttempt() async {
        let budget = RetryBudget(capacity: 0)
        await #expect(throws: MarkedError("1")) {
            try await withHedging(after: .fixed(.zero), maxHedges: .max, budget: budget, clock: clock) { attempt in
                throw MarkedError("\(attempt)")
            }
        }
    }

    @Test func noHedgesAreOneAttempt() async throws {
        for count in [0, -1, Int.min] {
            await #expect(throws: MarkedError("1")) {
                try await withHedging(after: .fixed(.zero), maxHedges: count, budget: budget, clock: clock) { attempt in
                    throw MarkedError("\(attempt)")
                }
            }
        }
    }

    @Test func aHintDelaysTheNextAttempt() async throws {
        struct Refused: Error, RetryAdvising {
            var retryAfter: Duration? { .seconds(3) }
        }
        let (clock, budget) = (clock, budget)
        let call = Task {
            try await withHedging(after: .fixed(.seconds(10)), budget: budget, clock: clock) { attempt in
                if attempt == 1 { throw Refused() }
                return clock.now.offset
            }
        }
        // The timer of the first attempt, and that of the hint.
        try await clock.waitForSleepers(count: 2)
        await clock.advance(by: .seconds(3), waking: 1)
        #expect(try await call.value == .seconds(3))
        #expect(budget.available == 100 - 5 + 1, "an error with a hint costs less")
    }

    @Test func aHintBeyondTheDeadlineEndsTheCall() async throws {
        struct Refused: Error, RetryAdvising {
            var retryAfter: Duration? { .seconds(30) }
        }
        // Fails at once: the clock does not move.
        await #expect(throws: Refused.self) {
            try await withDeadline(in: .seconds(20), clock: clock) {
                try await withHedging(after: .fixed(.seconds(60)), budget: budget, clock: clock) { throw Refused() }
            }
        }
        #expect(clock.now == .zero && budget.available == 100)
    }

    @Test func aCancelledCallerEndsAllAttempts() async throws {
        let running = OrderRecorder<Int>()
        let (clock, budget) = (clock, budget)
        let call = Task {
            try await withHedging(after: .fixed(.zero), budget: budget, clock: clock) { attempt in
                running.record(attempt)
                try await Gate().wait()
            }
        }
        try await running.waitForEvents(count: 2)
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        let late = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await withHedging(after: .fixed(.zero), budget: budget, clock: clock) { running.record(0) }
        }
        await #expect(throws: CancellationError.self) { try await late.value }
        #expect(running.count == 2)
    }

    @Test func aHistoryDecidesWhenToHedge() async throws {
        let delay = HedgeDelay.quantile(0.5, capacity: 4, minimumSamples: 2)
        let (clock, budget) = (clock, budget)
        for seconds in [2, 4] {
            try await withHedging(after: delay, budget: budget, clock: clock) {
                await clock.advance(by: .seconds(seconds))
            }
        }
        #expect(delay.duration == .seconds(2))
        let isHedged = Gate()
        let call = Task {
            try await withHedging(after: delay, budget: budget, clock: clock) { attempt in
                if attempt == 1 { try await Gate().wait() }
                isHedged.open()
                return attempt
            }
        }
        try await clock.waitForSleepers(count: 1)
        await clock.advance(by: .seconds(2), waking: 1)
        #expect(try await call.value == 2 && isHedged.isOpen)
    }

    @Test func attemptsRunInTheCallersIsolation() async throws {
        @MainActor func call() async throws -> Int {
            try await withHedging(after: .fixed(.zero), budget: RetryBudget(), clock: clock) { attempt in
                MainActor.assertIsolated()
                return attempt
            }
        }
        #expect(try await call() > 0)
    }

    @Test func aHedgedCallReportsItsAttempts() async throws {
        let events = try await EventLog.events {
            try await withHedging(after: .fixed(.seconds(1)), budget: budget, clock: clock) { attempt in
                if attempt == 1 { throw MarkedError("one") }
            }
        }
        #expect(
            events.filter { $0.primitive == .withHedging }.lines == [
                "withHedging.started", "withHedging.failed attempt=1 error=MarkedError(mark: \"one\")",
                "withHedging.hedging attempt=2",
                "withHedging.completed attempt=2",
            ]
        )
        #expect(events.unpaired == [])
    }
}
