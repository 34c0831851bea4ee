import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

/// `.debounce(for:then: .keepLatest)`: a task that waits for a pause, and does not interrupt the one that runs.
@Suite(.timeLimit(.minutes(15)))
struct DebounceThenTests {
    private let behavior = TaskStoreDuplicateKeyBehavior.debounce(for: .seconds(1), then: .keepLatest)

    @Test func theRunningTaskIsNotInterruptedAndTheLatestOneFollowsIt() async throws {
        let (clock, gate, log) = (TestClock(), Gate(), OrderRecorder<String>())
        let slot = TaskSlot(behavior: behavior, clock: clock)
        func save(_ text: String, until gate: Gate? = nil) -> Task<Void, Never> {
            slot.addTask {
                log.record("saves \(text)")
                await gate?.waitIgnoringCancellation()
                log.record(Task.isCancelled ? "interrupted" : "saved \(text)")
            }
        }
        let first = save("a", until: gate)
        try await clock.waitForSleepers()
        await clock.advance(by: .seconds(1), waking: 1)
        try await log.waitForEvents(count: 1)
        let second = save("ab")
        try await clock.waitForSleepers()
        await clock.advance(by: .seconds(1), waking: 1)
        // Whether its quiet time was over or not: it has not started.
        let third = save("abc")
        await second.value
        try await clock.waitForSleepers()
        await clock.advance(by: .seconds(1), waking: 1)
        #expect(slot.isRunning && slot.isWaiting && !first.isCancelled)
        gate.open()
        await third.value
        #expect(log.events == ["saves a", "saved a", "saves abc", "saved abc"])
    }

    @Test func aPauseWithoutARunningTaskStartsAtOnce() async throws {
        let (clock, log) = (TestClock(), OrderRecorder<Int>())
        let slot = TaskSlot(behavior: behavior, clock: clock)
        for number in 0..<3 {
            slot.addTask { log.record(number) }
            try await clock.waitForSleepers()
            await clock.advance(by: .milliseconds(999))
        }
        #expect(log.events == [])
        await clock.advance(by: .milliseconds(1), waking: 1)
        try await slot.drain()
        #expect(log.events == [2])
    }

    /// At the end of the pause, a task that waits for the running one is replaced; a later task waits for both.
    @Test func theTasksThatWaitBeforeItAreReplaced() async throws {
        let (clock, gate, log) = (TestClock(), Gate(), OrderRecorder<String>())
        let store = TaskStore<Int>(clock: clock)
        store.addTask(forKey: 1) {
            await gate.waitIgnoringCancellation()
            log.record("running")
        }
        let waiting = store.addTask(forKey: 1, duplicateKeyBehavior: .wait) { log.record("waiting") }
        store.addTask(forKey: 1, duplicateKeyBehavior: behavior) { log.record("debounced") }
        let later = store.addTask(forKey: 1, duplicateKeyBehavior: .wait) { log.record("later") }
        try await clock.waitForSleepers()
        #expect(!waiting.isCancelled)
        await clock.advance(by: .seconds(1), waking: 1)
        await waiting.value
        gate.open()
        await later.value
        #expect(log.events == ["running", "debounced", "later"])
    }

    /// `close` of an editor: the last text is saved without a pause, by a call with another behavior.
    @Test func aCallWithKeepLatestReplacesTheTaskThatWaitsForThePause() async throws {
        let (clock, gate, log) = (TestClock(), Gate(), OrderRecorder<String>())
        let store = TaskStore<Int>(clock: clock)
        store.addTask(forKey: 1, duplicateKeyBehavior: .keepLatest) {
            await gate.waitIgnoringCancellation()
            log.record("saved")
        }
        store.addTask(forKey: 1, duplicateKeyBehavior: behavior) { log.record("after a pause") }
        try await clock.waitForSleepers()
        store.addTask(forKey: 1, duplicateKeyBehavior: .keepLatest) { log.record("last") }
        gate.open()
        try await store.drain()
        #expect(log.events == ["saved", "last"])
    }

    @Test func aTaskThatIsCancelledWhileItWaitsForTheRunningOneNeverRuns() async throws {
        let (clock, gate, log) = (TestClock(), Gate(), OrderRecorder<String>())
        let slot = TaskSlot(behavior: behavior, clock: clock)
        let running = slot.addTask {
            log.record("runs")
            await gate.waitIgnoringCancellation()
        }
        try await clock.waitForSleepers()
        await clock.advance(by: .seconds(1), waking: 1)
        try await log.waitForEvents(count: 1)
        let waiting = slot.addTask { log.record("never") }
        try await clock.waitForSleepers()
        await clock.advance(by: .seconds(1), waking: 1)
        waiting.cancel()
        await waiting.value
        #expect(slot.count == 1 && !running.isCancelled)
        gate.open()
        await running.value
        #expect(log.events == ["runs"])
    }
}
