import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

/// The name that an instance is given stands in each event that has it for its owner.
@Suite(.timeLimit(.minutes(15)))
struct OwnerNameTests {
    private actor Log {}

    /// The events of owners, by what they are, without their names; and which names those had.
    private func check(
        _ name: String?,
        _ primitives: Set<TaskEvent.Primitive>,
        _ body: () async throws -> Void,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let events = try await EventLog.events { try await body() }.filter { $0.owner != nil }
        #expect(Set(events.map(\.primitive)) == primitives, sourceLocation: sourceLocation)
        #expect(Set(events.map(\.ownerName)) == [name], sourceLocation: sourceLocation)
        #expect(events.contains { $0.kind == .created }, sourceLocation: sourceLocation)
        #expect(events.contains { $0.kind == .deallocated }, sourceLocation: sourceLocation)
    }

    @Test(arguments: ["an owner", nil]) func ofALifetime(_ name: String?) async throws {
        try await check(name, [.asyncLifetime, .asyncTask]) {
            let (lifetime, gate) = (AsyncLifetime(name: name), Gate())
            #expect(lifetime.name == name)
            let task = AsyncTask { try await gate.wait() }.bind(to: lifetime)
            lifetime.run(for: gate) {
                1
            } deliver: { _, _ in
            }
            gate.open()
            await task.value
            try await lifetime.drain()
            AsyncTask { await gate.waitIgnoringCancellation() }.bind(to: lifetime)
            lifetime.close()
        }
    }

    @Test(arguments: ["an owner", nil]) func ofBags(_ name: String?) async throws {
        try await check(name, [.taskBag]) {
            let bag = TaskBag(name: name)
            #expect(bag.name == name)
            bag.addTask {}
            try await bag.drain()
            bag.cancel()
        }
        try await check(name, [.identifiableTaskBag]) {
            let (bag, gate) = (IdentifiableTaskBag<Int>(name: name), Gate())
            #expect(bag.name == name)
            for _ in 0..<2 { bag.addTask(id: 1) { try? await gate.wait() } }
            bag.cancel(id: 1)
            try await bag.drain()
        }
    }

    @Test(arguments: ["an owner", nil]) func ofAStore(_ name: String?) async throws {
        try await check(name, [.taskStore]) {
            let store = TaskStore<Int>(name: name)
            #expect(store.name == name)
            for _ in 0..<3 { store.addTask(forKey: 1, duplicateKeyBehavior: .keepLatest) {} }
            try await store.drain()
            store.cancelAll()
        }
    }

    @Test(arguments: ["an owner", nil]) func ofASlot(_ name: String?) async throws {
        let events = await EventLog.events {
            let slot = TaskSlot(name: name)
            #expect(slot.name == name)
            let gate = Gate()
            let first = slot.addTask { await gate.waitIgnoringCancellation() }
            slot.addTask {}
            gate.open()
            await first.value
            try? await slot.drain()
        }
        let ofSlots = events.filter { $0.primitive == .taskSlot && $0.ownerName == name }
        #expect(ofSlots.contains { $0.kind == .added } && ofSlots.allSatisfy { $0.key == nil })
        #expect(ofSlots.contains { $0.kind == .cancelled && $0.detail == "superseded" })
    }

    @Test(arguments: ["an owner", nil]) func ofQueuesAndTheirGroups(_ name: String?) async throws {
        try await check(name, [.fifoQueue, .cancellableQueue]) {
            let queue = CancellableQueue(underlyingQueue: FIFOQueue(name: name))
            await Task(on: queue) {}.value
            try await queue.drain()
            queue.cancelTasks()
        }
        try await check(name, [.concurrentQueue, .cancellableQueue]) {
            let queue = CancellableQueue(underlyingQueue: ConcurrentQueue(name: name, maxConcurrentTasks: 2))
            await Task(on: queue) {}.value
            try await queue.drain()
            queue.cancelTasks()
        }
        try await check(name, [.actorQueue, .cancellableQueue]) {
            let (log, actors) = (Log(), ActorQueue<Log>(name: name))
            actors.adoptExecutionContext(of: log)
            let queue = CancellableQueue(underlyingQueue: actors)
            await Task(on: queue) { _ in }.value
            queue.cancelTasks()
        }
    }

    @Test(arguments: ["an owner", nil]) func ofFlights(_ name: String?) async throws {
        try await check(name, [.singleFlight]) {
            let flights = SingleFlight<Int, Int>(name: name)
            #expect(flights.name == name)
            _ = try await flights.value(for: 1) { 1 }
            flights.cancelAll()
        }
    }

    @Test(arguments: ["an owner", nil]) func ofASemaphore(_ name: String?) async throws {
        try await check(name, [.asyncSemaphore]) {
            let semaphore = AsyncSemaphore(name: name, value: 1)
            #expect(semaphore.name == name)
            try await semaphore.withPermit {}
            try await semaphore.acquire()
            semaphore.release()
            _ = semaphore.tryAcquire()
            semaphore.release()
        }
    }
}
