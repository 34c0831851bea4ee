#if os(Linux) || canImport(Darwin)
import CTaskControlTesting
import TaskControl

/// Handles the situation in which no job can run, and the end of the run.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension SimulationEngine {
    /// Decides how to continue when no job can run and no task sleeps.
    ///
    /// - Returns: Whether to run another step. If `false`, the run has ended: it has failed if ``reason`` is not `nil`.
    func isGoingOnAlthoughIdle() -> Bool {
        if hasActions {
            perform(actions.remove(at: schedule.action(actions.map(\.moment), mustAct: true)!).action)
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

    /// Whether a thread outside the simulation is possibly about to resume a task. This can be a thread that has
    /// received work from the simulation, or a thread that runs an actor of the simulation. Always `true` without
    /// `SimulationCapabilities.escapes`: the simulation then does not notice that a thread receives work.
    var isExpectingVisits: Bool {
        tc_takeHint() || !plan.capabilities.contains(.escapes)
            || firstUnended { if case .awaitingActor = ledger.state(of: $0) { true } else { false } } != nil
    }

    /// Waits for a short real time, in case a thread outside the simulation is about to resume a task: the run then
    /// fails with the reason ``SimulationFailure/Reason/escaped(_:)``, which is more helpful than a deadlock.
    func lookOutForVisits() {
        tc_setNow(-1)
        let end = ContinuousClock.now + plan.grace
        while reason == nil, ContinuousClock.now < end {
            System.pause()
            _ = takeForeignVisits()
        }
        tc_setNow(schedule.now)
    }

    /// Fails the run with the reason ``SimulationFailure/Reason/escaped(_:)`` if a thread outside the simulation has
    /// resumed a task or used the ``Simulation``.
    ///
    /// - Returns: Whether a thread has done so, and the run has therefore ended.
    func takeForeignVisits() -> Bool {
        guard foreign.hasVisits else { return false }
        let (jobs, callers) = foreign.take()
        for job in jobs { enqueue(job) }
        if let job = jobs.first, reason == nil { reason = .escaped("\(ledger.label(number(job))) was resumed") }
        if callers > 0, reason == nil { reason = .escaped("the Simulation was used") }
        return !jobs.isEmpty || callers > 0
    }

    /// Ends the simulation after its last step. The unfinished tasks of a failed run are not cancelled, and never run
    /// again. (If they were cancelled, their code would run, and could block the thread forever.)
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
