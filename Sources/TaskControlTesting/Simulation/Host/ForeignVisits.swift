#if os(Linux) || canImport(Darwin)
import CTaskControlTesting
import TaskControl

/// The jobs and calls that come to a simulation from threads outside it: jobs of the simulation's tasks, and calls of
/// its ``Simulation``.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
final class ForeignVisits: Sendable {
    private enum State {
        case open(jobs: [SimulatedJob], callers: Int)
        case ended(isDropping: Bool)
    }

    /// The lock of ``state``. All simulations share one lock, because creating a lock for each seed would take time. It
    /// is acquired only for jobs and calls from outside, and at the end of a seed's run.
    // Not a lock of `Void`: ThreadSanitizer takes an access to an empty value for an access to the memory behind it.
    private static let lock = Locked<UInt>(0)
    // Every access is under `lock`.
    @exclusivity(unchecked) private nonisolated(unsafe) var state = State.open(jobs: [], callers: 0)
    /// Whether jobs or calls have possibly arrived since the last call of ``take()``. The flag is read before every
    /// step, since acquiring the lock takes longer.
    // Every access is atomic, in C.
    private nonisolated(unsafe) let flag: UnsafeMutablePointer<Bool>

    init() {
        flag = .allocate(capacity: 1)
        flag.pointee = false
    }

    deinit { flag.deallocate() }

    var hasVisits: Bool { tc_isSet(flag) }

    /// The engine of the simulation to which these jobs and calls come; `nil` unless the current thread is inside this
    /// simulation.
    private var engine: SimulationEngine? {
        guard let context = tc_context() else { return nil }
        let engine = SimulationEngine.at(context)
        return engine.foreign === self ? engine : nil
    }

    func simulate(_ job: SimulatedJob) {
        if let engine { engine.enqueue(job) } else { enqueue(job) }
    }

    func simulate(_ job: SimulatedJob, after delay: Duration) {
        if let engine { engine.enqueue(job, after: delay) } else { enqueue(job) }
    }

    private func withState<Result>(_ body: (inout State) -> Result) -> Result {
        Self.lock.withLock { _ in body(&state) }
    }

    private func enqueue(_ job: SimulatedJob) {
        let isForwarded = withState { state in
            switch state {
            case .open(let jobs, let callers):
                state = .open(jobs: jobs + [job], callers: callers)
                tc_set(flag, true)
                return false
            case .ended(let isDropping): return !isDropping || job.isTurn
            }
        }
        // Jobs that outlive a simulation that passed continue outside.
        if isForwarded { tc_enqueueGlobal(job.pointer) }
    }

    func call() {
        withState { state in
            guard case .open(let jobs, let callers) = state else { return }
            state = .open(jobs: jobs, callers: callers + 1)
            tc_set(flag, true)
        }
    }

    /// Returns the jobs, and the number of calls of the ``Simulation``, that have arrived since this function was last
    /// called.
    func take() -> (jobs: [SimulatedJob], callers: Int) {
        withState { state in
            guard case .open(let jobs, let callers) = state else { return ([], 0) }
            if !jobs.isEmpty || callers > 0 { state = .open(jobs: [], callers: 0) }
            tc_set(flag, false)
            return (jobs, callers)
        }
    }

    /// Notes that the simulation has ended.
    ///
    /// - Parameter isDropping: Whether jobs that arrive later are dropped, because the run has failed, or its
    ///   nodes have crashed. If `false`, they run outside the simulation.
    func end(isDropping: Bool) {
        withState { $0 = .ended(isDropping: isDropping) }
    }
}
#endif
