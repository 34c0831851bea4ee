import Foundation
import TaskControl
import TaskControlTesting
import TestSupport
import Testing

/// The races of `StatusLockTests` without chance: a handler that blocks keeps the lock of one task, and what happens to another returns all the
/// same. It would wait for that lock if it acted on the first task within its own handler.
@Suite(.serialized)
struct HandlerLockTests {
    enum Form: CaseIterable {
        case cancelsTheTaskBefore, escalatesTheTaskBehind, cancelsTheLastOfADrain, cancelsTheFirstOfASemaphore
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test(.timeLimit(.minutes(15)), arguments: Form.allCases)
    func aHandlerDoesNotWaitForTheLockOfAnotherTask(_ form: Form) async throws {
        let isOver = Gate()
        Thread.detachNewThread {
            let scene = Scene(form)
            let isEscalated = DispatchSemaphore(value: 0)
            Thread.detachNewThread { [blocked = scene.blocked] in
                blocked.escalate()
                isEscalated.signal()
            }
            scene.blocked.isBlocked.wait()
            scene.act()
            scene.blocked.goesOn.signal()
            isEscalated.wait()
            scene.end()
            isOver.open()
        }
        // A handler that waits ends this at the time limit.
        try await isOver.wait()
    }
}

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
private struct Scene {
    let blocked = Blocked()
    /// Returns while the lock is kept.
    var act: () -> Void = {}
    /// Lets all tasks end, and blocks until they have.
    var end: () -> Void = {}

    init(_ form: HandlerLockTests.Form) {
        switch form {
        case .cancelsTheTaskBefore: line { a, _ in a.cancel() }
        case .escalatesTheTaskBehind: line(isFirstBlocked: true) { _, b in b.escalatePriority(to: .high) }
        case .cancelsTheLastOfADrain: drain()
        case .cancelsTheFirstOfASemaphore: semaphore()
        }
    }

    /// `a` has been called and its actor is busy; `b` waits behind it.
    private mutating func line(
        isFirstBlocked: Bool = false,
        _ act: @escaping (Task<Void, Never>, Task<Void, Never>) -> Void
    ) {
        let (queue, actor, runner) = (FIFOQueue(), HeldActor.held(), Runner())
        Task(priority: .medium, on: queue) { await runner.park() }
        let tasks = [isFirstBlocked, !isFirstBlocked].map { isBlocked in
            let run: @Sendable () async throws -> Void = { try await actor.run(queue) }
            let task = isBlocked ? blocked.start(run) : Task(priority: .medium) { try? await run() }
            actor.runAll(1)
            return task
        }
        runner.resume()
        actor.executor.blockUntilHeld()
        self.act = { act(tasks[0], tasks[1]) }
        end = { actor.end { for task in tasks { await task.value } } }
    }

    private mutating func drain() {
        let (queue, actor, other, runner) = (FIFOQueue(), HeldActor.held(), HeldActor.held(), Runner())
        Task(priority: .medium, on: queue) { await runner.park() }
        let last = Task(priority: .medium, on: queue, isolatedTo: actor) { (_: isolated HeldActor) async throws in }
        actor.runAll(1)
        let drainer = blocked.start { try await other.drain(queue) }
        other.runAll(1)
        runner.resume()
        actor.executor.blockUntilHeld()
        act = { last.cancel() }
        end = {
            other.executor.release()
            actor.end { _ = await (last.result, drainer.value) }
        }
    }

    /// The first asks for more permits than are available; behind it a caller waits for fewer.
    private mutating func semaphore() {
        let (semaphore, actor) = (AsyncSemaphore(value: 2), HeldActor.held())
        _ = semaphore.tryAcquire()
        let first = Task(priority: .medium) { try? await actor.acquire(2, of: semaphore) }
        actor.runAll(1)
        let second = blocked.start { try await actor.acquire(1, of: semaphore) }
        actor.runAll(1)
        act = { first.cancel() }
        end = { actor.end { _ = await (first.value, second.value) } }
    }
}

/// A task whose lock is kept by one of its handlers for as long as that is blocked.
@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
private final class Blocked: Sendable {
    let isBlocked = DispatchSemaphore(value: 0)
    let goesOn = DispatchSemaphore(value: 0)
    private let hasBlocked = Locked(false)
    private let task = Locked<Task<Void, Never>?>(nil)

    func start(_ body: @escaping @Sendable () async throws -> Void) -> Task<Void, Never> {
        let task = Task(priority: .medium) { [isBlocked, goesOn, hasBlocked] in
            _ = try? await withTaskPriorityEscalationHandler {
                try await body()
            } onPriorityEscalated: { _, _ in
                // Only the first escalation.
                guard
                    !hasBlocked.withLock({ hasBlocked in
                        defer { hasBlocked = true }
                        return hasBlocked
                    })
                else { return }
                isBlocked.signal()
                goesOn.wait()
            }
        }
        self.task.withLock { $0 = task }
        return task
    }

    func escalate() { task.withLock { $0 }?.escalatePriority(to: TaskPriority(rawValue: 0x17)) }
}
