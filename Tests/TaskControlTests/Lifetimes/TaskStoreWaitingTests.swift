import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

/// Which of the waiting tasks of a store comes next, pauses, and the bound on how many wait.
@Suite(.timeLimit(.minutes(15)))
struct TaskStoreWaitingTests {
    private final class Owner: Sendable {}

    private let log = OrderRecorder<String>()
    private let owner = Owner()

    /// Occupies the only place of a store, until the returned gate is opened.
    private func occupy(_ store: TaskStore<String>) -> Gate {
        let gate = Gate()
        store.addTask(forKey: "first") { await gate.waitIgnoringCancellation() }
        return gate
    }

    private func add(_ keys: String..., to store: TaskStore<String>, _ priority: TaskPriority? = nil) {
        for key in keys { store.addTask(forKey: key, priority: priority) { [log] in log.record(key) } }
    }

    // MARK: The next of the waiting

    @Test func theTaskOfTheHighestPriorityStartsFirstAndOthersInTheOrderOfTheCalls() async throws {
        let store = TaskStore<String>(maxConcurrentTasks: 1, order: .priority)
        let gate = occupy(store)
        add("low 1", "low 2", to: store, .low)
        add("high 1", to: store, .high)
        add("medium", to: store, .medium)
        add("high 2", "high 3", to: store, .high)
        gate.open()
        try await store.drain()
        #expect(log.events == ["high 1", "high 2", "high 3", "medium", "low 1", "low 2"])
    }

    @Test func aTaskWithoutAPriorityHasThatOfItsCaller() async throws {
        let store = TaskStore<String>(maxConcurrentTasks: 1, order: .priority)
        let gate = occupy(store)
        add("low", to: store, .low)
        await Task(priority: .high) { add("caller", to: store) }.value
        gate.open()
        try await store.drain()
        #expect(log.events == ["caller", "low"])
    }

    @Test func theTasksOfAKeyKeepTheirOrderAlsoByPriority() async throws {
        let store = TaskStore<String>(maxConcurrentTasks: 1, order: .priority)
        let gate = occupy(store)
        for (number, priority) in [TaskPriority.low, .high, .medium].enumerated() {
            store.addTask(forKey: "album", duplicateKeyBehavior: .wait, priority: priority) { [log] in
                log.record("\(number)")
            }
        }
        gate.open()
        try await store.drain()
        #expect(log.events == ["0", "1", "2"])
    }

    @Test(arguments: [TaskStore<String>.Order.calls, .priority])
    func theTasksOfAKeyCanBeMovedToTheFront(order: TaskStore<String>.Order) async throws {
        let store = TaskStore<String>(maxConcurrentTasks: 1, order: order)
        let gate = occupy(store)
        add("high", to: store, .high)
        add("a", to: store, .low)
        for number in 1...2 {
            store.addTask(forKey: "b", duplicateKeyBehavior: .runConcurrently, priority: .low) { [log] in
                log.record("b\(number)")
            }
        }
        #expect(store.moveToFront(forKey: "a") && store.moveToFront(forKey: "b"))
        #expect(!store.moveToFront(forKey: "none") && !store.moveToFront(forKey: "first"))
        gate.open()
        try await store.drain()
        #expect(log.events == ["b1", "b2", "a", "high"])
    }

    @Test func aKeyThatWaitsForItselfIsMovedBehindThoseInFront() async throws {
        let store = TaskStore<String>(maxConcurrentTasks: 1)
        let gate = Gate()
        store.addTask(forKey: "a") { await gate.waitIgnoringCancellation() }
        add("b", "c", to: store)
        store.addTask(forKey: "a", duplicateKeyBehavior: .wait) { [log] in log.record("a") }
        #expect(store.moveToFront(forKey: "c") && store.moveToFront(forKey: "a"))
        gate.open()
        try await store.drain()
        #expect(log.events == ["c", "a", "b"])
    }

    @Test func aKeyCanHaveAHigherOrALowerPriorityLater() async throws {
        let store = TaskStore<String>(maxConcurrentTasks: 1, order: .priority)
        let gate = occupy(store)
        add("visible", "gone", "other", to: store, .medium)
        #expect(store.setPriority(.high, forKey: "visible") && store.setPriority(.low, forKey: "gone"))
        add("late", to: store, .medium)
        #expect(!store.setPriority(.high, forKey: "none"))
        gate.open()
        try await store.drain()
        #expect(log.events == ["visible", "other", "late", "gone"])
    }

    @Test func aPriorityChangesNothingInTheOrderOfTheCalls() async throws {
        let store = TaskStore<String>(maxConcurrentTasks: 1)
        let gate = occupy(store)
        add("a", "b", to: store, .low)
        #expect(store.setPriority(.high, forKey: "b"))
        gate.open()
        try await store.drain()
        #expect(log.events == ["a", "b"])
    }

    // MARK: Pausing

    @MainActor @Test(arguments: [nil, 1])
    func noTaskBeginsInAPauseAlsoNoneThatWasAboutTo(limit: Int?) async throws {
        let store = TaskStore<String>(maxConcurrentTasks: limit)
        let gate = Gate()
        store.addTask(forKey: "running") { [log] in
            log.record("running")
            await gate.waitIgnoringCancellation()
        }
        try await log.waitForEvents(count: 1)
        // Does not begin before this function waits.
        store.addTask(forKey: "about to begin") { @MainActor [log] in log.record("about to begin") }
        store.pause()
        store.pause()
        add("added", to: store)
        #expect(store.isPaused && store.runningKeys == ["running"])
        #expect(store.taskIsWaiting(forKey: "about to begin") && store.taskIsWaiting(forKey: "added"))
        gate.open()
        try await store.drain(forKey: "running")
        #expect(log.events == ["running"] && store.count == 2)
        store.resume()
        store.resume()
        try await store.drain()
        // Without a limit, they begin on two threads.
        let begun = Array(log.events.dropFirst())
        #expect((limit == nil ? begun.sorted() : begun) == ["about to begin", "added"])
        #expect(!store.isPaused)
    }

    @Test func aTaskCanPauseItsStore() async throws {
        let store = TaskStore<String>(maxConcurrentTasks: 1)
        store.addTask(forKey: "a") { [log] in
            store.pause()
            log.record("a")
        }
        add("b", to: store)
        try await store.drain(forKey: "a")
        #expect(store.taskIsWaiting(forKey: "b"))
        store.resume()
        try await store.drain()
        #expect(log.events == ["a", "b"])
    }

    @Test func closingAPausedStoreCancelsWhatWaits() async throws {
        let store = TaskStore<String>()
        store.pause()
        let task = store.run(forKey: "a", for: owner) {
            1
        } deliver: { _, _ in
            Issue.record("is cancelled")
        }
        store.close()
        guard case .cancelled = await task.value else {
            Issue.record("is cancelled")
            return
        }
        try await store.drain()
        #expect(store.isEmpty)
    }

    @Test func aDrainOfAPausedStoreEndsWithItsCaller() async throws {
        let store = TaskStore<String>()
        store.pause()
        add("a", to: store)
        await #expect(throws: TimeoutError.self) { try await withTimeout(.milliseconds(1)) { try await store.drain() } }
        #expect(store.count == 1)
        store.close()
    }

    @Test func theShutdownOfAPausedStoreEndsWithItsGrace() async throws {
        let (store, clock) = (TaskStore<String>(), TestClock())
        store.pause()
        add("a", to: store)
        let shutdown = Task { await store.shutdown(grace: .seconds(5), clock: clock) }
        try await clock.waitForSleepers()
        await clock.advance(by: .seconds(5))
        #expect(await shutdown.value.cancelled.count == 1 && log.events == [])
    }

    /// A new search replaces the running one when its quiet time is over, but not in a pause.
    @Test func aTaskThatReplacesOthersDoesSoAfterThePause() async throws {
        let (clock, gate) = (TestClock(), Gate())
        let store = TaskStore<String>(clock: clock)
        let running = store.addTask(forKey: "search") { [log] in
            log.record("old")
            await gate.waitIgnoringCancellation()
            log.record(Task.isCancelled ? "cancelled" : "not cancelled")
        }
        try await log.waitForEvents(count: 1)
        store.addTask(forKey: "search", duplicateKeyBehavior: .debounce(for: .seconds(1))) { [log] in log.record("new")
        }
        try await clock.waitForSleepers()
        store.addTask(forKey: "other", duplicateKeyBehavior: .throttle(for: .seconds(1))) { [log] in log.record("other")
        }
        store.pause()
        await clock.advance(by: .seconds(1), waking: 1)
        #expect(store.runningKeys.contains("search"))
        store.resume()
        try await log.waitForEvents(count: 2)
        gate.open()
        await running.value
        try await store.drain()
        #expect(log.events.contains("new") && log.events.contains("cancelled"))
    }

    @Test func aPauseIsReportedOnce() async throws {
        let events = EventLog.events {
            let store = TaskStore<String>()
            for _ in 0..<2 { store.pause() }
            for _ in 0..<2 { store.resume() }
        }
        #expect(events.map(\.kind) == [.created, .paused, .resumed, .deallocated])
    }

    // MARK: A bound on the waiting

    @Test func aTaskThatWouldWaitInAFullStoreFails() async throws {
        let store = TaskStore<String>(name: "outbox", maxConcurrentTasks: 1, maxWaiting: 1)
        let gate = occupy(store)
        add("waits", to: store)
        let refused = store.addTask(forKey: "refused") {
            Issue.record("is refused")
        } onError: { [log] in
            log.record("\($0)")
        }
        await refused.value
        let outcome = await store.run(forKey: "refused", for: owner) {
            1
        } deliver: { _, _ in
        }.value
        guard case .failed(let error as TaskStoreFullError) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(error == TaskStoreFullError(name: "outbox", maxWaiting: 1))
        gate.open()
        try await store.drain()
        #expect(log.events == ["\(error)", "waits"])
        // There is room again.
        await store.addTask(forKey: "later") { [log] in log.record("later") }.value
        #expect(log.events.last == "later")
    }

    @Test func theOldestCanFailInstead() async throws {
        let store = TaskStore<String>(maxConcurrentTasks: 1, maxWaiting: 2, whenFull: .dropOldest)
        let gate = occupy(store)
        for key in ["a", "b", "c", "d"] {
            store.addTask(forKey: key) { [log] in
                log.record(key)
            } onError: { [log] error in
                log.record("\(key) \(error is TaskStoreFullError)")
            }
        }
        try await log.waitForEvents(count: 2)
        gate.open()
        try await store.drain()
        #expect(Set(log.events.prefix(2)) == ["a true", "b true"] && log.events.suffix(2) == ["c", "d"])
    }

    /// The tasks that wait for an older one of their key count too.
    @Test(arguments: [0, -1])
    func aStoreInWhichNoneMayWaitRunsOneOfAKey(maxWaiting: Int) async throws {
        let store = TaskStore<String>(maxWaiting: maxWaiting)
        let gate = occupy(store)
        add("other", to: store)
        let outcome = await store.run(forKey: "first", duplicateKeyBehavior: .wait, for: owner) {
            1
        } deliver: { _, _ in
        }.value
        guard case .failed(TaskStoreFullError(name: nil, maxWaiting: 0) as TaskStoreFullError) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        gate.open()
        try await store.drain()
        #expect(log.events == ["other"])
    }

    @Test func aDebouncedTaskCountsFromTheEndOfItsQuietTime() async throws {
        let clock = TestClock()
        let store = TaskStore<String>(maxConcurrentTasks: 1, maxWaiting: 0, clock: clock)
        let gate = occupy(store)
        let task = store.addTask(forKey: "search", duplicateKeyBehavior: .debounce(for: .seconds(1))) {
            Issue.record("is refused")
        } onError: { [log] in
            log.record("\($0 is TaskStoreFullError)")
        }
        try await clock.waitForSleepers()
        #expect(store.taskIsWaiting(forKey: "search"))
        await clock.advance(by: .seconds(1))
        await task.value
        #expect(log.events == ["true"])
        gate.open()
        try await store.drain()
    }

    @Test func anUnhandledRefusalIsReported() async throws {
        let events = try await EventLog.events {
            let store = TaskStore<String>(maxConcurrentTasks: 1, maxWaiting: 0)
            let gate = occupy(store)
            await store.addTask(forKey: "refused", name: "the refused task") { Issue.record("is refused") }.value
            gate.open()
            try await store.drain()
        }
        let refusals = events.filter { $0.kind == .refused }
        #expect(refusals.count == 1 && refusals[0].subject != nil)
        #expect(events.filter { $0.kind == .unhandledError }.map(\.taskName) == ["the refused task"])
    }
}
