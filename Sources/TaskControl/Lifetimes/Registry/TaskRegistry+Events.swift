/// The events of a registry and its tasks.
extension TaskRegistry {
    /// Returns the identity in events of a task that is identified by its ID in this registry.
    func subject(_ id: ID) -> TaskEvent.Identity { TaskEvent.Identity(id.number, of: source.number) }

    /// Emits an event about the current task.
    ///
    /// - Parameter id: The ID of the current task.
    @inline(__always)
    func emit(_ kind: TaskEvent.Kind, _ change: TaskEvent.Change, _ id: ID, delay: Duration? = nil) {
        Diagnostics.emit(isInside: true, source.event(kind, change, about: subject(id), delay: delay))
    }

    /// Emits the end of the current task.
    ///
    /// - Parameters:
    ///   - id: The ID of the current task.
    ///   - hasRun: Whether the work of the task has run; otherwise the task was skipped.
    ///   - moment: The moment at which the task was removed from the registry.
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

    /// The tasks that were cancelled by one decision, with the data of their events.
    struct Retired {
        let moment: EventMoment
        let tasks: [(id: ID, subject: TaskEvent.Identity)]
        let cause: RecordedCause
    }

    /// Emits a `cancelled` event for each of the tasks.
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
