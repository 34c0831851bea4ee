import Observation
import TaskControlTesting
import Testing

@testable import TaskControl

@Suite(.timeLimit(.minutes(15)))
struct TaskStoreObservationTests {
    /// Opens when what was read in `body` has changed.
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    private func change(of body: () -> Void) -> Gate {
        let changed = Gate()
        withObservationTracking(body) { changed.open() }
        return changed
    }

    @Test @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    func countRunningKeysAndTaskIsRunningAreObservable() async throws {
        let (store, gate) = (TaskStore<Int>(), Gate())
        let added = [
            change { _ = store.count }, change { _ = store.runningKeys }, change { _ = store.taskIsRunning(forKey: 1) },
        ]
        store.addTask(forKey: 1) { try? await gate.wait() }
        #expect(added.filter(\.isOpen).count == 3)
        let ended = [
            change { _ = store.count }, change { _ = store.runningKeys }, change { _ = store.taskIsRunning(forKey: 1) },
        ]
        gate.open()
        for change in ended { try? await change.wait() }
        try await store.drain()
        #expect(store.count == 0 && store.runningKeys == [] && !store.taskIsRunning(forKey: 1))
    }

    @Test @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    func cancellingIsAChange() {
        let (store, gate) = (TaskStore<Int>(), Gate())
        store.addTask(forKey: 1) { await gate.waitIgnoringCancellation() }
        let changed = change { _ = store.taskIsRunning(forKey: 1) }
        store.cancelTask(forKey: 1)
        #expect(changed.isOpen && !store.taskIsRunning(forKey: 1))
        gate.open()
    }

    /// The number of tasks stays the same: the task that ends was cancelled before.
    @Test @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    func aTaskThatReceivesThePlaceOfACancelledOneIsAChange() async throws {
        let (store, begun, gate, next) = (TaskStore<Int>(maxConcurrentTasks: 1), Gate(), Gate(), Gate())
        store.addTask(forKey: 1) {
            begun.open()
            await gate.waitIgnoringCancellation()
        }
        store.addTask(forKey: 2) { try? await next.wait() }
        try await begun.wait()
        store.cancelTask(forKey: 1)
        let changed = change { _ = store.taskIsRunning(forKey: 2) }
        gate.open()
        try await changed.wait()
        #expect(store.taskIsRunning(forKey: 2) && !store.taskIsWaiting(forKey: 2))
        next.open()
        try await store.drain()
    }

    /// The number of tasks stays the same: a task that waits is replaced by one that starts.
    @MainActor @Test @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    func aTaskThatStartsInPlaceOfAWaitingOneIsAChange() async throws {
        let store = TaskStore<Int>(clock: TestClock())
        // No task begins before this function waits.
        store.addTask(forKey: 1, duplicateKeyBehavior: .debounce(for: .seconds(1))) { @MainActor in }
        let (starts, waits) = (
            change { _ = store.taskIsRunning(forKey: 1) }, change { _ = store.taskIsWaiting(forKey: 1) }
        )
        #expect(store.taskIsWaiting(forKey: 1))
        store.addTask(forKey: 1) { @MainActor in }
        #expect(store.taskIsRunning(forKey: 1) && !store.taskIsWaiting(forKey: 1) && store.count == 1)
        #expect(starts.isOpen && waits.isOpen)
        try await store.drain()
    }

    @Test @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    func cancellingAllIsAChange() async throws {
        let store = TaskStore<Int>()
        store.addTask(forKey: 1) { try? await Gate().wait() }
        let changed = change { _ = store.count }
        store.cancelAll()
        #expect(changed.isOpen)
        try await store.drain()
    }

    @Test @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    func aTaskThatLeavesBeforeItsTurnIsAChange() async throws {
        let clock = TestClock()
        let (store, gate) = (TaskStore<Int>(clock: clock), Gate())
        store.addTask(forKey: 1) { try? await gate.wait() }
        // Parked, about to be, or not begun: whatever it is, it leaves; and one that sleeps.
        for behavior in [TaskStoreDuplicateKeyBehavior.wait, .debounce(for: .seconds(1))] {
            let waiting = store.addTask(forKey: 1, duplicateKeyBehavior: behavior) {}
            if behavior.isTimed { try await clock.waitForSleepers() }
            let changed = change { _ = store.count }
            waiting.cancel()
            await waiting.value
            #expect(store.count == 1)
            // Observers are notified outside the cancellation handler.
            try await changed.wait()
        }
        gate.open()
        try await store.drain()
    }

    /// Its cancellation takes a task out of its place at once, and not only when it is next given a thread.
    @MainActor @Test @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    func theCancellationOfAParkedTaskIsAChange() async throws {
        let (store, gate, log) = (TaskStore<Int>(), Gate(), OrderRecorder<Int>())
        store.addTask(forKey: 1) { try? await gate.wait() }
        let waiting = store.addTask(forKey: 1, duplicateKeyBehavior: .wait) { log.record(1) }
        // Enqueued on this actor after the two of them, which have begun, and parked, before it does.
        await Task {}.value
        let changed = change { _ = store.count }
        waiting.cancel()
        #expect(store.count == 1)
        try await changed.wait()
        await waiting.value
        gate.open()
        try await store.drain()
        #expect(log.events == [])
    }

    @Test @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    func theEndOfAQuietTimeIsAChangeIfItCancelsWhatRan() async throws {
        let clock = TestClock()
        let (store, gate) = (TaskStore<Int>(clock: clock), Gate())
        store.addTask(forKey: 1) { await gate.waitIgnoringCancellation() }
        let debounced = store.addTask(forKey: 1, duplicateKeyBehavior: .debounce(for: .seconds(1))) {
            try? await gate.wait()
        }
        try await clock.waitForSleepers()
        let changed = change { _ = store.count }
        await clock.advance(by: .seconds(1))
        try? await changed.wait()
        #expect(store.count == 1)
        gate.open()
        await debounced.value
        try await store.drain()
    }

    @Test @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    func cancellingWhatIsNotThereIsNoChange() {
        let store = TaskStore<Int>()
        let changed = change { _ = store.count }
        store.cancelAll()
        store.cancelTask(forKey: 1)
        #expect(!changed.isOpen)
    }

    /// An observer is notified after the change: when it looks again, it sees the new state, on any thread.
    @Test @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    func anObserverThatLooksAgainSeesTheNewState() {
        let (store, gate, seen) = (TaskStore<Int>(), Gate(), OrderRecorder<Int>())
        withObservationTracking {
            _ = store.count
        } onChange: {
            seen.record(store.count)
        }
        store.addTask(forKey: 1) { try? await gate.wait() }
        #expect(seen.events == [1])
        gate.open()
    }

    /// `onChange` is called again for what it changes itself before it returns, as with any observable object; once is enough here.
    @Test @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    func anObserverMayCallTheStore() async throws {
        let (store, once) = (TaskStore<Int>(), Gate())
        withObservationTracking {
            _ = store.count
        } onChange: {
            guard !once.isOpen else { return }
            once.open()
            store.addTask(forKey: 2) {}
            store.cancelTask(forKey: 1)
        }
        store.addTask(forKey: 1) { try? await Gate().wait() }
        try await store.drain()
        #expect(store.count == 0)
    }

    @Test @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    func aTaskThatWaitsForAQuietTimeDoesNotRun() async throws {
        let clock = TestClock()
        let (slot, gate) = (TaskSlot(behavior: .debounce(for: .seconds(1)), clock: clock), Gate())
        #expect(!slot.isRunning && !slot.isWaiting)
        let task = slot.addTask { try? await gate.wait() }
        try await clock.waitForSleepers()
        #expect(!slot.isRunning && slot.isWaiting && slot.count == 1)
        // The number of tasks stays the same: the change is that the task no longer waits.
        let (begins, stopsWaiting) = (change { _ = slot.isRunning }, change { _ = slot.isWaiting })
        await clock.advance(by: .seconds(1))
        try await begins.wait()
        try await stopsWaiting.wait()
        #expect(slot.isRunning && !slot.isWaiting)
        let ends = change { _ = slot.isRunning }
        gate.open()
        await task.value
        try await ends.wait()
        #expect(!slot.isRunning && slot.isEmpty)
    }

    @Test @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    func aTaskThatWaitsForACancelledOneRunsWhenThatHasEnded() async throws {
        let (store, gate, next) = (TaskStore<Int>(), Gate(), Gate())
        store.addTask(forKey: 1) { await gate.waitIgnoringCancellation() }
        try await gate.waitForWaiters()
        store.addTask(forKey: 1, duplicateKeyBehavior: .cancelPrevious(wait: true)) { try? await next.wait() }
        #expect(!store.taskIsRunning(forKey: 1) && store.taskIsWaiting(forKey: 1))
        #expect(store.runningKeys.isEmpty && store.count == 1)
        let begins = change { _ = store.taskIsRunning(forKey: 1) }
        gate.open()
        try await begins.wait()
        #expect(store.taskIsRunning(forKey: 1) && !store.taskIsWaiting(forKey: 1) && store.runningKeys == [1])
        next.open()
        try await store.drain()
    }

    @Test @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    func aTaskThatWaitsForAnIntervalDoesNotRun() async throws {
        let clock = TestClock()
        let (slot, gate) = (TaskSlot(behavior: .throttle(for: .seconds(1)), clock: clock), Gate())
        await slot.addTask {}.value
        try await clock.waitForSleepers()
        let task = slot.addTask { try? await gate.wait() }
        #expect(!slot.isRunning && slot.isWaiting)
        let begins = change { _ = slot.isRunning }
        await clock.advance(by: .seconds(1))
        try await begins.wait()
        #expect(slot.isRunning && !slot.isWaiting)
        gate.open()
        await task.value
    }

    @Test @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    func aLifetimeIsObservable() async throws {
        let (lifetime, gate) = (AsyncLifetime(), Gate())
        let added = [change { _ = lifetime.count }, change { _ = lifetime.isEmpty }]
        lifetime.addTask { try? await gate.wait() }
        #expect(added.filter(\.isOpen).count == 2 && !lifetime.isEmpty)
        let ended = change { _ = lifetime.isEmpty }
        gate.open()
        try await ended.wait()
        #expect(lifetime.isEmpty)
    }
}
