#if os(Linux) || canImport(Darwin)
import CTaskControlTesting
import TaskControl

/// Receives the jobs of tasks and actors, and records the steps of the schedule.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension SimulationEngine {
    // MARK: Jobs

    func enqueue(_ job: SimulatedJob) {
        if case .expected = turn, job.isTurn {
            turn = .came(job)
            return
        }
        if job.isYield {
            yields.append(job)
            return
        }
        let number = number(job)
        var arrival: ScheduleStateMachine.Arrival?
        if job.isOnMain || job.actor != nil {
            arrival = .init(
                actor: UInt(bitPattern: job.actor),
                isFixed: tc_isCreating() || (job.isOnMain && continuesAfterEnqueuing(job)),
                priority: job.isOnMain ? 0 : tc_jobPriority(job.pointer),
                overtakes: tc_isCreating() && job.actor != nil && tc_isOnActor(job.actor!)
            )
            if job.isTask, let number { ledger.waits(number, for: actorType(of: job)) }
        }
        schedule.enqueue(job.handle, of: number, on: arrival, hasYielded: isResumingYield)
    }

    /// Whether the running task continues after it has enqueued a job on the main actor, so that whatever it enqueues
    /// there later comes after this job. `false` if the task itself goes to the main actor, or has ended.
    private func continuesAfterEnqueuing(_ job: SimulatedJob) -> Bool {
        guard let current = tc_currentTask() else { return false }
        return current != job.pointer
    }

    func enqueue(_ job: SimulatedJob, after delay: Duration) {
        let (seconds, attoseconds) = delay.components
        let (whole, hasOverflown) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        var nanoseconds =
            hasOverflown ? (seconds < 0 ? 0 : .max / 2) : min(whole, .max / 2) + attoseconds / 1_000_000_000
        if !plan.capabilities.includes(.virtualTime) {
            // Real time has passed since the deadline was computed. It must not affect the schedule.
            nanoseconds = (max(0, nanoseconds) + 999_999) / 1_000_000 * 1_000_000
        }
        // A task that sleeps forever wakes at the end of time.
        nanoseconds = withoutLead(max(0, nanoseconds))
        let (at, isLate) = schedule.now.addingReportingOverflow(nanoseconds)
        deadline = nanosecondsHere + nanoseconds
        schedule.enqueue(job.handle, of: number(job, isTimer: true), at: isLate ? .max : at)
    }

    /// Returns a duration of a sleep that ends at a whole microsecond, if the given duration is shorter only because the
    /// clock was read between the computation of the deadline and the sleep: each read takes a nanosecond.
    private func withoutLead(_ nanoseconds: Int64) -> Int64 {
        let rest = (nanosecondsHere + nanoseconds) % 1_000
        return rest > 0 && 1_000 - rest < tc_lead() ? nanoseconds + 1_000 - rest : nanoseconds
    }

    func enqueueIfOwn(_ job: SimulatedJob, after delay: Duration?) -> Bool {
        // A job that is not a task is an actor's turn, or an isolated `deinit`.
        let isKnown = tc_isCreating() || ledger.knows(job.pointer) || ledger.mayDiscover(job.pointer)
        // A timer is created by the runtime, for the task that goes to sleep.
        let isTimer = delay != nil && ledger.current != nil
        if job.isTask, !isKnown, !isTimer { return false }
        if let delay { enqueue(job, after: delay) } else { enqueue(job) }
        return true
    }

    /// Returns the number of the task that a job belongs to or, for other work of an actor such as an isolated
    /// `deinit`, of the task that enqueued the job. Returns `nil` if there is no such task.
    ///
    /// - Parameter isTimer: Whether the job is a timer that the runtime has created to end a sleep.
    func number(_ job: SimulatedJob, isTimer: Bool = false) -> Int? {
        if job.isTask { return ledger.number(of: job.pointer, isTimer: isTimer) }
        // The turn of an actor belongs to no task.
        if job.isTurn { return nil }
        return ledger.current
    }

    // MARK: Recording

    /// Records a step of the schedule.
    ///
    /// - Parameters:
    ///   - isTask: Whether the job of the step was a task. (The job itself is possibly deallocated already.)
    ///   - task: The number of the task that ran, or for which an actor did other work; `nil` if there is none.
    ///   - actor: The type of the actor on which the job ran; `nil` if it ran on none.
    ///   - number: The number of the step.
    func append(_ isTask: Bool, of task: Int?, _ actor: TypeID?, _ number: Int) {
        guard let state = state(of: task) else { return }
        let event = isTask ? ScheduleLog.Event.ran(state) : .actorTurn
        log.append(event, of: task, on: actor, number: number, at: nanosecondsHere)
    }

    /// Returns the state of the task with the given number, to be recorded with a step; `nil` if a failure report
    /// should not list the step, such as that of a timer.
    private func state(of task: Int?) -> ScheduleLog.State? {
        guard let task else { return .unknown }
        if let deadline { return .sleeping(until: deadline) }
        if ledger.isTimer(task) { return nil }
        return ledger.state(of: task) ?? .unknown
    }

    /// Returns the numbers of the tasks that have not ended, and their states.
    func unfinished() -> [(Int, ScheduleLog.State)] {
        // Only the state of the body is known.
        guard ledger.readsStates else { return bodyHasEnded ? [] : [(0, .unknown)] }
        Self.release(ledger.sweep())
        return (0..<ledger.unended.count)
            .map { index in
                let number = ledger.unended[index]
                return (number, ledger.state(of: number) ?? .unknown)
            }
    }
}
#endif
