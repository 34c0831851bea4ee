import Foundation
import TaskControl
import TaskControlTesting
import TestSupport
import Testing

/// A cancellation on one thread and an escalation on another, of tasks that wait for each other, on two real threads. The runtime calls handlers
/// under the status lock of their task; a handler that acts on another task takes that task's lock too, and the two threads deadlock. A
/// simulation has one thread and cannot find this.
@Suite(.serialized)
struct StatusLockTests {
    enum Form: CaseIterable {
        case queueTasks, queueRun, queueDrain, cancelTasks, actorQueue, parentAndChild, semaphore
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test(.timeLimit(.minutes(5)), arguments: Form.allCases)
    func aCancellationAndAnEscalationAtTheSameMomentDoNotDeadlock(_ form: Form) async throws {
        let isOver = Gate()
        Thread.detachNewThread {
            var generator = SeededGenerator(seed: 1)
            let pair = ThreadPair()
            for _ in 0..<rounds(300) {
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

/// What both threads do, with everything set up for it.
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
        let (queue, actor, runner) = (FIFOQueue(), held(), Runner())
        Task(priority: .low, on: queue) { await runner.park() }
        let a = Task(priority: .low, on: queue, isolatedTo: actor) { (_: isolated HeldActor) async throws in }
        let b = Task(priority: .low, on: queue, isolatedTo: actor) { (_: isolated HeldActor) async throws in }
        runAll(2, on: actor)
        runner.resume()
        actor.executor.blockUntilHeld()
        (cancel, escalate) = ({ a.cancel() }, { b.escalatePriority(to: .high) })
        end = { Self.end(actor) { _ = await (a.result, b.result) } }
    }

    private mutating func queueRun() {
        let (queue, actor, runner) = (FIFOQueue(), held(), Runner())
        Task(priority: .low, on: queue) { await runner.park() }
        let a = Task(priority: .low) { try? await actor.run(queue) }
        actor.executor.blockUntilHeld()
        actor.executor.runHeld()
        let b = Task(priority: .low) { try? await actor.run(queue) }
        actor.executor.blockUntilHeld()
        actor.executor.runHeld()
        runner.resume()
        actor.executor.blockUntilHeld()
        (cancel, escalate) = ({ a.cancel() }, { b.escalatePriority(to: .high) })
        end = { Self.end(actor) { _ = await (a.result, b.result) } }
    }

    /// `a` is the last in line; `b` waits for its end.
    private mutating func queueDrain() {
        let (queue, actor, other, runner) = (FIFOQueue(), held(), held(), Runner())
        Task(priority: .low, on: queue) { await runner.park() }
        let a = Task(priority: .low, on: queue, isolatedTo: actor) { (_: isolated HeldActor) async throws in }
        runAll(1, on: actor)
        let b = Task(priority: .low) { try? await other.drain(queue) }
        runAll(1, on: other)
        runner.resume()
        actor.executor.blockUntilHeld()
        (cancel, escalate) = ({ a.cancel() }, { b.escalatePriority(to: .high) })
        end = {
            other.executor.release()
            Self.end(actor) { _ = await (a.result, b.result) }
        }
    }

    private mutating func cancelTasks() {
        let (group, actor, runner) = (CancellableQueue(underlyingQueue: FIFOQueue()), held(), Runner())
        Task(priority: .low, on: group) { await runner.park() }
        let a = Task(priority: .low, on: group, isolatedTo: actor) { (_: isolated HeldActor) async throws in }
        let b = Task(priority: .low, on: group, isolatedTo: actor) { (_: isolated HeldActor) async throws in }
        runAll(2, on: actor)
        runner.resume()
        actor.executor.blockUntilHeld()
        (cancel, escalate) = ({ group.cancelTasks() }, { b.escalatePriority(to: .high) })
        end = { Self.end(actor) { _ = await (a.result, b.result) } }
    }

    /// The first is late, so that `a` and `b` have come before it and wait.
    private mutating func actorQueue() {
        let (queue, actor) = (ActorQueue<HeldActor>(), held())
        queue.adoptExecutionContext(of: actor)
        Task(priority: .low, on: queue) { (_: isolated HeldActor) async throws in }
        let a = Task(priority: .low, on: queue) { (_: isolated HeldActor) async throws in }
        let b = Task(priority: .low, on: queue) { (_: isolated HeldActor) async throws in }
        actor.executor.blockUntilHeld(3)
        actor.executor.runHeld(at: 1)
        actor.executor.runHeld(at: 1)
        actor.executor.runHeld()
        actor.executor.blockUntilHeld()
        (cancel, escalate) = ({ a.cancel() }, { b.escalatePriority(to: .high) })
        end = { Self.end(actor) { _ = await (a.result, b.result) } }
    }

    /// A task waits in line, and behind it its own child. Escalating the parent escalates the child; escalating the child escalates what is
    /// before it in line, which is the parent.
    private mutating func parentAndChild() {
        let (queue, actor, other, runner) = (FIFOQueue(), held(), held(), Runner())
        Task(priority: .low, on: queue) { await runner.park() }
        let child = Child()
        let parent = Task(priority: .low) {
            async let second: Void = other.run(queue, as: child)
            try? await actor.run(queue)
            _ = try? await second
        }
        other.executor.blockUntilHeld()
        runAll(1, on: actor)
        other.executor.runHeld()
        (cancel, escalate) = ({ child.escalate() }, { parent.escalatePriority(to: .high) })
        end = {
            other.executor.release()
            runner.resume()
            Self.end(actor) { _ = await parent.result }
        }
    }

    /// A child asks for more than there is, its parent waits behind it: the child's cancellation grants the parent its permit.
    private mutating func semaphore() {
        let (semaphore, actor, other) = (AsyncSemaphore(value: 2), held(), held())
        _ = semaphore.tryAcquire()
        let child = Child()
        let parent = Task(priority: .low) {
            async let first: Void = other.acquire(2, of: semaphore, as: child)
            try? await actor.acquire(1, of: semaphore, as: nil)
            _ = try? await first
        }
        runAll(1, on: other)
        runAll(1, on: actor)
        (cancel, escalate) = ({ child.cancel() }, { parent.escalatePriority(to: .high) })
        end = {
            other.executor.release()
            Self.end(actor) { _ = await parent.result }
        }
    }

    private func held() -> HeldActor {
        let actor = HeldActor()
        actor.executor.hold()
        return actor
    }

    private func runAll(_ count: Int, on actor: HeldActor) {
        actor.executor.blockUntilHeld(count)
        for _ in 0..<count { actor.executor.runHeld() }
    }

    private static func end(_ actor: HeldActor, _ wait: @escaping @Sendable () async -> Void) {
        let isOver = DispatchSemaphore(value: 0)
        actor.executor.release()
        Task.detached {
            await wait()
            isOver.signal()
        }
        isOver.wait()
    }
}

/// A task that runs until a thread resumes it.
private final class Runner: Sendable {
    private let continuation = Locked<UnsafeContinuation<Void, Never>?>(nil)
    private let isParked = DispatchSemaphore(value: 0)

    func park() async {
        await withUnsafeContinuation { continuation in
            self.continuation.withLock { $0 = continuation }
            isParked.signal()
        }
    }

    func resume() {
        isParked.wait()
        continuation.withLock { $0.take() }?.resume()
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
    fileprivate func run(_ queue: FIFOQueue, as child: Child? = nil) async throws {
        child?.begin()
        try await queue.run {}
    }

    fileprivate func drain(_ queue: FIFOQueue) async throws { try await queue.drain() }

    fileprivate func acquire(_ count: Int, of semaphore: AsyncSemaphore, as child: Child?) async throws {
        child?.begin()
        try await semaphore.acquire(count)
    }
}
