/// The events of a registry and its tasks.
extension TaskRegistry {
    /// The identity in events of a task that is identified by its place here.
    func subject(_ id: ID) -> TaskEvent.Identity { TaskEvent.Identity(id.number, of: source.number) }

    /// Emits an event of a task, from inside it.
    @inline(__always)
    func emit(_ kind: TaskEvent.Kind, _ change: TaskEvent.Change, _ id: ID, delay: Duration? = nil) {
        Diagnostics.emit(isInside: true, source.event(kind, change, about: subject(id), delay: delay))
    }

    /// Emits the end of a task, from inside it.
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

    /// The tasks that were cancelled by one decision, as events know them.
    struct Retired {
        let moment: EventMoment
        let tasks: [(id: ID, subject: TaskEvent.Identity)]
        let cause: RecordedCause
    }

    /// Emits that tasks were cancelled.
    func emitCancelled(_ retired: Retired) {
        let detail = retired.cause.eventText
        for (id, subject) in retired.tasks {
            // A lifetime's tasks that are not known by their place are `AsyncTask`s.
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
