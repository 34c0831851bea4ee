import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

/// Bodies that begin before the call that adds them has returned, on an executor that runs its jobs at once.
@Suite(.timeLimit(.minutes(15)))
struct EarlyBodyTests {
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    actor Hasty {
        enum Face: CaseIterable {
            case lifetime, throwing, bag, identifiableBag, store, waitingStore, slot, queue
        }

        private let executor = HastyExecutor()

        nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

        private var seen: [Bool] = []
        private var causes: [CancellationCause?] = []

        /// Cancels the owner, and records whether the current task is cancelled.
        private func note(_ owner: any TaskOwner) {
            seen.append(Task.isCancelled)
            owner.cancelAll()
            seen.append(Task.isCancelled)
            causes.append(Task.isCancelled ? Task.cancellationCause : nil)
        }

        /// Adds a task to an owner, whose body begins before the call that adds it has returned.
        func run(_ face: Face) async throws -> (seen: [Bool], causes: [CancellationCause?]) {
            let owner: any TaskOwner
            switch face {
            case .lifetime:
                let lifetime = AsyncLifetime()
                owner = lifetime
                lifetime.addTask { self.note(lifetime) }
            case .throwing:
                let lifetime = AsyncLifetime()
                owner = lifetime
                lifetime.addTask {
                    self.note(lifetime)
                    try Task.checkCancellation()
                } onError: { _ in
                }
            case .bag:
                let bag = TaskBag()
                owner = bag
                bag.addTask { self.note(bag) }
            case .identifiableBag:
                let bag = IdentifiableTaskBag<Int>()
                owner = bag
                bag.addTask(id: 1) { self.note(bag) }
            case .store:
                let store = TaskStore<Int>()
                owner = store
                store.addTask(forKey: 1) { self.note(store) }
            case .waitingStore:
                let store = TaskStore<Int>()
                owner = store
                store.addTask(forKey: 1, duplicateKeyBehavior: .wait) { self.note(store) }
            case .slot:
                let slot = TaskSlot()
                owner = slot
                slot.addTask { self.note(slot) }
            case .queue:
                let queue = CancellableQueue(underlyingQueue: FIFOQueue())
                owner = queue
                _ = Task(on: queue) { () async throws in self.note(queue) }
            }
            try await owner.drain()
            #expect(owner.count == 0 && owner.isEmpty)
            return (seen, causes)
        }
    }

    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    @Test(arguments: Hasty.Face.allCases)
    func aBodyThatCancelsItsOwnerSeesItAtOnce(_ face: Hasty.Face) async throws {
        let (seen, causes) = try await Hasty().run(face)
        #expect(seen == [false, true])
        #expect(causes == [.requested(reason: nil)])
    }

    /// The bodies begin on another thread, before or after the call that adds them has attached their handles.
    @Test(.enabled(if: Simulation.isSupported))
    func aBodyThatBeginsOnAnotherThreadSeesItAtOnce() async throws {
        final class Screen: Sendable {}
        let seeds = UInt64(0)..<UInt64(fullSize(400, inDebug: 40))
        try await offThePool {
            try simulate(seeds: seeds, strategy: .random.withEarlyStarts()) { _ in
                let (lifetime, store, screen) = (AsyncLifetime(), TaskStore<Int>(), Screen())
                let log = OrderRecorder<Bool>()
                @Sendable func note(_ owner: any TaskOwner) {
                    owner.cancelAll()
                    log.record(Task.isCancelled)
                }
                lifetime.addTask { note(lifetime) }
                lifetime.run(for: screen, work: { note(lifetime) }, deliver: { _, _ in })
                store.addTask(forKey: 1) { note(store) }
                store.run(forKey: 2, for: screen, work: { note(store) }, deliver: { _, _ in })
                try await lifetime.drain()
                try await store.drain()
                try #require(!log.events.contains(false))
            }
        }
    }
}
