/// The functions that call the state machine under the lock, and that carry out the actions that follow from its
/// decisions after the lock has been released.
extension TaskRegistry {
    /// The actions that follow from a decision of the state machine, with data that can be read only under the lock.
    struct Outcome: ~Copyable {
        /// Whether `onChange` of the registry must be called, since the number of tasks has changed, or a task no longer
        /// waits, and the number or the keys of the tasks have been read before.
        var isNews = false
        /// The raw priority to which the task whose handle was attached by this decision must be escalated; 0 for none.
        var raisingTo: UInt8 = 0
        /// The actions that concern tasks other than the one that the decision adds, starts or ends; `nil` for most
        /// decisions, which have none.
        var consequences: Consequences?
    }

    /// The actions that follow from a decision of the state machine, and concern tasks other than the one that the
    /// decision adds, starts or ends: the waiters to resume, the tasks to cancel, and the interval to begin.
    final class Consequences {
        let waking: [Waiter]
        /// The tasks to cancel. Their handles are retained, since a task may end as soon as it is removed from the registry.
        let cancelling: [Job]
        /// The tasks that wait for the end of a debounce or throttle interval, and must be cancelled. No cause is
        /// recorded for them.
        let stopping: [Job]
        let interval: (id: Machine.IntervalID, time: Duration)?
        /// The number of tasks that the decision has cancelled.
        let retiredCount: Int
        /// The tasks that the decision has cancelled, for their events; `nil` if no observer is registered.
        let retired: Retired?

        /// Creates the actions from the lists of the state machine. Must be called under the lock, which keeps the
        /// timer tasks alive.
        ///
        /// - Parameters:
        ///   - lists: The lists of waiters, tasks and timers that the decision concerns.
        ///   - cancelling: The retained handles of the tasks to cancel.
        ///   - retired: The tasks that the decision has cancelled, for their events; `nil` if no observer is
        ///     registered.
        init(
            _ lists: Machine.Effects.Lists,
            _ cancelling: [Job],
            _ retired: Retired?
        ) {
            waking = lists.waking
            self.cancelling = cancelling
            stopping = lists.stopping.map(\.owned)
            interval = lists.interval
            retiredCount = lists.retired.count
            self.retired = retired
        }
    }

    /// Passes an event to the state machine under the lock, and collects the actions that follow.
    ///
    /// - Parameters:
    ///   - outcome: Receives the actions, which the caller must carry out. A parameter instead of a part of the result,
    ///     which would then be generic and slow to destroy.
    ///   - cause: Returns the cause of the cancellations that follow from the event. Called under the lock, after
    ///     `event`, and only if there are ``Consequences``: actions that concern tasks other than the one that the
    ///     event adds, starts or ends.
    ///   - event: Calls the state machine. Runs under the lock.
    /// - Returns: The value that `event` returns.
    @inline(__always)
    func decide<Value>(
        _ outcome: inout Outcome,
        cause: (Books) -> RecordedCause = { _ in .known(.unknown) },
        _ event: (inout Books, inout Machine.Effects) -> Value
    ) -> Value {
        state.withLock { books in
            var effects = Machine.Effects()
            let value = event(&books, &effects)
            outcome.isNews = books.isWatched && (effects.liveCountChange != 0 || effects.startsWaitingTask)
            outcome.raisingTo = effects.raisingTo
            if let lists = effects.lists { outcome.consequences = consequences(lists, &books, cause(books)) }
            return value
        }
    }

    @inline(never)
    private func consequences(
        _ lists: Machine.Effects.Lists,
        _ books: inout Books,
        _ cause: RecordedCause
    ) -> Consequences {
        suspectSerial.store(Int64(books.machine.suspectSerial))
        let cancelling = lists.cancelling.map(\.owned)
        // Under the lock, because the registered tasks are known not to have ended while it is held.
        for job in cancelling { CancellationCauses.record(cause, for: job.handle.address) }
        for id in lists.retired { books.remember(cause, of: id) }
        return Consequences(
            lists,
            cancelling,
            lists.retired.isEmpty ? nil : retired(lists.retired, books, cause)
        )
    }

    private func retired(_ ids: [ID], _ books: Books, _ cause: RecordedCause) -> Retired? {
        guard let moment = Diagnostics.moment else { return nil }
        let tasks = ids.compactMap { id -> (ID, TaskEvent.Identity)? in
            if let subject = books.subjects[id] { return (id, subject) }
            // A task that was sent through a `CancellableQueue` while no observer was registered has no subject here:
            // its identity is that in the underlying queue.
            return source.primitive == .cancellableQueue ? nil : (id, subject(id))
        }
        return Retired(moment: moment, tasks: tasks, cause: cause)
    }

    /// Carries out the actions of a decision, which are in `outcome`, after the lock has been released: resumes and
    /// cancels tasks, reports the number of tasks to observers of the owner, then calls `follow`, and last emits the
    /// events of the tasks that were cancelled.
    ///
    /// - Parameter follow: Carries out the other actions of the decision, and emits the event of the decision itself.
    /// - Returns: The value that `follow` returns.
    @inline(__always)
    func carryOut<Result>(_ outcome: borrowing Outcome, then follow: () -> Result) -> Result {
        carryOutFirst(outcome)
        let result = follow()
        carryOutLast(outcome)
        return result
    }

    /// Carries out the first part of the actions in `outcome`: resumes and cancels tasks, and reports the number of
    /// tasks to observers of the owner.
    @inline(__always)
    func carryOutFirst(_ outcome: borrowing Outcome) {
        if let consequences = outcome.consequences { carryOut(consequences) }
        if outcome.isNews { onChange?() }
    }

    /// Carries out the last part of the actions in `outcome`: emits the events of the tasks that were cancelled.
    @inline(__always)
    func carryOutLast(_ outcome: borrowing Outcome) {
        if let retired = outcome.consequences?.retired { emitCancelled(retired) }
    }

    @inline(never)
    private func carryOut(_ consequences: Consequences) {
        for waiter in consequences.waking { waiter.resume(returning: .reached) }
        for job in consequences.cancelling { job.cancel() }
        for timer in consequences.stopping { timer.cancel() }
        if let interval = consequences.interval { startTimer(interval.id, interval.time) }
    }

    /// Passes an event to the state machine under the lock, and carries out all actions that follow.
    ///
    /// - Parameters:
    ///   - cause: Returns the cause of the cancellations that follow from the event. Called under the lock, after
    ///     `event`, and only if there are ``Consequences``: actions that concern tasks other than the one that the
    ///     event adds, starts or ends.
    ///   - event: Calls the state machine. Runs under the lock.
    /// - Returns: The value that `event` returns.
    @inline(__always)
    func change<Value>(
        cause: (Books) -> RecordedCause = { _ in .known(.unknown) },
        _ event: (inout Books, inout Machine.Effects) -> Value
    ) -> Value {
        var outcome = Outcome()
        let value = decide(&outcome, cause: cause, event)
        return carryOut(outcome) { value }
    }
}
