import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

/// `.throttle(for:)`.
extension TaskStoreTests {
    @Test func throttleStartsTheFirstAtOnceAndTheLatestWhenTheIntervalHasPassed() async throws {
        let clock = TestClock()
        let (store, log) = (TaskStore<String>(clock: clock), OrderRecorder<Int>())
        func call(_ number: Int) -> Task<Void, Never> {
            store.addTask(forKey: "key", duplicateKeyBehavior: .throttle(for: .seconds(1))) { log.record(number) }
        }
        await call(0).value
        #expect(log.events == [0])
        // Draining does not wait for the interval.
        try await store.drain()
        try await clock.waitForSleepers()
        await clock.advance(by: .milliseconds(500))
        let (overtaken, latest) = (call(1), call(2))
        await overtaken.value
        await clock.advance(by: .milliseconds(499))
        #expect(log.events == [0] && store.count == 1 && overtaken.isCancelled && !latest.isCancelled)
        await clock.advance(by: .milliseconds(1))
        await latest.value
        #expect(log.events == [0, 2])
        // The next interval begins with that start.
        try await clock.waitForSleepers()
        let third = call(3)
        await clock.advance(by: .milliseconds(999))
        #expect(log.events == [0, 2])
        await clock.advance(by: .milliseconds(1))
        await third.value
        try await clock.waitForSleepers()
        await clock.advance(by: .seconds(1))
        try await clock.waitForNoSleepers()
        await call(4).value
        #expect(log.events == [0, 2, 3, 4])
    }

    @Test func throttleLetsWhatRunsGoOnUntilTheNewOneStarts() async throws {
        let clock = TestClock()
        let (store, gate, log) = (TaskStore<String>(clock: clock), Gate(), OrderRecorder<String>())
        let running = store.addTask(forKey: "key", duplicateKeyBehavior: .throttle(for: .seconds(1))) {
            log.record("running begins")
            await gate.waitIgnoringCancellation()
        }
        try await gate.waitForWaiters()
        try await clock.waitForSleepers()
        let next = store.addTask(forKey: "key", duplicateKeyBehavior: .throttle(for: .seconds(1))) {
            log.record("next")
        }
        #expect(!running.isCancelled && store.count == 2)
        await clock.advance(by: .seconds(1))
        await next.value
        #expect(running.isCancelled && log.events == ["running begins", "next"])
        gate.open()
        await running.value
    }

    @Test func aThrottledTaskThatIsCancelledNeverRunsAndTheIntervalGoesOn() async throws {
        let clock = TestClock()
        let (store, log) = (TaskStore<Int>(clock: clock), OrderRecorder<Int>())
        func call(_ number: Int, key: Int = 1) -> Task<Void, Never> {
            store.addTask(forKey: key, duplicateKeyBehavior: .throttle(for: .seconds(1))) { log.record(number) }
        }
        await call(0).value
        try await clock.waitForSleepers()
        let byKey = call(1)
        store.cancelTask(forKey: 1)
        await byKey.value
        let byHandle = call(2)
        byHandle.cancel()
        await byHandle.value
        let waiting = call(3)
        #expect(log.events == [0] && store.taskIsWaiting(forKey: 1) && !store.taskIsRunning(forKey: 1))
        // Another key has an interval of its own.
        await call(4, key: 2).value
        try await clock.waitForSleepers(count: 2)
        await clock.advance(by: .seconds(1))
        await waiting.value
        #expect(log.events == [0, 4, 3])
    }

    @Test func closingTheStoreEndsItsIntervals() async throws {
        let clock = TestClock()
        var store: TaskStore<Int>? = TaskStore(clock: clock)
        for key in 0..<3 {
            await store!.addTask(forKey: key, duplicateKeyBehavior: .throttle(for: .seconds(1))) {}.value
        }
        try await clock.waitForSleepers(count: 3)
        store!.close()
        try await clock.waitForNoSleepers()
        store = TaskStore(clock: clock)
        await store!.addTask(forKey: 1, duplicateKeyBehavior: .throttle(for: .seconds(1))) {}.value
        try await clock.waitForSleepers()
        store = nil
        try await clock.waitForNoSleepers()
    }

    /// In the grace period of a shutdown, a task that waits for its interval still starts.
    @Test func aThrottledTaskStartsWhileTheStoreShutsDown() async throws {
        let (clock, grace) = (TestClock(), TestClock())
        let (store, log) = (TaskStore<Int>(clock: clock), OrderRecorder<Int>())
        for number in 0..<2 {
            store.addTask(forKey: 1, duplicateKeyBehavior: .throttle(for: .seconds(1))) { log.record(number) }
            if number == 0 { try await clock.waitForSleepers() }
        }
        async let shutdown = store.shutdown(grace: .seconds(10), clock: grace)
        try await grace.waitForSleepers()
        await clock.advance(by: .seconds(1))
        #expect(await shutdown.isEmpty)
        #expect(log.events == [0, 1])
        try await clock.waitForNoSleepers()
    }

    @Test func anIntervalMayHaveAnyLength() async throws {
        let (store, log) = (TaskStore<String>(), OrderRecorder<Int>())
        for number in 0..<3 {
            await store.addTask(forKey: "a", duplicateKeyBehavior: .throttle(for: .seconds(Int64.min))) {
                log.record(number)
            }.value
        }
        #expect(log.events == [0, 1, 2])
        await store.addTask(forKey: "b", duplicateKeyBehavior: .throttle(for: .seconds(Int64.max))) {}.value
        let never = store.addTask(forKey: "b", duplicateKeyBehavior: .throttle(for: .zero)) {
            Issue.record("The interval is not over.")
        }
        store.cancelAll()
        await never.value
    }
}

extension TestClock {
    /// Waits until nothing sleeps: for sleeps that were cancelled on another thread.
    fileprivate func waitForNoSleepers() async throws {
        while sleeperCount > 0 { try await Task.sleep(for: .milliseconds(1)) }
    }
}
