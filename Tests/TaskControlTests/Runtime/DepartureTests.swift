import Foundation
import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

/// When the call of a cancelled caller returns, all that its departure causes has happened.
@Suite(.timeLimit(.minutes(15)))
struct DepartureTests {
    /// A call whose operation ignores its cancellation, and that the caller can leave.
    enum Call: CaseIterable {
        case singleFlight, sharedFlight, detachedTimeout, detachedTimeoutAtItsLimit

        func leave(_ operation: @escaping @isolated(any) @Sendable () async throws -> Void) async {
            let caller = Task {
                switch self {
                case .singleFlight: try await SingleFlight<Int, Void>().value(for: 1, operation: operation)
                case .sharedFlight: try await withSingleFlight(key: "departure", operation: operation)
                case .detachedTimeout: try await withDetachedTimeout(.seconds(100), operation: operation)
                case .detachedTimeoutAtItsLimit: try await withDetachedTimeout(.seconds(1), operation: operation)
                }
            }
            if self != .detachedTimeoutAtItsLimit {
                try? await Task.sleep(for: .seconds(1))  // simulated time
                caller.cancel()
            }
            _ = await caller.result
        }
    }

    @Test(.tags(.schedules), arguments: Call.allCases)
    func abandonedWorkIsCancelledWhenTheCallOfItsLastCallerHasReturned(_ call: Call) async throws {
        try simulate(seeds: Schedules.seeds(400, inDebug: 100)) { sim in
            let (work, isLeft) = (Locked<TaskReference?>(nil), Gate())
            await call.leave {
                work.withLock { $0 = .current }
                await isLeft.waitIgnoringCancellation()
            }
            sim.expect(work.withLock { $0?.isCancelled } ?? true, "the work is cancelled")
            isLeft.open()
        }
    }

    @Test(.tags(.schedules))
    func thePermitThatACallerWaitedForBelongsToTheNextOneWhenTheCallHasReturned() async throws {
        try simulate(seeds: Schedules.seeds(400, inDebug: 100)) { sim in
            let semaphore = AsyncSemaphore(value: 2)
            try await semaphore.acquire()
            let leaver = Task { try await semaphore.acquire(2) }
            try await Task.sleep(for: .seconds(1))  // simulated time
            let next = Task { try await semaphore.acquire() }
            try await Task.sleep(for: .seconds(1))  // simulated time
            leaver.cancel()
            _ = await leaver.result
            sim.expect(semaphore.waiterCount == 0 && semaphore.available == 0)
            try await next.value
        }
    }

    @Test(.tags(.schedules))
    func theTurnThatACallerWaitedForBelongsToTheNextOneWhenTheCallHasReturned() async throws {
        try simulate(seeds: Schedules.seeds(400, inDebug: 100)) { sim in
            let (queue, gate) = (FIFOQueue(), Gate())
            Task(on: queue) { await gate.waitIgnoringCancellation() }
            let leaver = Task { try await queue.run {} }
            try await Task.sleep(for: .seconds(1))  // simulated time
            let drain = Task { try await queue.drain() }
            let next = Task { try await queue.run { true } }
            try await Task.sleep(for: .seconds(1))  // simulated time
            gate.open()
            leaver.cancel()
            _ = await leaver.result
            sim.expect(queue.count <= 2, "the place of the caller is free")
            sim.expect(try await next.value)
            try await drain.value
        }
    }

    @Test(.tags(.schedules), arguments: [false, true])
    func anAwaitedTaskIsCancelledWhenTheCallHasReturned(isFollower: Bool) async throws {
        try simulate(seeds: Schedules.seeds(400, inDebug: 100)) { sim in
            let (store, isCancelled) = (TaskStore<Int>(), Locked(false))
            let task = store.addTask(forKey: 1) {
                try? await Task.sleep(for: .seconds(100))  // simulated time
                isCancelled.withLock { $0 = Task.isCancelled }
            }
            let follower = store.addTask(forKey: 1, duplicateKeyBehavior: .preferPrevious) {}
            let caller = Task { await (isFollower ? follower : task).cancellableValue }
            try await Task.sleep(for: .seconds(1))  // simulated time
            caller.cancel()
            await caller.value
            sim.expect(isCancelled.withLock { $0 } && sim.now < .seconds(2))
        }
    }

    #if SUBPROCESSES
    /// In a process of its own, since other tests need the threads that are blocked here. More handlers block than the library keeps threads for.
    @Test(.oneProcessAtATime) func aCallerThatLeavesDoesNotWaitForTheCancellationHandlersOfItsWork() async {
        await #expect(processExitsWith: .success) {
            let (flights, free, end) = (SingleFlight<Int, Void>(), DispatchSemaphore(value: 0), Gate())
            let begun = OrderRecorder<Int>()
            let (left, works) = (OrderRecorder<Int>(), Locked<[Int: TaskReference]>([:]))
            @Sendable func call(_ number: Int) async throws {
                @Sendable func operation() async {
                    works.withLock { $0[number] = .current }
                    await withTaskCancellationHandler {
                        begun.record(number)
                        await end.waitIgnoringCancellation()
                    } onCancel: {
                        free.wait()
                        left.record(number)
                    }
                }
                switch number % 3 {
                case 0: try await flights.value(for: number) { await operation() }
                case 1: try await withSingleFlight(key: number) { await operation() }
                default: try await withDetachedTimeout(.seconds(1_000)) { await operation() }
                }
            }
            let callers = (0..<24).map { number in
                number < 12 ? Task { @MainActor in try await call(number) } : Task { try await call(number) }
            }
            try await begun.waitForEvents(count: callers.count)
            for caller in callers { caller.cancel() }
            for caller in callers { _ = await caller.result }
            #expect(works.withLock { $0.values.allSatisfy(\.isCancelled) }, "the work is cancelled")
            // The operations end after their handlers: a task that leaves a handler that still runs blocks its thread.
            for _ in callers { free.signal() }
            try await left.waitForEvents(count: callers.count)
            end.open()
            try await flights.drain()
        }
    }

    /// In a process of its own, since other tests need the threads that are blocked here.
    @Test(.oneProcessAtATime) func blockingCancellationHandlersStopNoWaitOfThisLibrary() async {
        await #expect(processExitsWith: .success) {
            // The operations end after their handlers: a task that leaves a handler that still runs blocks its thread.
            let (entered, free, end) = (Locked(0), DispatchSemaphore(value: 0), Gate())
            let slow = (0..<16).map { _ in
                Task {
                    await withTaskCancellationHandler {
                        await end.waitIgnoringCancellation()
                    } onCancel: {
                        entered.withLock { $0 += 1 }
                        free.wait()
                    }
                }
            }
            let callers = slow.map { task in Task { await task.cancellableValue } }
            for caller in callers { caller.cancel() }
            while entered.withLock({ $0 }) < 8 { await Task.yield() }

            // The permit of a caller that leaves.
            let semaphore = AsyncSemaphore(value: 2)
            try await semaphore.acquire()
            let first = Task { try await semaphore.acquire(2) }
            while semaphore.waiterCount < 1 { await Task.yield() }
            let next = Task { try await semaphore.acquire() }
            while semaphore.waiterCount < 2 { await Task.yield() }
            first.cancel()
            try await next.value

            // The cancellation of a flight that its last caller leaves.
            let (flights, begun) = (SingleFlight<Int, Void>(), Gate())
            let caller = Task {
                try await flights.value(for: 1) {
                    begun.open()
                    while !Task.isCancelled { await Task.yield() }
                }
            }
            try await begun.wait()
            caller.cancel()
            _ = await caller.result
            while flights._flights.liveCount > 0 { await Task.yield() }

            // The escalation of a task that another task waits for in a queue.
            if #available(macOS 26, *) {
                let (queue, isRaised) = (FIFOQueue(), Gate())
                let low = Task(priority: .low, on: queue) {
                    await withTaskPriorityEscalationHandler {
                        // The task may have been raised before it has begun.
                        if Task.currentPriority > .low { isRaised.open() }
                        await isRaised.waitIgnoringCancellation()
                    } onPriorityEscalated: { _, _ in
                        isRaised.open()
                    }
                }
                let waiting = Task(priority: .low) { try await queue.run {} }
                while queue.count < 2 { await Task.yield() }
                waiting.escalatePriority(to: .high)
                await low.value
                try await waiting.value
            }
            for _ in slow { free.signal() }
            while entered.withLock({ $0 }) < slow.count { await Task.yield() }
            end.open()
        }
    }
    #endif
}

/// A reference to a task that runs.
private struct TaskReference: Sendable {
    private nonisolated(unsafe) let task: UnsafeCurrentTask?

    static var current: Self { Self(task: withUnsafeCurrentTask { $0 }) }

    /// Valid while the task runs.
    var isCancelled: Bool { task?.isCancelled ?? false }
}
