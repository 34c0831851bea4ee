import Observation
import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

/// Calls of other threads, of observers and of the `deinit` of keys while tasks are added.
extension TaskStoreTests {
    /// An observer asks for a task with the same key while the first is being created: its handle does not exist yet.
    @Test(arguments: [false, true]) @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    func aTaskThatIsBeingCreatedIsStoodForByOneThatEndsWithItAndCancelsIt(isCancelling: Bool) async throws {
        let (store, started, gate, log) = (TaskStore<String>(), Gate(), Gate(), OrderRecorder<String>())
        let (once, follower) = (Gate(), OrderRecorder<Task<Void, Never>>())
        withObservationTracking {
            _ = store.count
        } onChange: {
            guard !once.isOpen else { return }
            once.open()
            follower.record(store.addTask(forKey: "key", duplicateKeyBehavior: .preferPrevious) { log.record("never") })
        }
        let followed = store.addTask(forKey: "key", duplicateKeyBehavior: .preferPrevious) {
            started.open()
            try? await gate.wait()
            log.record("ends, cancelled: \(Task.isCancelled)")
        }
        try? await started.wait()
        #expect(follower.events.count == 1 && follower.events[0] != followed)
        // No task is registered after it: only its own cancellation affects it.
        #expect(store.count == 1)
        let latest = store.addTask(forKey: "key", duplicateKeyBehavior: .keepLatest) { log.record("latest") }
        #expect(store.count == 2 && !followed.isCancelled && !follower.events[0].isCancelled)
        if isCancelling { follower.events[0].cancel() } else { gate.open() }
        await follower.events[0].value
        await followed.value
        await latest.value
        #expect(log.events == ["ends, cancelled: \(isCancelling)", "latest"])
        try await store.drain()
    }

    /// An observer cancels it between its entry in the books and its creation; and its actor runs it at once, before its handle is there.
    @Test @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    func aTaskThatIsCancelledWhileItIsBeingCreatedNeverRuns() async throws {
        let (store, log) = (TaskStore<String>(), OrderRecorder<Bool>())
        withObservationTracking {
            _ = store.count
        } onChange: {
            store.cancelAll()
        }
        await Hasty().add(to: store, log).value
        #expect(log.events == [])
        try await store.drain()
    }

    @Test @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    func aTaskThatRunsBeforeItsHandleIsThereLeavesTheStore() async throws {
        let (store, log) = (TaskStore<String>(), OrderRecorder<Bool>())
        await Hasty().add(to: store, log).value
        #expect(log.events == [false] && store.count == 0)
        try await store.drain()
    }

    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    private actor Hasty {
        private let executor = HastyExecutor()
        nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

        func add(to store: TaskStore<String>, _ log: OrderRecorder<Bool>) -> Task<Void, Never> {
            store.addTask(forKey: "key") { self.note(Task.isCancelled, log) }
        }

        private func note(_ isCancelled: Bool, _ log: OrderRecorder<Bool>) {
            log.record(isCancelled)
        }
    }

    /// Equal keys need not be one object. None of them is released under the lock: its `deinit` may call the store.
    @Test func aKeyMayCallTheStoreWhenItGoes() async throws {
        final class Key: Hashable, Sendable {
            let store: TaskStore<Key>
            let gone: OrderRecorder<Int>
            init(_ store: TaskStore<Key>, _ gone: OrderRecorder<Int>) {
                self.store = store
                self.gone = gone
            }
            deinit { gone.record(store.count) }
            static func == (one: Key, other: Key) -> Bool { true }
            func hash(into hasher: inout Hasher) {}
        }
        let (store, gone) = (TaskStore<Key>(), OrderRecorder<Int>())
        for behavior in RegistryDriver.behaviors where !behavior.isTimed {
            let gates = [Gate(), Gate(), Gate()]
            for gate in gates {
                store.addTask(forKey: Key(store, gone), duplicateKeyBehavior: behavior) { try? await gate.wait() }
            }
            for gate in gates {
                gate.open()
                store.cancelTask(forKey: Key(store, gone))
            }
            try await store.drain()
        }
        #expect(store.runningKeys.isEmpty && gone.events.count == 36)
    }

    /// Many threads add, cancel and look at the same few keys; afterwards everything has ended and nothing is left.
    @Test(arguments: 0..<8 as Range<UInt64>)
    func nothingIsLostUnderContention(seed: UInt64) async throws {
        let store = TaskStore<Int>()
        await withTaskGroup { group in
            for worker in 0..<4 as Range<UInt64> {
                group.addTask {
                    var random = SeededGenerator(seed: seed * 100 + worker)
                    for _ in 0..<500 {
                        let key = Int(random.next() % 3)
                        switch random.next() % 8 {
                        case 0: store.cancelTask(forKey: key)
                        case 1: _ = store.runningKeys
                        default:
                            let behavior = RegistryDriver.behaviors.filter { !$0.isTimed }
                                .randomElement(using: &random)!
                            let task = store.addTask(forKey: key, duplicateKeyBehavior: behavior) {}
                            if random.next() % 4 == 0 { task.cancel() }
                            if random.next() % 16 == 0 { await task.value }
                        }
                    }
                }
            }
        }
        try await store.drain()
        #expect(store.count == 0 && store.runningKeys.isEmpty)
    }
}
