import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

/// The result of each function that adds a task to a closed owner. For a lifetime: `AsyncLifetimeTests`.
@Suite(.timeLimit(.minutes(15)))
struct ClosedOwnerTests {
    private actor Log {}

    // MARK: Bags

    @Test func aClosedBagStartsNothingAndCancelsTasksThatItIsGiven() async throws {
        let (bag, log) = (TaskBag(), OrderRecorder<String>())
        bag.close()
        bag.addTask { log.record("task") }
        bag.addDetachedTask { log.record("detached task") }
        let task = Task<Void, Never> { try? await Gate().wait() }
        task.stored(in: bag)
        #expect(task.isCancelled && bag.isEmpty)
        await task.value
        #expect(log.events == [])
    }

    @Test func aClosedBagOfIDsReturnsFalseAndCancelsTasksThatItIsGiven() async throws {
        let (bag, log) = (IdentifiableTaskBag<Int>(), OrderRecorder<String>())
        bag.close()
        #expect(!bag.addTask(id: 1) { log.record("task") })
        #expect(!bag.addDetachedTask(id: 2) { log.record("detached task") })
        let task = Task<Void, Never> { try? await Gate().wait() }
        #expect(!task.stored(in: bag, id: 3))
        #expect(task.isCancelled && bag.isEmpty && !bag.contains(1) && !bag.contains(3))
        await task.value
        #expect(log.events == [])
    }

    // MARK: Stores

    @Test(
        arguments: [
            .cancelPrevious(wait: true), .wait, .runConcurrently, .preferPrevious, .keepLatest,
            .debounce(for: .seconds(1)),
        ] as [TaskStoreDuplicateKeyBehavior]
    )
    func aClosedStoreReturnsACancelledTaskThatNeverRunsItsOperation(
        _ behavior: TaskStoreDuplicateKeyBehavior
    ) async throws {
        let (store, gate, log) = (TaskStore<Int>(clock: TestClock()), Gate(), OrderRecorder<String>())
        // Cancelled, and still there when the next one is refused.
        store.addTask(forKey: 1) { await gate.waitIgnoringCancellation() }
        store.close()
        let task = store.addTask(forKey: 1, duplicateKeyBehavior: behavior) { log.record("task") }
        let run = store.run(forKey: 1, duplicateKeyBehavior: behavior, for: gate) {
            log.record("work")
        } deliver: { _, _ in
            log.record("deliver")
        }
        #expect(task.isCancelled && run.isCancelled && store.isEmpty && !store.taskIsRunning(forKey: 1))
        await task.value
        _ = await run.value
        gate.open()
        try await store.drain()
        #expect(log.events == [])
    }

    @Test func inTheGracePeriodOfAShutdownWaitingTasksOfAStoreGetTheirTurn() async throws {
        let (store, gate, clock, log) = (TaskStore<Int>(), Gate(), TestClock(), OrderRecorder<String>())
        store.addTask(forKey: 1) {
            try? await gate.wait()
            log.record("first")
        }
        store.addTask(forKey: 1, duplicateKeyBehavior: .wait) { log.record("second") }
        let shutdown = Task { await store.shutdown(grace: .seconds(5), clock: clock) }
        try await clock.waitForSleepers()
        store.addTask(forKey: 1, duplicateKeyBehavior: .wait) { log.record("never") }
        gate.open()
        _ = await shutdown.value
        #expect(log.events == ["first", "second"])
    }

    // MARK: Queues

    @Test func aClosedQueueCancelsWhatIsSentAndRunsOnlyOperationsThatCannotThrow() async throws {
        let (queue, log) = (CancellableQueue(underlyingQueue: FIFOQueue()), OrderRecorder<String>())
        queue.close()
        let throwing = Task(on: queue) { () async throws in log.record("never") }
        let owed = Task(on: queue) { Task.isCancelled }
        #expect(throwing.isCancelled && owed.isCancelled && queue.isEmpty)
        await #expect(throws: CancellationError.self) { try await throwing.value }
        #expect(await owed.value)
        #expect(log.events == [])
        try await queue.drain()
    }

    @Test func aClosedQueueOfAnActorCancelsWhatIsSentAndRunsOnlyOperationsThatCannotThrow() async throws {
        let (actor, log) = (Log(), OrderRecorder<String>())
        let actors = ActorQueue<Log>()
        actors.adoptExecutionContext(of: actor)
        let queue = CancellableQueue(underlyingQueue: actors)
        queue.close()
        let throwing = Task(on: queue) { (_: isolated Log) async throws in log.record("never") }
        let owed = Task(on: queue) { _ in Task.isCancelled }
        #expect(throwing.isCancelled && owed.isCancelled && queue.isEmpty)
        await #expect(throws: CancellationError.self) { try await throwing.value }
        #expect(await owed.value)
        #expect(log.events == [])
        withExtendedLifetime(actor) {}
    }

    @Test func aRefusedTaskGivesItsPlaceInLineToTheNextOne() async throws {
        let (line, begun, gate) = (FIFOQueue(), Gate(), Gate())
        let queue = CancellableQueue(underlyingQueue: line)
        queue.close()
        let first = Task(on: line) {
            begun.open()
            await gate.waitIgnoringCancellation()
        }
        try await begun.wait()
        let refused = Task(on: queue) { () async throws in }
        let next = Task(on: line) { Task.isCancelled }
        // Fails while it waits: the first is still at work.
        await #expect(throws: CancellationError.self) { try await refused.value }
        gate.open()
        await first.value
        #expect(await !next.value)
        try await line.drain()
    }

    /// The job of the task runs before the sender has the handle that it cancels.
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    private actor Hasty {
        private let executor = HastyExecutor()

        nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

        func send(on queue: CancellableQueue<FIFOQueue>) -> Task<Bool, Never> {
            Task(on: queue) {
                _ = self
                return Task.isCancelled
            }
        }
    }

    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    @Test func anOperationThatStartsBeforeItsSenderHasTheHandleSeesThatTheQueueIsClosed() async {
        let queue = CancellableQueue(underlyingQueue: FIFOQueue())
        queue.close()
        #expect(await Hasty().send(on: queue).value)
    }

    @Test func aRefusedTaskOfAQueueIsReported() async throws {
        let events = await EventLog.events {
            let queue = CancellableQueue(underlyingQueue: FIFOQueue())
            queue.close()
            await Task(name: "late", on: queue) {}.value
        }
        let refused = events.filter { event in
            event.primitive == .cancellableQueue && event.kind == .refused
        }
        #expect(refused.map(\.taskName) == ["late"])
    }
}
