/// How a registry decides about an event under the lock, and acts when that is free.
extension TaskRegistry {
    /// The actions that an event entails, with the data that is known only under the lock.
    struct Outcome: ~Copyable {
        /// Whether the live count has changed, and has ever been read.
        var isNews = false
        /// The priority to which the task that was attached must be raised; 0: none.
        var raisingTo: UInt8 = 0
        /// The consequences for other tasks; `nil` for most events.
        var consequences: Consequences?
    }

    /// The consequences of an event for other tasks.
    final class Consequences {
        let waking: [Waiter]
        /// Owned: a task that has left the books may end.
        let cancelling: [Job]
        /// Timers, which have no cause.
        let stopping: [Job]
        let interval: (id: Machine.IntervalID, time: Duration)?
        /// The number of tasks that were cancelled.
        let retiredCount: Int
        /// The tasks that were cancelled; `nil` if no observer is registered.
        let retired: Retired?

        /// To be made under the lock.
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

    /// - Parameters:
    ///   - outcome: Receives what the caller must carry out. Not a part of the result, which would make it generic, and slow to destroy.
    ///   - cause: Returns the cause of the cancellations that follow from the event. Called under the lock, and only if there may be some.
    @inline(__always)
    func decide<Value>(
        _ outcome: inout Outcome,
        cause: (Books) -> RecordedCause = { _ in .known(.unknown) },
        _ event: (inout Books, inout Machine.Effects) -> Value
    ) -> Value {
        state.withLock { books in
            var effects = Machine.Effects()
            let value = event(&books, &effects)
            outcome.isNews = books.isWatched && effects.liveCountChange != 0
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
        // Under the lock, under which the tasks are known to live and to have their ends before them.
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
            // A task that was sent through a group while no observer was registered has no subject here: its queue has named it.
            return source.primitive == .cancellableQueue ? nil : (id, subject(id))
        }
        return Retired(moment: moment, tasks: tasks, cause: cause)
    }

    /// Carries the effects out with the lock free: resumes, cancels, calls the watcher of the live count, which may do anything, and last the
    /// observers.
    ///
    /// - Parameter follow: Carries out the rest of the decision. It emits the events of the decision itself, before those of the tasks that were
    ///   cancelled.
    @inline(__always)
    func carryOut<Result>(_ outcome: borrowing Outcome, then follow: () -> Result) -> Result {
        carryOutFirst(outcome)
        let result = follow()
        carryOutLast(outcome)
        return result
    }

    /// Carries out the actions that come before the rest of the decision's actions.
    @inline(__always)
    func carryOutFirst(_ outcome: borrowing Outcome) {
        if let consequences = outcome.consequences { carryOut(consequences) }
        if outcome.isNews { onChange?() }
    }

    /// Carries out the actions that come after the rest of the decision's actions.
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

    /// Decides about an event, and carries the effects out.
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
