import Observation
import Testing

@testable import TaskControl

@Suite(.timeLimit(.minutes(1)))
struct TaskStoreObservationTests {
    /// Opens when what was read in `body` has changed.
    private func change(of body: () -> Void) -> Gate {
        let changed = Gate()
        withObservationTracking(body) { changed.open() }
        return changed
    }

    @Test func countRunningKeysAndTaskIsRunningAreObservable() async throws {
        guard #available(macOS 14, iOS 17, tvOS 17, watchOS 10, *) else { return }
        let (store, gate) = (TaskStore<Int>(), Gate())
        let added = [
            change { _ = store.count }, change { _ = store.runningKeys }, change { _ = store.taskIsRunning(forKey: 1) },
        ]
        store.addTask(forKey: 1) { await gate.wait() }
        #expect(added.filter(\.isOpen).count == 3)
        let ended = [
            change { _ = store.count }, change { _ = store.runningKeys }, change { _ = store.taskIsRunning(forKey: 1) },
        ]
        gate.open()
        for change in ended { await change.wait() }
        try await store.drain()
        #expect(store.count == 0 && store.runningKeys == [] && !store.taskIsRunning(forKey: 1))
    }

    @Test func cancellingIsAChange() {
        let (store, gate) = (TaskStore<Int>(), Gate())
        store.addTask(forKey: 1) { await gate.waitIgnoringCancellation() }
        let changed = change { _ = store.taskIsRunning(forKey: 1) }
        store.cancelTask(forKey: 1)
        #expect(changed.isOpen && !store.taskIsRunning(forKey: 1))
        gate.open()
    }

    @Test func cancellingAllIsAChange() async throws {
        let store = TaskStore<Int>()
        store.addTask(forKey: 1) { await Gate().wait() }
        let changed = change { _ = store.count }
        store.cancelAll()
        #expect(changed.isOpen)
        try await store.drain()
    }

    @Test func aTaskThatLeavesBeforeItsTurnIsAChange() async throws {
        let clock = ManualClock()
        let (store, gate) = (TaskStore<Int>(clock: clock), Gate())
        store.addTask(forKey: 1) { await gate.wait() }
        // Parked, about to be, or not begun: whatever it is, it leaves; and one that sleeps.
        for behavior in [TaskStoreDuplicateKeyBehavior.wait, .debounce(for: .seconds(1))] {
            let waiting = store.addTask(forKey: 1, duplicateKeyBehavior: behavior) {}
            if behavior.isDebounce { await clock.hasSlept(1) }
            let changed = change { _ = store.count }
            waiting.cancel()
            await waiting.value
            #expect(changed.isOpen && store.count == 1)
        }
        gate.open()
        try await store.drain()
    }

    @Test func theEndOfAQuietTimeIsAChangeIfItCancelsWhatRan() async throws {
        let clock = ManualClock()
        let (store, gate) = (TaskStore<Int>(clock: clock), Gate())
        store.addTask(forKey: 1) { await gate.waitIgnoringCancellation() }
        let debounced = store.addTask(forKey: 1, duplicateKeyBehavior: .debounce(for: .seconds(1))) {
            await gate.wait()
        }
        await clock.hasSlept(1)
        let changed = change { _ = store.count }
        clock.advance(by: .seconds(1))
        await changed.wait()
        #expect(store.count == 1)
        gate.open()
        await debounced.value
        try await store.drain()
    }

    @Test func cancellingWhatIsNotThereIsNoChange() {
        let store = TaskStore<Int>()
        let changed = change { _ = store.count }
        store.cancelAll()
        store.cancelTask(forKey: 1)
        #expect(!changed.isOpen)
    }

    /// An observer is told after the change: when it looks again, it sees the new state, on whatever thread that came about.
    @Test func anObserverThatLooksAgainSeesTheNewState() {
        let (store, gate, seen) = (TaskStore<Int>(), Gate(), Log<Int>())
        withObservationTracking {
            _ = store.count
        } onChange: {
            seen.append(store.count)
        }
        store.addTask(forKey: 1) { await gate.wait() }
        #expect(seen.values == [1])
        gate.open()
    }

    /// `onChange` is called again for what it changes itself before it returns, as with any observable object; once is enough here.
    @Test func anObserverMayCallTheStore() async throws {
        let (store, once) = (TaskStore<Int>(), Gate())
        withObservationTracking {
            _ = store.count
        } onChange: {
            guard !once.isOpen else { return }
            once.open()
            store.addTask(forKey: 2) {}
            store.cancelTask(forKey: 1)
        }
        store.addTask(forKey: 1) { await Gate().wait() }
        try await store.drain()
        #expect(store.count == 0)
    }
}
