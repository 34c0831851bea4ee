#if os(Linux)
import CTaskControlTesting
import TaskControl
@_spi(ExperimentalScheduling) import _Concurrency

/// What comes from threads that are not the simulation's: jobs of its tasks, and calls of its ``Simulation``.
final class ForeignVisits: Sendable {
    private enum State {
        case open(jobs: [SimulatedJob], callers: Int)
        case ended(isDropping: Bool)
    }

    private let state = Locked(State.open(jobs: [], callers: 0))

    func enqueue(_ job: SimulatedJob) {
        let isForwarded = state.withLock { state in
            switch state {
            case .open(let jobs, let callers):
                state = .open(jobs: jobs + [job], callers: callers)
                return false
            case .ended(let isDropping): return !isDropping || job.kind == TCJobActor
            }
        }
        // Whatever a simulation that is over has left behind goes on in the real world.
        if isForwarded { tc_enqueueGlobal(job.pointer) }
    }

    func call() {
        state.withLock { state in
            if case .open(let jobs, let callers) = state { state = .open(jobs: jobs, callers: callers + 1) }
        }
    }

    /// - Returns: What has come since the last time.
    func take() -> (jobs: [SimulatedJob], callers: Int) {
        state.withLock { state in
            guard case .open(let jobs, let callers) = state else { return ([], 0) }
            if !jobs.isEmpty || callers > 0 { state = .open(jobs: [], callers: 0) }
            return (jobs, callers)
        }
    }

    /// - Parameter isDropping: What comes later comes from a seed that failed, and never runs.
    func end(isDropping: Bool) {
        state.withLock { $0 = .ended(isDropping: isDropping) }
    }
}

/// A job, and where it runs.
struct SimulatedJob {
    let pointer: UnsafeMutableRawPointer
    let isOnMain: Bool
    let kind: TCJobKind

    var job: UnownedJob { unsafeBitCast(pointer, to: UnownedJob.self) }

    init(_ pointer: UnsafeMutableRawPointer, isOnMain: Bool) {
        self.pointer = pointer
        self.isOnMain = isOnMain
        kind = tc_jobKind(pointer)
    }

    init(_ job: consuming ExecutorJob, isOnMain: Bool) {
        self.init(unsafeBitCast(UnownedJob(job), to: UnsafeMutableRawPointer.self), isOnMain: isOnMain)
    }
}

/// What both executors of a simulation do: bring their jobs to it.
protocol SimulationExecutor: AnyObject, SchedulingExecutor {
    var foreign: ForeignVisits { get }
    var isMain: Bool { get }
}

extension SimulationExecutor {
    /// The simulation, if this thread is in it.
    private var engine: SimulationEngine? {
        guard let engine = SimulationEngine.current, engine.foreign === foreign else { return nil }
        return engine
    }

    func simulate(_ job: SimulatedJob) {
        if let engine { engine.enqueue(job) } else { foreign.enqueue(job) }
    }

    func simulate(_ job: SimulatedJob, after delay: Duration) {
        if let engine { engine.enqueue(job, after: delay) } else { foreign.enqueue(job) }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        simulate(SimulatedJob(job, isOnMain: isMain))
    }

    func enqueue<C: Clock>(_ job: consuming ExecutorJob, after delay: C.Duration, tolerance: C.Duration?, clock: C) {
        simulate(SimulatedJob(job, isOnMain: isMain), after: Self.duration(delay))
    }

    func enqueue<C: Clock>(_ job: consuming ExecutorJob, at instant: C.Instant, tolerance: C.Duration?, clock: C) {
        simulate(SimulatedJob(job, isOnMain: isMain), after: Self.duration(clock.now.duration(to: instant)))
    }

    private static func duration(_ value: some DurationProtocol) -> Duration {
        guard let duration = value as? Duration else {
            preconditionFailure(
                "The system's clocks measure in Duration; \(type(of: value)) is a clock's that sleeps by itself."
            )
        }
        return duration
    }
}

/// Runs everything but what is on the main actor. Every task has it, so its jobs come here from whatever thread they
/// are enqueued on.
final class SimulationTaskExecutor: TaskExecutor, SimulationExecutor {
    let foreign: ForeignVisits
    let isMain = false

    init(foreign: ForeignVisits) {
        self.foreign = foreign
    }
}

/// Stands in for the main actor's executor.
final class SimulationMainExecutor: SerialExecutor, SimulationExecutor {
    let foreign: ForeignVisits
    let isMain = true

    init(foreign: ForeignVisits) {
        self.foreign = foreign
    }
}
#endif
