import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

/// A store that limits how many of its tasks run.
@Suite(.timeLimit(.minutes(15)))
struct TaskStoreLimitTests {
    /// Adds a task that runs until its gate is open, whatever happens.
    @discardableResult
    private func add(
        _ key: Int,
        to store: TaskStore<Int>,
        _ behavior: TaskStoreDuplicateKeyBehavior = .cancelPrevious(wait: false),
        until gate: Gate,
        _ log: OrderRecorder<Int>? = nil
    ) -> Task<Void, Never> {
        store.addTask(forKey: key, duplicateKeyBehavior: behavior) {
            log?.record(key)
            await gate.waitIgnoringCancellation()
        }
    }

    @Test func atMostTheGivenNumberRunsAndEachTaskSaysWhetherItWaits() async throws {
        let (store, gates) = (TaskStore<Int>(maxConcurrentTasks: 2), (0..<5).map { _ in Gate() })
        let tasks = gates.indices.map { add($0, to: store, until: gates[$0]) }
        #expect(store.runningKeys == [0, 1] && store.count == 5)
        #expect((0..<5).map(store.taskIsRunning) == [true, true, false, false, false])
        #expect((0..<5).map(store.taskIsWaiting) == [false, false, true, true, true])
        gates[1].open()
        await tasks[1].value
        #expect(store.runningKeys == [0, 2] && store.taskIsWaiting(forKey: 3))
        for gate in gates { gate.open() }
        try await store.drain()
        #expect(store.isEmpty && store.runningKeys == [])
    }

    @Test func tasksStartInTheOrderOfTheCallsWhateverTheirPriorities() async throws {
        let (store, gate, log) = (TaskStore<Int>(maxConcurrentTasks: 1), Gate(), OrderRecorder<Int>())
        add(0, to: store, until: gate, log)
        for key in 1..<50 {
            store.addTask(forKey: key, priority: [.background, .high, .medium][key % 3]) {
                log.record(key)
                await Task.yield()
            }
        }
        gate.open()
        try await store.drain()
        #expect(log.events == Array(0..<50))
    }

    @Test func aCancelledTaskThatWaitsLeavesAtOnceAndNeverRuns() async throws {
        let (store, gate, log) = (TaskStore<Int>(maxConcurrentTasks: 1), Gate(), OrderRecorder<Int>())
        add(0, to: store, until: gate, log)
        let (byKey, byHandle, last) = (
            add(1, to: store, until: gate, log), add(2, to: store, until: gate, log),
            add(3, to: store, until: gate, log)
        )
        store.cancelTask(forKey: 1)
        byHandle.cancel()
        // The first task runs: these two wait for no other.
        await byKey.value
        await byHandle.value
        #expect(store.count == 2 && store.taskIsWaiting(forKey: 3))
        gate.open()
        await last.value
        #expect(log.events == [0, 3])
    }

    /// The work of a cancelled task uses what the limit protects until it has ended.
    @Test func aTaskThatIsCancelledWhileItRunsCountsUntilItHasEnded() async throws {
        let (store, gate, log) = (TaskStore<Int>(maxConcurrentTasks: 1), Gate(), OrderRecorder<Int>())
        let running = add(0, to: store, until: gate, log)
        try await log.waitForEvents(count: 1)
        store.cancelTask(forKey: 0)
        let next = add(0, to: store, until: gate, log)
        #expect(!store.taskIsRunning(forKey: 0) && store.taskIsWaiting(forKey: 0))
        gate.open()
        await running.value
        await next.value
        #expect(log.events == [0, 0] && store.isEmpty)
    }

    /// A task that has not begun gives its place up when it is replaced, and the place goes to the new task of its key.
    @MainActor @Test func theNewTaskOfAKeyReceivesThePlaceOfTheOneThatItReplaces() async throws {
        let (store, log) = (TaskStore<Int>(maxConcurrentTasks: 1), OrderRecorder<String>())
        // None begins before this function waits.
        for (key, name) in [(0, "replaced"), (1, "one"), (0, "zero")] {
            store.addTask(forKey: key) { @MainActor in log.record(name) }
        }
        #expect(store.taskIsRunning(forKey: 0) && store.taskIsWaiting(forKey: 1))
        try await store.drain()
        #expect(log.events == ["zero", "one"])
    }

    @Test func aTaskInLineIsAWaitingTaskForTheBehaviors() async throws {
        let (store, gate, log) = (TaskStore<Int>(maxConcurrentTasks: 1), Gate(), OrderRecorder<String>())
        add(0, to: store, until: gate)
        let stale = store.addTask(forKey: 1, duplicateKeyBehavior: .keepLatest) { log.record("stale") }
        store.addTask(forKey: 1, duplicateKeyBehavior: .keepLatest) { log.record("latest") }
        await stale.value
        let preferred = store.addTask(forKey: 2, duplicateKeyBehavior: .preferPrevious) { log.record("first") }
        let other = store.addTask(forKey: 2, duplicateKeyBehavior: .preferPrevious) { log.record("second") }
        #expect(preferred == other && store.count == 3)
        gate.open()
        try await store.drain()
        #expect(log.events == ["latest", "first"])
    }

    @Test func aDebouncedTaskIsInLineWhenItsQuietTimeIsOver() async throws {
        let (clock, gate, log) = (TestClock(), Gate(), OrderRecorder<String>())
        let store = TaskStore<Int>(maxConcurrentTasks: 1, clock: clock)
        add(0, to: store, until: gate)
        store.addTask(forKey: 1, duplicateKeyBehavior: .debounce(for: .seconds(1))) { log.record("old") }
        try await clock.waitForSleepers()
        store.addTask(forKey: 2) { log.record("other") }
        let changed = store.addTask(forKey: 1, duplicateKeyBehavior: .debounce(for: .seconds(1))) { log.record("new") }
        try await clock.waitForSleepers()
        await clock.advance(by: .seconds(1), waking: 1)
        let newest = store.addTask(forKey: 1, duplicateKeyBehavior: .debounce(for: .seconds(1))) {
            log.record("newest")
        }
        // Whether its quiet time was over or not: it has not started, and is replaced.
        await changed.value
        try await clock.waitForSleepers()
        gate.open()
        await clock.advance(by: .seconds(1), waking: 1)
        await newest.value
        #expect(log.events == ["other", "newest"])
    }

    @Test func aThrottledTaskBeginsItsIntervalWhenItBegins() async throws {
        let (clock, gate, log) = (TestClock(), Gate(), OrderRecorder<Int>())
        let store = TaskStore<Int>(maxConcurrentTasks: 1, clock: clock)
        add(0, to: store, until: gate)
        let throttled = (1...3).map { number in
            store.addTask(forKey: 1, duplicateKeyBehavior: .throttle(for: .seconds(1))) { log.record(number) }
        }
        await throttled[1].value
        gate.open()
        await throttled[0].value
        #expect(log.events == [1] && store.taskIsWaiting(forKey: 1))
        try await clock.waitForSleepers()
        await clock.advance(by: .seconds(1), waking: 1)
        await throttled[2].value
        #expect(log.events == [1, 3])
        // The interval of the last one.
        await clock.advance(by: .seconds(1))
    }

    /// A waiting task raises those that run and those before it: they wait until they have been raised.
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func aTaskInLineRaisesTheTasksThatItWaitsFor() async throws {
        let (store, log) = (TaskStore<Int>(maxConcurrentTasks: 2), OrderRecorder<Int>())
        for key in 0..<4 {
            store.addTask(forKey: key, priority: .background) {
                await untilRaised(to: .high)
                log.record(key)
            }
        }
        await store.addTask(forKey: 4, priority: .high) { log.record(4) }.value
        // The last of the others may run beside it, and end before or after it.
        #expect(try #require(log.events.firstIndex(of: 4)) >= 3, "all but one have ended")
        try await store.drain()
        #expect(Set(log.events) == Set(0..<5))
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func aRiseOfATaskInLineIsPassedOn() async throws {
        let (store, begun) = (TaskStore<Int>(maxConcurrentTasks: 1), Gate())
        store.addTask(forKey: 0, priority: .background) {
            begun.open()
            await untilRaised(to: .high)
        }
        try await begun.wait()
        let waiting = store.addTask(forKey: 1, priority: .background) {}
        waiting.escalatePriority(to: .high)
        await waiting.value
    }

    @Test func aNumberThatIsTooSmallCountsAsOne() async throws {
        for limit in [0, -1, Int.min] {
            let (store, gate) = (TaskStore<Int>(maxConcurrentTasks: limit), Gate())
            add(0, to: store, until: gate)
            add(1, to: store, until: gate)
            #expect(store.runningKeys == [0])
            gate.open()
            try await store.drain()
        }
        let all = TaskStore<Int>(maxConcurrentTasks: .max)
        let gate = Gate()
        for key in 0..<100 { add(key, to: all, until: gate) }
        #expect(all.runningKeys.count == 100)
        gate.open()
        try await all.drain()
    }

    @Test func closingCancelsTheTasksInLineAndAShutdownLetsThemRun() async throws {
        let (store, gate, log) = (TaskStore<Int>(maxConcurrentTasks: 1), Gate(), OrderRecorder<Int>())
        for key in 0..<3 { add(key, to: store, until: gate, log) }
        try await log.waitForEvents(count: 1)
        store.close()
        #expect(store.isEmpty)
        gate.open()
        try await store.drain()
        #expect(log.events == [0])
        let other = TaskStore<Int>(maxConcurrentTasks: 1)
        for key in 0..<3 { add(key, to: other, until: gate, log) }
        await other.shutdown(grace: .seconds(60), clock: TestClock())
        #expect(log.events == [0, 0, 1, 2])
    }

    /// The store may be deallocated before its tasks have ended.
    @Test func aStoreThatIsDeallocatedStartsNoTaskInLine() async throws {
        let (gate, log) = (Gate(), OrderRecorder<Int>())
        var store: TaskStore<Int>? = TaskStore(maxConcurrentTasks: 1)
        let tasks = (0..<3).map { add($0, to: store!, until: gate, log) }
        try await log.waitForEvents(count: 1)
        store = nil
        await tasks[1].value
        await tasks[2].value
        gate.open()
        await tasks[0].value
        #expect(log.events == [0])
    }

    @Test func manyTasksThroughALimitLeaveNothingBehind() async throws {
        let (store, log) = (TaskStore<Int>(maxConcurrentTasks: 3), OrderRecorder<Int>())
        for key in 0..<2_000 { store.addTask(forKey: key) { log.record(key) } }
        try await store.drain()
        #expect(log.count == 2_000 && store.registry.state.withLock { $0.machine.capacity } <= 256)
    }
}
