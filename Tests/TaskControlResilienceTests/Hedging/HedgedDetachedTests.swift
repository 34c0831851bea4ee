import TaskControl
import TaskControlResilience
import TaskControlTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(15)))
struct HedgedDetachedTests {
    private let clock = TestClock()
    private let budget = RetryBudget(capacity: 100, cost: 20)

    @Test func aLoserThatIgnoresItsCancellationIsAbandonedAndReported() async throws {
        let (stuck, cancelled, cause) = (Gate(), Gate(), OrderRecorder<CancellationCause?>())
        let attempts = OrderRecorder<Int>()
        let (clock, budget) = (clock, budget)
        try await EventLog.recording { recorder in
            let call = Task {
                try await hedgedDetached(
                    after: .fixed(.seconds(1)),
                    budget: budget,
                    name: "lookup",
                    clock: clock
                ) { attempt in
                    attempts.record(attempt)
                    if attempt == 2 { return attempt }
                    await withTaskCancellationHandler {
                        await stuck.waitIgnoringCancellation()
                    } onCancel: {
                        cancelled.open()
                    }
                    cause.record(Task.cancellationCause)
                    return attempt
                }
            }
            try await attempts.waitForEvents(count: 1)
            await clock.advance(by: .seconds(1), waking: 1)
            #expect(try await call.value == 2, "the first attempt still runs")
            #expect(cause.events.isEmpty)
            // The attempt is cancelled soon after the call has returned.
            try await cancelled.wait()
            stuck.open()
            try await recorder.wait { $0.named("hedged.abandonedWorkEnded").count == 1 }
            #expect(cause.events == [.lastCallerLeft])
            #expect(recorder.events.named("hedged.abandonedWorkEnded").map(\.taskName) == ["lookup"])
        }
    }

    @Test func aCallerThatIsCancelledLeavesAtOnce() async throws {
        let (stuck, begun) = (Gate(), Gate())
        let (clock, budget) = (clock, budget)
        let call = Task {
            try await hedgedDetached(after: .fixed(.seconds(1)), budget: budget, clock: clock) { _ in
                begun.open()
                await stuck.waitIgnoringCancellation()
            }
        }
        try await begun.wait()
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        stuck.open()
    }

    @Test func anErrorBeginsTheNextAttempt() async throws {
        let value = try await hedgedDetached(after: .fixed(.seconds(1)), budget: budget, clock: clock) { attempt in
            if attempt == 1 { throw MarkedError() }
            return attempt
        }
        #expect(value == 2 && clock.now == .zero)
    }
}
