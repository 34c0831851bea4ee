internal import Foundation
internal import TaskControl
package import TaskControlTesting

/// Runs an actor's jobs on the thread that enqueues them, except while it is held: then it keeps them until they are asked for.
@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
package final class HeldExecutor: SerialExecutor {
    private struct State {
        var isHeld = false
        var isRunning = false
        var jobs: [UnownedJob] = []
    }

    /// Open once a job has come while the executor was held.
    package let held = Gate()
    private let state = Locked(State())
    /// Signalled at each job that comes while the executor is held.
    private let arrivals = DispatchSemaphore(value: 0)

    package init() {}

    package func hold() {
        state.withLock { $0.isHeld = true }
    }

    package func release() {
        state.withLock { $0.isHeld = false }
        runAll()
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        // The runtime does not retain an executor, and another thread can run the job, which may release the actor,
        // as soon as the job is in the list.
        let retained = Unmanaged.passRetained(self)
        defer { retained.release() }
        let job = UnownedJob(job)
        let isHeld = state.withLock { state in
            state.jobs.append(job)
            return state.isHeld
        }
        guard isHeld else { return runAll() }
        held.open()
        arrivals.signal()
    }

    /// Blocks the thread until `count` more jobs have come while the executor was held. For threads outside the pool.
    package func blockUntilHeld(_ count: Int = 1) {
        for _ in 0..<count { arrivals.wait() }
    }

    /// How many jobs it keeps.
    package var heldCount: Int { state.withLock { $0.jobs.count } }

    /// Runs one of the held jobs, on the calling thread.
    package func runHeld(at index: Int = 0) {
        let job = state.withLock { $0.jobs.remove(at: index) }
        job.runSynchronously(on: asUnownedSerialExecutor())
    }

    /// On the thread that calls, one job at a time.
    private func runAll() {
        // As in `enqueue`.
        let retained = Unmanaged.passRetained(self)
        defer { retained.release() }
        var isRunner = false
        while true {
            let job = state.withLock { state -> UnownedJob? in
                if !isRunner && state.isRunning { return nil }
                guard !state.isHeld, !state.jobs.isEmpty else {
                    state.isRunning = false
                    return nil
                }
                state.isRunning = true
                return state.jobs.removeFirst()
            }
            guard let job else { return }
            isRunner = true
            job.runSynchronously(on: asUnownedSerialExecutor())
        }
    }
}

/// An actor on such an executor.
@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
package actor HeldActor {
    package nonisolated let executor = HeldExecutor()

    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    package init() {}
}
