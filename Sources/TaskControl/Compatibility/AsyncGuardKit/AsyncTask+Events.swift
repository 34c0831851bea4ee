/// The events of an `AsyncTask`.
extension AsyncTask {
    /// Returns the identity of an `AsyncTask` in events.
    ///
    /// - Parameter life: The state of the task.
    static func identity(of life: Locked<Life>) -> TaskEvent.Identity { life.withLock { $0.subject() } }

    @inline(__always)
    static func emit(
        _ kind: @autoclosure () -> TaskEvent.Kind,
        _ change: TaskEvent.Change = .noted,
        of life: Locked<Life>,
        at moment: EventMoment? = Diagnostics.moment,
        detail: @autoclosure () -> String? = nil,
        isInside: Bool = false
    ) {
        Diagnostics.emit(
            at: moment,
            isInside: isInside,
            TaskEvent(.asyncTask, kind(), change, subject: identity(of: life), detail: detail())
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
