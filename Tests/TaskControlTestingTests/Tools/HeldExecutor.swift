import TaskControl
import TaskControlTesting

/// Runs an actor's jobs, unless it is held: then it keeps them until it is released.
@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
final class HeldExecutor: SerialExecutor {
    private struct State {
        var isHeld = false
        var isRunning = false
        var jobs: [UnownedJob] = []
    }

    /// Open once a job has come while the executor was held.
    let held = Gate()
    private let state = Locked(State())

    func hold() {
        state.withLock { $0.isHeld = true }
    }

    func release() {
        state.withLock { $0.isHeld = false }
        runAll()
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isHeld = state.withLock { state in
            state.jobs.append(job)
            return state.isHeld
        }
        if isHeld { held.open() } else { runAll() }
    }

    /// On the thread that calls, one job at a time.
    private func runAll() {
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
actor Place {
    nonisolated let executor = HeldExecutor()

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    func sleep(until deadline: TestClock.Instant, on clock: TestClock) async throws {
        try await clock.sleep(until: deadline)
    }
}
