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
    /// - Parameter isDropping: Whether jobs that arrive later are dropped, because the run has failed. If `false`, they
    ///   run outside the simulation.
    func end(isDropping: Bool) {
        withState { $0 = .ended(isDropping: isDropping) }
    }
}

/// A job of a simulation, and whether it runs on the main actor.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
struct SimulatedJob {
    let pointer: UnsafeMutableRawPointer
    let isOnMain: Bool
    private let kind: UInt32
    /// The actor on which the job must run; `nil` if there is none, or if the job runs on the main actor.
    var actor: UnsafeMutableRawPointer?

    // The raw values, since `==` of the kinds is generic, and slow in a debug build.
    var isTask: Bool { kind == TCJobTask.rawValue }
    var isTurn: Bool { kind == TCJobActor.rawValue }
    var isYield: Bool { kind == TCJobYield.rawValue }

    var job: UnownedJob { unsafeBitCast(pointer, to: UnownedJob.self) }

    /// The number that identifies the job in the schedule: its address. The lowest bit is set if the job runs on the
    /// main actor.
    var handle: Int { Int(bitPattern: pointer) | (isOnMain ? 1 : 0) }

    /// Restores a job from the item with which the schedule represents it: from the number of the item, which is the
    /// ``handle`` of the job, and from the address of the actor at which the job arrives.
    init(_ item: ScheduleStateMachine.Item) {
        self.init(UnsafeMutableRawPointer(bitPattern: item.job & ~1)!, isOnMain: item.job & 1 == 1)
        if let arrival = item.arrival, !isOnMain { actor = UnsafeMutableRawPointer(bitPattern: arrival.actor) }
    }

    init(_ pointer: UnsafeMutableRawPointer, isOnMain: Bool) {
        self.pointer = pointer
        self.isOnMain = isOnMain
        kind = tc_jobKind(pointer).rawValue
    }

    init(_ job: consuming ExecutorJob, isOnMain: Bool) {
        self.init(unsafeBitCast(UnownedJob(job), to: UnsafeMutableRawPointer.self), isOnMain: isOnMain)
    }
}

/// An executor that enqueues its jobs in a simulation, including jobs of tasks that sleep.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
protocol SimulationExecutor: AnyObject, SleepingExecutor {
    var foreign: ForeignVisits { get }
    var isMain: Bool { get }
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension SimulationExecutor {
    func enqueue<C: Clock>(_ job: consuming ExecutorJob, after delay: C.Duration, tolerance: C.Duration?, clock: C) {
        foreign.simulate(SimulatedJob(job, isOnMain: isMain), after: Self.duration(delay))
    }

    func enqueue<C: Clock>(_ job: consuming ExecutorJob, at instant: C.Instant, tolerance: C.Duration?, clock: C) {
        tc_look(true)
        let delay = Self.duration(clock.now.duration(to: instant))
        tc_look(false)
        foreign.simulate(SimulatedJob(job, isOnMain: isMain), after: delay)
    }

    private static func duration(_ value: some DurationProtocol) -> Duration {
        guard let duration = value as? Duration else {
            preconditionFailure(
                "The system's clocks measure time in Duration. A clock with \(type(of: value)) must sleep by itself."
            )
        }
        return duration
    }
}

/// The task executor of a simulation. Every task of the simulation has it, so that it receives all their jobs, except those of the main
/// actor, regardless of the thread that enqueues them.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
final class SimulationTaskExecutor: TaskExecutor, SimulationExecutor {
    let foreign: ForeignVisits
    let isMain = false

    init(foreign: ForeignVisits) {
        self.foreign = foreign
    }

    func enqueue(_ job: consuming ExecutorJob) {
        foreign.simulate(SimulatedJob(job, isOnMain: false))
    }
}

/// The executor to which tasks hop instead of an actor, so that the schedule decides when they arrive at the actor.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
final class SimulationHopExecutor: SerialExecutor {
    let foreign: ForeignVisits

    init(foreign: ForeignVisits) {
        self.foreign = foreign
    }

    func enqueue(_ job: consuming ExecutorJob) {
        var job = SimulatedJob(job, isOnMain: false)
        job.actor = tc_destination()
        // Only called on the thread of the simulation: no other code knows this executor.
        SimulationEngine.current!.enqueue(job)
    }
}

/// The executor that replaces the main actor's executor during a simulation.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
final class SimulationMainExecutor: SerialExecutor, SimulationExecutor {
    let foreign: ForeignVisits
    let isMain = true

    init(foreign: ForeignVisits) {
        self.foreign = foreign
    }

    func enqueue(_ job: consuming ExecutorJob) {
        foreign.simulate(SimulatedJob(job, isOnMain: true))
    }
}
#endif
