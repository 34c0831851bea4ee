#if os(Linux) || canImport(Darwin)
import CTaskControlTesting
import TaskControl

/// Handles the situation in which no job can run, and the end of a seed.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension SimulationEngine {
    /// Decides how to continue when no job can run and no task sleeps.
    ///
    /// - Returns: Whether there may be another step. If not, the run has ended, and has failed if ``reason`` is not
    ///   `nil`.
    func isGoingOnAlthoughIdle() -> Bool {
        if hasActions {
            perform(actions.remove(at: schedule.action(actions.map(\.step), mustAct: true)!).action)
            return true
        }
        // Objects that are deallocated with these tasks may create tasks.
        Self.release(ledger.sweep())
        if !schedule.isIdle { return true }
        if bodyHasEnded, ledger.unended.isEmpty || !ledger.readsStates { return false }
        if reason == nil, let task = firstUnended(where: isWaitingForTaskOutside) {
            reason = .escaped("\(ledger.label(task)) waits for a task")
        }
        if reason == nil, isExpectingVisits {
            lookOutForVisits()
            hasLookedOut = true
        }
        if reason == nil { reason = bodyHasEnded ? .leftBehind(tasks: ledger.unended.count) : .deadlock }
        return false
    }

    func firstUnended(where isWanted: (Int) -> Bool) -> Int? {
        for index in 0..<ledger.unended.count where isWanted(ledger.unended[index]) { return ledger.unended[index] }
        return nil
    }

    func isWaitingForTaskOutside(_ number: Int) -> Bool {
        if case .awaitingTask(nil) = ledger.state(of: number) { true } else { false }
    }

    /// Whether a thread outside the simulation may be about to resume a task: a thread that has received work, or a thread that runs an
    /// actor.
    var isExpectingVisits: Bool {
        tc_takeHint() || !plan.capabilities.contains(.escapes)
            || firstUnended { if case .awaitingActor = ledger.state(of: $0) { true } else { false } } != nil
    }

    /// Waits for a short real time for a thread outside the simulation that may be about to resume a task: reporting
    /// this escape is more helpful than reporting a deadlock.
    func lookOutForVisits() {
        tc_setNow(-1)
        let end = ContinuousClock.now + plan.grace
        while reason == nil, ContinuousClock.now < end {
            System.pause()
            _ = takeForeignVisits()
        }
        tc_setNow(schedule.now)
    }

    /// Fails the seed as an escape if a thread outside the simulation has resumed a task or used the ``Simulation``.
    ///
    /// - Returns: Whether the seed has failed in this way, so that it has ended.
    func takeForeignVisits() -> Bool {
        guard foreign.hasVisits else { return false }
        let (jobs, callers) = foreign.take()
        for job in jobs { enqueue(job) }
        if let job = jobs.first, reason == nil { reason = .escaped("\(ledger.label(number(job))) was resumed") }
        if callers > 0, reason == nil { reason = .escaped("the Simulation was used") }
        return !jobs.isEmpty || callers > 0
    }

    /// Ends the simulation after its last step. The unfinished tasks of a failed seed remain as they are, and never run
    /// again. (If they were cancelled, their code would run, and might block the thread forever.)
    func leaveBehind() {
        if !ledger.unended.isEmpty || !ledger.readsStates {
            // A task does not retain the main actor's executor, and a task that is left behind may still be resumed.
            _ = Unmanaged.passRetained(main)
        }
        Self.release(ledger.close())
        foreign.end(isDropping: reason != nil)
        // The remaining jobs may include the turn of an actor that outlives the seed. Without this, the actor would never run again.
        while let item = schedule.next() {
            let job = SimulatedJob(item)
            if job.isTurn { tc_enqueueGlobal(job.pointer) }
        }
    }

    static func release(_ tasks: borrowing FlatArray<UnsafeMutableRawPointer>) {
        for index in 0..<tasks.count { tc_release(tasks[index]) }
    }
}
#endif
