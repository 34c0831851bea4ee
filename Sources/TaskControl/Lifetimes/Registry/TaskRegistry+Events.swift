/// The events of a registry and its tasks.
extension TaskRegistry {
    /// Returns the identity that a task has in events, made from the ID of the task in this registry. Not for tasks
    /// that were registered with a `subject`, which is then their identity.
    func subject(_ id: ID) -> TaskEvent.Identity { TaskEvent.Identity(id.number, of: source.number) }

    /// Emits an event about the current task.
    ///
    /// - Parameters:
    ///   - kind: The name of the event.
    ///   - change: The effect of the event on the task.
    ///   - id: The ID of the task.
    ///   - delay: The length of the wait that begins with the event; `nil` if there is no such wait, or its length is
    ///     not known.
    @inline(__always)
    func emit(_ kind: TaskEvent.Kind, _ change: TaskEvent.Change, _ id: ID, delay: Duration? = nil) {
        Diagnostics.emit(isInside: true, source.event(kind, change, about: subject(id), delay: delay))
    }

    /// Emits the event that ends the current task: `completed` or `skipped`.
    ///
    /// - Parameters:
    ///   - id: The ID of the current task.
    ///   - hasRun: Whether the work of the task has run; otherwise the task was skipped.
    ///   - moment: The moment at which the task was removed from the registry; `nil` if no observer was registered
    ///     then.
    @inline(__always)
    func emitEnd(of id: ID, hasRun: Bool, at moment: EventMoment?) {
        Diagnostics.emit(
            at: moment,
            isInside: true,
            hasRun
                ? source.event(.completed, .ended(.completed), about: subject(id))
                : source.event(.skipped, .ended(.skipped), about: subject(id))
        )
    }

    /// The tasks that one change of the registry has cancelled, with the data of their `cancelled` events.
    struct Retired {
        let moment: EventMoment
        let tasks: [(id: ID, subject: TaskEvent.Identity)]
        let cause: RecordedCause
    }

    /// Emits a `cancelled` event for each task in `retired`.
    func emitCancelled(_ retired: Retired) {
        let detail = retired.cause.eventText
        for (id, subject) in retired.tasks {
            // Tasks of a lifetime that are not identified by their ID in this registry are `AsyncTask`s.
            let isAsyncTask = source.primitive == .asyncLifetime && subject != self.subject(id)
            Diagnostics.emit(
                at: retired.moment,
                TaskEvent(
                    isAsyncTask ? .asyncTask : source.primitive,
                    .cancelled,
                    owner: source.identity,
                    subject: subject,
                    ownerName: source.name,
                    detail: detail
                )
            )
        }
    }
}
