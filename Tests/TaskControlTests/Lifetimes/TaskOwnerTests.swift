import TaskControlTesting
import Testing

@testable import TaskControl

/// The behavior that all owners share, through ``TaskOwner``.
@Suite(.timeLimit(.minutes(15)))
struct TaskOwnerTests {
    /// An owner, and the way to add a task to it.
    struct Face: Sendable, CustomTestStringConvertible {
        let owner: any TaskOwner
        let add: @Sendable (@escaping @Sendable () async -> Void) -> Void

        var testDescription: String { "\(type(of: owner))" }
    }

    actor Log {}

    static let log = Log()

    /// One owner of each type, with the same name.
    static func faces() -> [Face] {
        let (lifetime, bag) = (AsyncLifetime(name: "owner"), TaskBag(name: "owner"))
        let (identifiableBag, store) = (IdentifiableTaskBag<Int>(name: "owner"), TaskStore<Int>(name: "owner"))
        let queue = CancellableQueue(underlyingQueue: ConcurrentQueue(name: "owner", maxConcurrentTasks: 10))
        let actors = ActorQueue<Log>(name: "owner")
        actors.adoptExecutionContext(of: log)
        let actorQueue = CancellableQueue(underlyingQueue: actors)
        let ids = OrderRecorder<Int>()
        @Sendable func nextID() -> Int {
            ids.record(0)
            return ids.events.count
        }
        return [
            Face(owner: lifetime) { body in AsyncTask { await body() }.bind(to: lifetime) },
            Face(owner: bag) { body in bag.addTask { await body() } },
            Face(owner: identifiableBag) { body in identifiableBag.addTask(id: nextID()) { await body() } },
            Face(owner: store) { body in store.addTask(forKey: nextID()) { await body() } },
            Face(owner: queue) { body in _ = Task(on: queue) { () async throws in await body() } },
            Face(owner: actorQueue) { body in
                _ = Task(on: actorQueue) { (_: isolated Log) async throws in await body() }
            },
        ]
    }

    // MARK: Every owner

    @Test(arguments: faces()) func cancelAllCancelsEveryTaskAndTheOwnerStaysOpen(_ face: Face) async throws {
        let (owner, gate, log) = (face.owner, Gate(), OrderRecorder<Bool>())
        #expect(owner.name == "owner" && owner.count == 0 && owner.isEmpty)
        let started = [Gate(), Gate()]
        for gate in started {
            face.add {
                gate.open()
                try? await Gate().wait()
                log.record(Task.isCancelled)
            }
        }
        for gate in started { try await gate.wait() }
        #expect(owner.count == 2 && !owner.isEmpty)
        owner.cancelAll()
        #expect(owner.count == 0 && owner.isEmpty)
        try await owner.drain()
        #expect(log.events == [true, true])
        let ran = Gate()
        face.add {
            ran.open()
            try? await gate.wait()
            log.record(Task.isCancelled)
        }
        try await ran.wait()
        #expect(owner.count == 1)
        gate.open()
        try await owner.drain()
        #expect(owner.isEmpty && log.events == [true, true, false])
    }

    @Test(arguments: faces()) func aClosedOwnerCancelsItsTasksAndStartsNoOtherOperation(_ face: Face) async throws {
        let (owner, started, log) = (face.owner, Gate(), OrderRecorder<String>())
        face.add {
            started.open()
            try? await Gate().wait()
            log.record("cancelled: \(Task.isCancelled)")
        }
        try await started.wait()
        owner.close()
        #expect(owner.isEmpty)
        owner.close()
        // A task of a lifetime starts before it is bound, so it can be refused only while it waits.
        if !(owner is AsyncLifetime) { face.add { log.record("never") } }
        #expect(owner.isEmpty)
        try await owner.drain()
        await owner.shutdown(grace: .seconds(5))
        #expect(log.events == ["cancelled: true"])
    }

    @Test(arguments: faces()) func aCancelledDrainReturnsAndTheTasksGoOn(_ face: Face) async throws {
        let (owner, gate, log) = (face.owner, Gate(), OrderRecorder<Bool>())
        face.add {
            await gate.waitIgnoringCancellation()
            log.record(Task.isCancelled)
        }
        let drain = Task { try await owner.drain() }
        drain.cancel()
        await #expect(throws: CancellationError.self) { try await drain.value }
        gate.open()
        try await owner.drain()
        #expect(log.events == [false])
    }

    @Test(arguments: faces()) func shutdownWaitsForTheTasksThatEndWithinItsGracePeriod(_ face: Face) async throws {
        let (owner, gate, clock, log) = (face.owner, Gate(), TestClock(), OrderRecorder<String>())
        face.add {
            try? await gate.wait()
            log.record("ended, cancelled: \(Task.isCancelled)")
        }
        let shutdown = Task { await owner.shutdown(grace: .seconds(5), clock: clock) }
        try await clock.waitForSleepers()
        #expect(owner.count == 1)
        if !(owner is AsyncLifetime) { face.add { log.record("never") } }
        gate.open()
        _ = await shutdown.value
        #expect(owner.isEmpty && log.events == ["ended, cancelled: false"])
    }

    @Test(arguments: faces()) func shutdownCancelsTheTasksThatOutlastItsGracePeriod(_ face: Face) async throws {
        let (owner, started, clock, log) = (face.owner, Gate(), TestClock(), OrderRecorder<String>())
        face.add {
            started.open()
            try? await Gate().wait()
            log.record("ended, cancelled: \(Task.isCancelled)")
        }
        try await started.wait()
        let shutdown = Task { await owner.shutdown(grace: .seconds(5), clock: clock) }
        try await clock.waitForSleepers()
        await clock.advance(by: .seconds(5))
        _ = await shutdown.value
        #expect(log.events == ["ended, cancelled: true"])
    }

    /// A server ends its parts one after another: the next is asked only when the one before has ended.
    @Test func aListOfOwnersIsShutDownInOrder() async throws {
        let (faces, log) = (Self.faces(), OrderRecorder<Int>())
        let started = faces.map { _ in Gate() }
        for (index, face) in faces.enumerated() {
            face.add {
                started[index].open()
                try? await Gate().wait()
                log.record(index)
            }
        }
        for gate in started { try await gate.wait() }
        let owners: [any TaskOwner] = faces.map(\.owner)
        for owner in owners { await owner.shutdown(grace: .zero) }
        #expect(log.events == Array(faces.indices) && owners.allSatisfy(\.isEmpty))
    }

    @Test func theOlderNamesCancelEveryTask() async throws {
        let (bag, queue) = (TaskBag(), CancellableQueue(underlyingQueue: FIFOQueue()))
        bag.addTask { try? await Gate().wait() }
        let task = Task(on: queue) { try? await Gate().wait() }
        bag.cancel()
        queue.cancelTasks()
        #expect(bag.isEmpty && queue.isEmpty && task.isCancelled)
        try await bag.drain()
        try await queue.drain()
    }

    /// A service of the user's has several owners, and is one.
    @Test func aTypeOfTheUserCanBeAnOwner() async {
        final class Service: TaskOwner {
            let (first, second) = (AsyncLifetime(), TaskBag())
            var name: String? { "service" }
            var count: Int { first.count + second.count }
            func cancelAll() { for owner in owners { owner.cancelAll() } }
            func close() { for owner in owners { owner.close() } }
            func drain() async throws(CancellationError) { for owner in owners { try await owner.drain() } }
            func shutdown(
                grace: Duration,
                waiting: WaitingWorkBehavior,
                cancellationGrace: Duration?,
                clock: any Clock<Duration>
            ) async -> ShutdownReport {
                var report = ShutdownReport()
                for owner in owners {
                    let part = await owner.shutdown(
                        grace: grace,
                        waiting: waiting,
                        cancellationGrace: cancellationGrace,
                        clock: clock
                    )
                    report.cancelled += part.cancelled
                    report.leftBehind += part.leftBehind
                }
                return report
            }
            private var owners: [any TaskOwner] { [first, second] }
        }
        let service = Service()
        service.second.addTask { try? await Gate().wait() }
        #expect(service.count == 1 && !service.isEmpty)
        #expect(await service.shutdown(grace: .zero).cancelled.count == 1)
        #expect(service.isEmpty)
    }
}
