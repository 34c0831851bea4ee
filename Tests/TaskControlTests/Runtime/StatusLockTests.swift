import Foundation
import TaskControl
import TaskControlTesting
import TestSupport
import Testing

/// A cancellation on one thread and an escalation on another, of tasks that wait for each other, on two real threads. The runtime calls handlers
/// under the status lock of their task; a handler that acts on another task takes that task's lock too, and the two threads deadlock. A
/// simulation has one thread and cannot find this.
@Suite(.serialized, .tags(.large))
struct StatusLockTests {
    enum Form: CaseIterable {
        case queueTasks, queueRun, queueDrain, cancelTasks, actorQueue, parentAndChild, semaphore
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test(.timeLimit(.minutes(15)), arguments: Form.allCases)
    func aCancellationAndAnEscalationAtTheSameMomentDoNotDeadlock(_ form: Form) async throws {
        let isOver = Gate()
        Thread.detachNewThread {
            var generator = SeededGenerator(seed: 1)
            let pair = ThreadPair()
            for _ in 0..<rounds(fullSize(300, inDebug: 60)) {
                let race = Race(form)
                pair.run(offset: Int.random(in: -400...400, using: &generator), race.cancel, race.escalate)
                race.end()
            }
            pair.end()
            isOver.open()
        }
        // A deadlock ends this at the time limit.
        try await isOver.wait()
    }
}

extension StatusLockTests {
    /// Each of two tasks is inside a time limit, and has a handler that cancels the other one. Both limits pass at the same moment.
    @Test(.timeLimit(.minutes(15)))
    func twoLimitsWhoseOperationsCancelEachOthersOwnersDoNotDeadlock() async {
        for _ in 0..<rounds(fullSize(3_000, inDebug: 500)) {
            let owners = [AsyncLifetime(), AsyncLifetime()]
            let (limits, inside) = ([Gate(), Gate()], [Gate(), Gate()])
            for index in 0..<2 {
                owners[index].addTask {
                    try? await withTimeout(.seconds(1), clock: GateClock(gate: limits[index])) {
                        await withTaskCancellationHandler {
                            while !Task.isCancelled { try? await inside[index].wait() }
                        } onCancel: {
                            owners[1 - index].cancelAll()
                        }
                    }
                }
            }
            for gate in limits + inside { try? await gate.waitForWaiters() }
            await withTaskGroup { group in
                for gate in limits { group.addTask { gate.open() } }
            }
            for owner in owners { try? await owner.drain() }
        }
    }
}

/// A clock whose sleep ends when a gate is opened.
private struct GateClock: Clock {
    let gate: Gate
    var now: ContinuousClock.Instant { .now }
    var minimumResolution: Duration { .nanoseconds(1) }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws { try await gate.wait() }
}

/// The work of both threads, with everything set up for it.
@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
private struct Race {
    var cancel: @Sendable () -> Void = {}
    var escalate: @Sendable () -> Void = {}
    /// Lets all tasks end, and blocks until they have.
    var end: () -> Void = {}

    init(_ form: StatusLockTests.Form) {
        switch form {
        case .queueTasks: queueTasks()
        case .queueRun: queueRun()
        case .queueDrain: queueDrain()
        case .cancelTasks: cancelTasks()
        case .actorQueue: actorQueue()
        case .parentAndChild: parentAndChild()
        case .semaphore: semaphore()
        }
    }

    /// `a` has been called and its actor is busy; `b` waits behind it.
    private mutating func queueTasks() {
        let (queue, actor, runner) = (FIFOQueue(), HeldActor.held(), Runner())
        Task(priority: .medium, on: queue) { await runner.park() }
        let a = Task(priority: .medium, on: queue, isolatedTo: actor) { (_: isolated HeldActor) async throws in }
        let b = Task(priority: .medium, on: queue, isolatedTo: actor) { (_: isolated HeldActor) async throws in }
        actor.runAll(2)
        runner.resume()
        actor.executor.blockUntilHeld()
        (cancel, escalate) = ({ a.cancel() }, { b.escalatePriority(to: .high) })
        end = { actor.end { _ = await (a.result, b.result) } }
    }

    private mutating func queueRun() {
        let (queue, actor, runner) = (FIFOQueue(), HeldActor.held(), Runner())
        Task(priority: .medium, on: queue) { await runner.park() }
        let a = Task(priority: .medium) { try? await actor.run(queue) }
        actor.executor.blockUntilHeld()
        actor.executor.runHeld()
        let b = Task(priority: .medium) { try? await actor.run(queue) }
        actor.executor.blockUntilHeld()
        actor.executor.runHeld()
        runner.resume()
        actor.executor.blockUntilHeld()
        (cancel, escalate) = ({ a.cancel() }, { b.escalatePriority(to: .high) })
        end = { actor.end { _ = await (a.result, b.result) } }
    }

    /// `a` is the last in line; `b` waits for its end.
    private mutating func queueDrain() {
        let (queue, actor, other, runner) = (FIFOQueue(), HeldActor.held(), HeldActor.held(), Runner())
        Task(priority: .medium, on: queue) { await runner.park() }
        let a = Task(priority: .medium, on: queue, isolatedTo: actor) { (_: isolated HeldActor) async throws in }
        actor.runAll(1)
        let b = Task(priority: .medium) { try? await other.drain(queue) }
        other.runAll(1)
        runner.resume()
        actor.executor.blockUntilHeld()
        (cancel, escalate) = ({ a.cancel() }, { b.escalatePriority(to: .high) })
        end = {
            other.executor.release()
            actor.end { _ = await (a.result, b.result) }
        }
    }

    private mutating func cancelTasks() {
        let (group, actor, runner) = (CancellableQueue(underlyingQueue: FIFOQueue()), HeldActor.held(), Runner())
        Task(priority: .medium, on: group) { await runner.park() }
        let a = Task(priority: .medium, on: group, isolatedTo: actor) { (_: isolated HeldActor) async throws in }
        let b = Task(priority: .medium, on: group, isolatedTo: actor) { (_: isolated HeldActor) async throws in }
        actor.runAll(2)
        runner.resume()
        actor.executor.blockUntilHeld()
        (cancel, escalate) = ({ group.cancelTasks() }, { b.escalatePriority(to: .high) })
        end = { actor.end { _ = await (a.result, b.result) } }
    }

    /// The first is late, so that `a` and `b` have come before it and wait.
    private mutating func actorQueue() {
        let (queue, actor) = (ActorQueue<HeldActor>(), HeldActor.held())
        queue.adoptExecutionContext(of: actor)
        _ = Task(priority: .medium, on: queue) { (_: isolated HeldActor) async throws in }
        let a = Task(priority: .medium, on: queue) { (_: isolated HeldActor) async throws in }
        let b = Task(priority: .medium, on: queue) { (_: isolated HeldActor) async throws in }
        actor.executor.blockUntilHeld(3)
        actor.executor.runHeld(at: 1)
        actor.executor.runHeld(at: 1)
        actor.executor.runHeld()
        actor.executor.blockUntilHeld()
        (cancel, escalate) = ({ a.cancel() }, { b.escalatePriority(to: .high) })
        end = { actor.end { _ = await (a.result, b.result) } }
    }

    /// A task waits in line, and behind it its own child. Escalating the parent escalates the child; escalating the child escalates what is
    /// before it in line, which is the parent.
    private mutating func parentAndChild() {
        let (queue, actor, other, runner) = (FIFOQueue(), HeldActor.held(), HeldActor.held(), Runner())
        Task(priority: .medium, on: queue) { await runner.park() }
        let child = Child()
        let parent = Task(priority: .medium) {
            async let second: Void = other.run(queue, as: child)
            try? await actor.run(queue)
            _ = try? await second
        }
        other.executor.blockUntilHeld()
        actor.runAll(1)
        other.executor.runHeld()
        (cancel, escalate) = ({ child.escalate() }, { parent.escalatePriority(to: .high) })
        end = {
            other.executor.release()
            runner.resume()
            actor.end { _ = await parent.result }
        }
    }

    /// A child asks for more than there is, its parent waits behind it: the child's cancellation grants the parent its permit.
    private mutating func semaphore() {
        let (semaphore, actor, other) = (AsyncSemaphore(value: 2), HeldActor.held(), HeldActor.held())
        _ = semaphore.tryAcquire()
        let child = Child()
        let parent = Task(priority: .medium) {
            async let first: Void = other.acquire(2, of: semaphore, as: child)
            try? await actor.acquire(1, of: semaphore)
            _ = try? await first
        }
        other.runAll(1)
        actor.runAll(1)
        (cancel, escalate) = ({ child.cancel() }, { parent.escalatePriority(to: .high) })
        end = {
            other.executor.release()
            actor.end { _ = await parent.result }
        }
    }
}

/// A child task, which has no handle. Used only while it lives.
@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
private final class Child: @unchecked Sendable {
    // Under the lock; the task itself may be cancelled and escalated from anywhere.
    private let task = Locked<UnsafeCurrentTask?>(nil)

    func begin() {
        withUnsafeCurrentTask { current in
            nonisolated(unsafe) let current = current
            task.withLock { $0 = current }
        }
    }

    func cancel() { task.withLock { $0 }?.cancel() }

    func escalate() { task.withLock { $0 }?.escalatePriority(to: .high) }
}

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
extension HeldActor {
    fileprivate func run(_ queue: FIFOQueue, as child: Child) async throws {
        child.begin()
        try await queue.run {}
    }

    fileprivate func acquire(_ count: Int, of semaphore: AsyncSemaphore, as child: Child) async throws {
        child.begin()
        try await semaphore.acquire(count)
    }
}
