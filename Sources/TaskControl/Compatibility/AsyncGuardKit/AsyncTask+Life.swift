extension AsyncTask {
    /// The registration of a task with a lifetime: the registry of the lifetime, and the ID of the task there.
    struct Binding {
        let registry: TaskRegistry
        let id: TaskRegistry.ID

        var subject: TaskEvent.Identity { registry.subject(id) }
    }

    /// The state that an `AsyncTask` shares with the Swift task that runs its operation: an ``AsyncTaskStateMachine``,
    /// and the identity of the task in events.
    ///
    /// The identity is settled (chosen) once, and never changes after that. It is the ID of the task in the registry of
    /// its lifetime, if the task is bound at that moment; otherwise it is a new number. It is settled only when it is
    /// needed, so a task that is not observed does not consume a number.
    struct Life {
        private(set) var machine = AsyncTaskStateMachine<Binding>()
        /// The identity of the task in events; `Identity(0)` until it is settled. Not an optional, to save a word per task.
        private var settled = TaskEvent.Identity(0)

        /// Returns the identity of the task in events. The first call chooses (settles) it; it does not change
        /// afterwards.
        mutating func subject() -> TaskEvent.Identity {
            if !isSettled { settled = machine.binding?.subject ?? TaskEvent.Identity(Diagnostics.nextNumber()) }
            return settled
        }

        /// The identity of the task in events; `nil` if it is not settled. A lifetime to which the task is bound later
        /// must use a settled identity in its events.
        var settledSubject: TaskEvent.Identity? { isSettled ? settled : nil }

        private var isSettled: Bool { settled != TaskEvent.Identity(0) }

        /// Passes a change, such as the binding or the end of the task, to the state machine. Before that, settles the
        /// identity of a bound task as its ID in its present registry: earlier events may have used that ID, and the
        /// task may now be moved to another registry.
        ///
        /// - Parameter event: Calls the function of the state machine for the change.
        /// - Returns: The binding that `event` returns.
        mutating func change(_ event: (inout AsyncTaskStateMachine<Binding>) -> Binding?) -> Binding? {
            if !isSettled, let binding = machine.binding { settled = binding.subject }
            return event(&machine)
        }
    }
}

/// The events of an `AsyncTask`.
extension AsyncTask {
    /// Returns the identity of an `AsyncTask` in events.
    ///
    /// - Parameter life: The state of the task.
    static func identity(of life: Locked<Life>) -> TaskEvent.Identity { life.withLock { $0.subject() } }

    @inline(__always)
    static func emit(
        _ kind: TaskEvent.Kind,
        _ change: TaskEvent.Change = .noted,
        of life: Locked<Life>,
        at moment: EventMoment? = Diagnostics.moment,
        detail: @autoclosure () -> String? = nil,
        isInside: Bool = false
    ) {
        if let moment { deliver(kind, change, life, moment, detail(), isInside) }
    }

    @inline(never)
    private static func deliver(
        _ kind: TaskEvent.Kind,
        _ change: TaskEvent.Change,
        _ life: Locked<Life>,
        _ moment: EventMoment,
        _ detail: String?,
        _ isInside: Bool
    ) {
        Diagnostics.emit(
            at: moment,
            isInside: isInside,
            TaskEvent(.asyncTask, kind, change, subject: identity(of: life), detail: detail)
        )
    }

    /// Cancels a task, and emits a `cancelled` event unless the task was already cancelled. If several threads call
    /// this function at the same time, each of them may emit the event.
    ///
    /// - Parameters:
    ///   - task: The Swift task that runs the operation.
    ///   - life: The state of the `AsyncTask`.
    ///   - cause: The cause that the task and the event show.
    static func cancel(_ task: Task<Void, Never>, _ life: Locked<Life>, because cause: CancellationCause) {
        let moment = Diagnostics.moment
        record(cause, of: task, life)
        let isNews = moment != nil && !task.isCancelled
        task.cancel()
        if isNews { emit(.cancelled, of: life, at: moment, detail: cause.eventText) }
    }

    /// Records the cause of a cancellation that is about to follow, unless the task has ended.
    ///
    /// - Parameters:
    ///   - task: The Swift task that runs the operation.
    ///   - life: The state of the `AsyncTask`.
    static func record(_ cause: CancellationCause, of task: Task<Void, Never>, _ life: Locked<Life>) {
        // Under the lock: the task records its end under the same lock before it removes its cause, so no cause is left
        // behind.
        life.withLock { life in
            if !life.machine.isFinished { CancellationCauses.record(.known(cause), for: task.address) }
        }
    }

    /// The way in which the operation of a task has ended.
    enum End {
        case skipped, completed
        case failed(any Error)
    }

    @inline(never)
    static func emitEnd(_ end: End, _ life: Locked<Life>, _ binding: Binding?, at moment: EventMoment) {
        let (kind, outcome, error): (TaskEvent.Kind, TaskEvent.Outcome, (any Error)?) =
            switch end {
            case .skipped: (.skipped, .skipped, nil)
            case .completed: (.completed, .completed, nil)
            case .failed(let error): (.failed, .failed, error)
            }
        Diagnostics.emit(
            at: moment,
            isInside: true,
            TaskEvent(
                .asyncTask,
                kind,
                .ended(outcome),
                owner: binding?.registry.source.identity,
                subject: identity(of: life),
                ownerName: binding?.registry.name,
                error: error
            )
        )
    }
}

extension TaskEvent.Kind {
    /// An ``AsyncTask`` was bound to a lifetime, which is the owner of the event.
    ///
    /// - Note: A spelling of AsyncGuardKit: see <doc:MovingFromAsyncGuardKit>.
    public static var boundToLifetime: Self { Self("boundToLifetime") }
    /// An ``AsyncTask`` was stored in a set of `AnyCancellable` values.
    ///
    /// - Note: A spelling of AsyncGuardKit: see <doc:MovingFromAsyncGuardKit>.
    public static var stored: Self { Self("stored") }
    /// An ``AsyncTask`` was detached: it has no lifetime that cancels it.
    ///
    /// - Note: A spelling of AsyncGuardKit: see <doc:MovingFromAsyncGuardKit>.
    public static var detached: Self { Self("detached") }
    /// An ``AsyncTask`` was released without having been bound, stored, detached or cancelled. The release cancels it.
    ///
    /// - Note: A spelling of AsyncGuardKit: see <doc:MovingFromAsyncGuardKit>.
    public static var dropped: Self { Self("dropped") }
}

extension TaskOrigin {
    static var asyncTask: Self { Self("AsyncTask", .asyncTask) }
}
