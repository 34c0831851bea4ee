#if os(Linux) || canImport(Darwin)
import CTaskControlTesting
import TaskControl

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
