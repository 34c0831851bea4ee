import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

/// The tasks that a new task of a key replaces, and the place that it receives from them.
@Suite(.timeLimit(.minutes(15)))
struct TaskStoreReplacementTests {
    private static let replacing: [TaskStoreDuplicateKeyBehavior] = [
        .cancelPrevious(wait: false), .cancelPrevious(wait: true), .debounce(for: .seconds(1)),
        .throttle(for: .seconds(1)),
    ]

    /// Each permit is held by a task of a key that is called again: none of them ends before it is cancelled.
    @Test(arguments: replacing, [1, 4])
    func aTaskThatReplacesARunningOneReceivesItsPlace(
        behavior: TaskStoreDuplicateKeyBehavior,
        limit: Int
    ) async throws {
        let (clock, log) = (TestClock(), OrderRecorder<Int>())
        let store = TaskStore<Int>(maxConcurrentTasks: limit, clock: clock)
        for key in 0..<limit {
            store.addTask(forKey: key) {
                log.record(key)
                try? await Gate().wait()
            }
        }
        try await log.waitForEvents(count: limit)
        store.addTask(forKey: 100) { log.record(100) }
        let newer = (0..<limit).map { key in
            store.addTask(forKey: key, duplicateKeyBehavior: behavior) { log.record(key + 10) }
        }
        if case .debounce = behavior.kind {
            try await clock.waitForSleepers(count: limit)
            #expect(store.runningKeys == Set(0..<limit), "no task ends before the quiet time is over")
            await clock.advance(by: .seconds(1), waking: limit)
        }
        for task in newer { await task.value }
        if limit == 1 { #expect(log.events.prefix(2) == [0, 10], "its place does not go to the line") }
        if case .throttle = behavior.kind {
            try await clock.waitForSleepers(count: limit)
            await clock.advance(by: .seconds(1), waking: limit)
        }
        try await store.drain()
        #expect(Set(log.events.dropFirst(limit)) == Set((10..<10 + limit) + [100]))
    }

    @Test func aThrottledTaskDoesNotEndTheRunningOneBeforeTheIntervalIsOver() async throws {
        let (clock, log) = (TestClock(), OrderRecorder<String>())
        let store = TaskStore<Int>(maxConcurrentTasks: 1, clock: clock)
        func call(_ name: String) -> Task<Void, Never> {
            store.addTask(forKey: 1, duplicateKeyBehavior: .throttle(for: .seconds(1))) {
                log.record(name)
                try? await Gate().wait()
            }
        }
        let first = call("first")
        try await log.waitForEvents(count: 1)
        try await clock.waitForSleepers()
        let second = call("second")
        await clock.advance(by: .milliseconds(999))
        #expect(!first.isCancelled && store.taskIsWaiting(forKey: 1))
        await clock.advance(by: .milliseconds(1))
        await first.value
        try await log.waitForEvents(count: 2)
        store.close()
        await second.value
        #expect(log.events == ["first", "second"])
    }

    /// A key that is called again and again while its task is in line does not move back.
    @Test(arguments: [TaskStoreDuplicateKeyBehavior.cancelPrevious(wait: false), .keepLatest, .throttle(for: .zero)])
    func aTaskThatReplacesOneInLineReceivesItsPlaceInLine(behavior: TaskStoreDuplicateKeyBehavior) async throws {
        let (store, gate, log) = (TaskStore<Int>(maxConcurrentTasks: 1), Gate(), OrderRecorder<Int>())
        store.addTask(forKey: 0) { await gate.waitIgnoringCancellation() }
        for key in 1...3 { store.addTask(forKey: key) { log.record(key) } }
        for _ in 0..<3 { store.addTask(forKey: 2, duplicateKeyBehavior: behavior) { log.record(20) } }
        gate.open()
        try await store.drain()
        if case .throttle = behavior.kind {
            // At the first of these calls, an interval begins to be claimed, and the last one waits for it.
            #expect(log.events.first == 1 && log.events.contains(20) && log.events.last != 1)
        } else {
            #expect(log.events == [1, 20, 3])
        }
    }

    /// A task that may start but has not begun, because its actor is busy, is not a running task.
    @MainActor
    @Test(arguments: [TaskStoreDuplicateKeyBehavior.keepLatest, .debounce(for: .zero)], [nil, 1])
    func aTaskThatHasNotBegunIsReplaced(behavior: TaskStoreDuplicateKeyBehavior, limit: Int?) async throws {
        let (store, log) = (TaskStore<Int>(maxConcurrentTasks: limit), OrderRecorder<String>())
        for number in 0..<3 {
            store.addTask(forKey: 1, duplicateKeyBehavior: behavior) { @MainActor in log.record("\(number)") }
        }
        #expect(store.count == 1)
        try await store.drain()
        #expect(log.events == ["2"])
    }

    /// The tasks of all keys are cancelled in one step: no place goes to a task that is cancelled next.
    @MainActor @Test func cancellingSeveralKeysStartsNoTaskOfThem() async throws {
        let (store, log) = (TaskStore<Int>(maxConcurrentTasks: 1), OrderRecorder<String>())
        // None begins before this function waits.
        for key in 0..<3 { store.addTask(forKey: key) { @MainActor in log.record("\(key)") } }
        let running = OrderRecorder<Set<Int>>()
        store.cancelAll { key in
            running.record(store.runningKeys)
            return key != 2
        }
        #expect(running.events == [[0], [0], [0]])
        try await store.drain()
        #expect(log.events == ["2"])
    }

    @MainActor @Test func anErrorOfThePredicateCancelsTheTasksOfTheKeysBefore() async throws {
        let (store, log) = (TaskStore<Int>(), OrderRecorder<Int>())
        for key in 0..<2 { store.addTask(forKey: key) { @MainActor in log.record(key) } }
        var first: Int?
        #expect(throws: CancellationError.self) {
            try store.cancelAll { key in
                if first != nil { throw CancellationError() }
                first = key
                return true
            }
        }
        try await store.drain()
        #expect(log.events == [0, 1].filter { $0 != first })
    }

    /// A task that waited for its key passes its priority on when it is in line: the other task ends when it has been raised.
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test(arguments: [TaskStoreDuplicateKeyBehavior.wait, .keepLatest, .debounce(for: .zero, then: .keepLatest)])
    func aTaskThatComesIntoLineAfterAWaitRaisesTheTasksBeforeIt(
        behavior: TaskStoreDuplicateKeyBehavior
    ) async throws {
        let (store, gate) = (TaskStore<Int>(maxConcurrentTasks: 1), Gate())
        store.addTask(forKey: 0) { await gate.waitIgnoringCancellation() }
        store.addTask(forKey: 1, priority: .background) { await untilRaised(to: .high) }
        let last = store.addTask(forKey: 0, duplicateKeyBehavior: behavior, priority: .high) {}
        gate.open()
        await last.value
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func aTaskThatComesIntoLineAfterAnIntervalRaisesTheTasksBeforeIt() async throws {
        let clock = TestClock()
        let store = TaskStore<Int>(maxConcurrentTasks: 1, clock: clock)
        await store.addTask(forKey: 0, duplicateKeyBehavior: .throttle(for: .seconds(1))) {}.value
        try await clock.waitForSleepers()
        let last = store.addTask(forKey: 0, duplicateKeyBehavior: .throttle(for: .zero), priority: .high) {}
        store.addTask(forKey: 1, priority: .background) { await untilRaised(to: .high) }
        await clock.advance(by: .seconds(1))
        await last.value
    }
}
