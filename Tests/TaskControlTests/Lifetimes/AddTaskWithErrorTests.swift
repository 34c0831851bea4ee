import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

/// Owners that start tasks which may throw, and tasks that are given to a lifetime or a set.
@Suite(.timeLimit(.minutes(15)))
struct AddTaskWithErrorTests {
    /// Starts a task in each type of owner.
    private static let owners:
        [@Sendable (@escaping @Sendable () async throws -> Void, @escaping @Sendable (any Error) async -> Void) ->
            any TaskOwner] = [
                { operation, onError in
                    let owner = TaskBag()
                    owner.addTask {
                        try await operation()
                    } onError: {
                        await onError($0)
                    }
                    return owner
                },
                { operation, onError in
                    let owner = IdentifiableTaskBag<Int>()
                    owner.addTask(id: 1) {
                        try await operation()
                    } onError: {
                        await onError($0)
                    }
                    return owner
                },
                { operation, onError in
                    let owner = TaskStore<Int>()
                    owner.addTask(forKey: 1) {
                        try await operation()
                    } onError: {
                        await onError($0)
                    }
                    return owner
                },
                { operation, onError in
                    let owner = AsyncLifetime()
                    owner.addTask {
                        try await operation()
                    } onError: {
                        await onError($0)
                    }
                    return owner
                },
                { operation, onError in
                    let owner = TaskSlot()
                    owner.addTask {
                        try await operation()
                    } onError: {
                        await onError($0)
                    }
                    return owner
                },
            ]

    @Test(arguments: owners.indices) func theHandlerReceivesTheErrorBeforeTheTaskHasEnded(_ index: Int) async throws {
        let (error, gate, received) = (MarkedError(), Gate(), OrderRecorder<MarkedError>())
        let owner = Self.owners[index]({ throw error }) { error in
            await gate.waitIgnoringCancellation()
            if let error = error as? MarkedError { received.record(error) }
        }
        #expect(owner.count == 1)
        gate.open()
        try await owner.drain()
        #expect(received.events == [error])
    }

    @Test(arguments: owners.indices) func theHandlerReceivesNoErrorOfACancelledTask(_ index: Int) async throws {
        let (gate, received) = (Gate(), OrderRecorder<Bool>())
        let owner = Self.owners[index]({ try await gate.wait() }) { _ in received.record(true) }
        try await gate.waitForWaiters()
        owner.cancelAll()
        try await owner.drain()
        #expect(received.events == [])
    }

    @Test @MainActor func operationAndHandlerRunWhereTheyAreWritten() async throws {
        let (lifetime, steps) = (AsyncLifetime(), OrderRecorder<Int>())
        lifetime.addTask {
            MainActor.assertIsolated()
            steps.record(1)
            throw MarkedError()
        } onError: { _ in
            MainActor.assertIsolated()
            steps.record(2)
        }
        try await lifetime.drain()
        #expect(steps.events == [1, 2])
    }

    @Test func aClosedLifetimeReturnsACancelledTask() async throws {
        let (lifetime, ran) = (AsyncLifetime(), OrderRecorder<Bool>())
        lifetime.close()
        let task = lifetime.addTask { ran.record(true) }
        await task.value
        #expect(task.isCancelled && ran.events == [])
    }

    // MARK: Tasks of others

    @Test func aTaskOfAnyTypeCanBeBoundToALifetime() async throws {
        let (lifetime, gate) = (AsyncLifetime(), Gate())
        let number = Task { () async throws -> Int in
            try await gate.wait()
            return 7
        }
        .bind(to: lifetime)
        #expect(lifetime.count == 1)
        lifetime.cancelAll()
        await #expect(throws: CancellationError.self) { try await number.value }
        try await lifetime.drain()
        #expect(lifetime.count == 0)
    }

    @Test func aBoundTaskLeavesItsLifetimeWhenItEnds() async throws {
        let lifetime = AsyncLifetime()
        let task = Task { 7 }.bind(to: lifetime)
        #expect(await task.value == 7)
        try await lifetime.drain()
        #expect(lifetime.isEmpty)
    }

    @Test func aClosedLifetimeCancelsATaskThatIsBound() async {
        let lifetime = AsyncLifetime()
        lifetime.close()
        let gate = Gate()
        let task = Task { await gate.waitIgnoringCancellation() }.bind(to: lifetime)
        #expect(task.isCancelled && lifetime.count == 0)
        gate.open()
        await task.value
    }

    @Test func aStoredTaskIsCancelledWithItsSet() async throws {
        var cancellables: Set<AnyCancellable> = []
        let gate = Gate()
        let task = Task { try await gate.wait() }.store(in: &cancellables)
        try await gate.waitForWaiters()
        cancellables.cancelAll()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(cancellables.isEmpty)
    }

    // MARK: Keys

    @Test func theTasksOfSomeKeysAreCancelled() async throws {
        let (store, gate) = (TaskStore<Int>(), Gate())
        let tasks = (0..<6).map { key in
            store.addTask(forKey: key) { await gate.waitIgnoringCancellation() }
        }
        store.cancelAll { $0.isMultiple(of: 2) }
        #expect(store.runningKeys == [1, 3, 5])
        #expect(tasks.map(\.isCancelled) == [true, false, true, false, true, false])
        gate.open()
        try await store.drain()
    }

    @Test func aSlotHasOneTaskAtATime() async throws {
        let (slot, gate) = (TaskSlot(name: "search"), Gate())
        let first = slot.addTask { await gate.waitIgnoringCancellation() }
        let second = slot.addTask { await gate.waitIgnoringCancellation() }
        #expect(first.isCancelled && !second.isCancelled)
        #expect(slot.isRunning && slot.count == 1 && slot.name == "search")
        slot.cancelAll()
        #expect(!slot.isRunning)
        gate.open()
        try await slot.drain()
    }

    @Test func aSlotFollowsItsBehavior() async throws {
        let (slot, gate, order) = (TaskSlot(behavior: .wait), Gate(), OrderRecorder<Int>())
        slot.addTask {
            await gate.waitIgnoringCancellation()
            order.record(1)
        }
        slot.addTask { order.record(2) }
        gate.open()
        try await slot.drain()
        #expect(order.events == [1, 2])
    }

    @Test func aSlotThatIsReleasedCancelsItsTask() async throws {
        let gate = Gate()
        var slot: TaskSlot? = TaskSlot()
        let task = slot?.addTask { await gate.waitIgnoringCancellation() }
        slot = nil
        #expect(task?.isCancelled == true)
        gate.open()
        await task?.value
    }

    @Test func aSlotPassesAResultToItsOwner() async throws {
        final class Model: Sendable {
            let results = OrderRecorder<Int>()
        }
        let (model, slot) = (Model(), TaskSlot())
        _ = await slot.run(for: model) {
            7
        } deliver: { model, result in
            model.results.record(result)
        }.value
        #expect(model.results.events == [7])
    }

    @Test func aBehaviorSaysWhatItDoes() {
        typealias Behavior = TaskStoreDuplicateKeyBehavior
        let rows: [(Behavior, prefers: Bool, cancels: Bool, waits: Bool)] = [
            (.wait, false, false, true), (.cancelPrevious(wait: true), false, true, true),
            (.cancelPrevious(wait: false), false, true, false), (.runConcurrently, false, false, false),
            (.preferPrevious, true, false, true), (.keepLatest, false, false, true),
            (.debounce(for: .seconds(1)), false, true, false),
            (.debounce(for: .seconds(1), then: .keepLatest), false, false, true),
        ]
        for (behavior, prefers, cancels, waits) in rows {
            #expect(behavior.preferPrevious == prefers && behavior.runNewTask == !prefers)
            #expect(behavior.cancelPrevious == cancels && behavior.waitForPrevious == waits)
        }
    }

    /// Starts a task without a handler in each type of owner that accepts one.
    private static let withoutHandler: [@Sendable (@escaping @Sendable () async throws -> Void) -> Task<Void, Never>] =
        [
            { operation in AsyncLifetime.kept.addTask { try await operation() } },
            { operation in
                TaskStore<Int>.kept.addTask(forKey: 1, duplicateKeyBehavior: .runConcurrently) { try await operation() }
            },
            { operation in TaskSlot.kept.addTask { try await operation() } },
        ]

    @Test(arguments: withoutHandler.indices) func anErrorWithoutAHandlerIsReported(_ index: Int) async throws {
        let (error, incidents) = (MarkedError("without a handler, \(index)"), Incidents.shared)
        await Self.withoutHandler[index]({ throw error }).value
        #expect(incidents.unhandled(error).count == 1)
    }

    @Test(arguments: withoutHandler.indices) func theErrorOfACancelledTaskIsNotReported(_ index: Int) async throws {
        let (error, gate) = (MarkedError("cancelled, \(index)"), Gate())
        let start = Self.withoutHandler[index]
        let task = start {
            await gate.waitIgnoringCancellation()
            throw error
        }
        try await gate.waitForWaiters()
        task.cancel()
        gate.open()
        await task.value
        #expect(Incidents.shared.unhandled(error).isEmpty)
    }
}

extension AsyncLifetime {
    fileprivate static let kept = AsyncLifetime()
}

extension TaskStore<Int> {
    fileprivate static var kept: TaskStore<Int> { keptStore }
}

private let keptStore = TaskStore<Int>()

extension TaskSlot {
    fileprivate static let kept = TaskSlot(behavior: .runConcurrently)
}
