/// What is told of a registry and its tasks. All of it is called only when somebody listens, and never under the lock.
extension TaskRegistry {
    private var identity: TaskEvent.Identity { TaskEvent.Identity(number) }

    /// What events know a task by that is known by its place here.
    func subject(_ id: ID) -> TaskEvent.Identity { TaskEvent.Identity(id.number, of: number) }

    /// Tells something of the registry.
    @inline(never)
    func tell(_ kind: TaskEvent.Kind, key: Key? = nil, taskName: String? = nil, count: Int? = nil) {
        Diagnostics.tell(
            TaskEvent(face, kind, owner: identity, ownerName: name, taskName: taskName, key: key?.text, count: count)
        )
    }

    /// Tells something of a task.
    @inline(never)
    func tell(
        _ kind: TaskEvent.Kind,
        _ stage: TaskEvent.Stage,
        _ id: ID,
        key: Key? = nil,
        taskName: String? = nil,
        delay: Duration? = nil,
        begun: TaskEvent.Moment? = nil,
        isCancelled: Bool = false,
        isInside: Bool = false
    ) {
        var event = TaskEvent(
            face,
            kind,
            stage,
            owner: identity,
            subject: subject(id),
            ownerName: name,
            taskName: taskName,
            key: key?.text,
            delay: delay,
            begun: begun
        )
        event.isCancelled = isCancelled
        Diagnostics.tell(event, isInside: isInside)
    }

    @inline(never)
    func tellCancelled(_ ids: [ID], as subjects: [TaskEvent.Identity]) {
        for (id, known) in zip(ids, subjects) {
            // A lifetime's tasks that are not known by their place are `AsyncTask`s.
            let primitive = face == .asyncLifetime && known != subject(id) ? .asyncTask : face
            Diagnostics.tell(TaskEvent(primitive, .cancelled, owner: identity, subject: known, ownerName: name))
        }
    }

    /// Tells that somebody waits until it is empty.
    ///
    /// - Returns: What events know the wait by.
    @inline(never)
    func tellDraining() -> TaskEvent.Identity {
        let wait = TaskEvent.Identity(Diagnostics.nextNumber())
        let event = TaskEvent(face, .draining, .begins, owner: identity, subject: wait, ownerName: name)
        Diagnostics.tell(event, isInside: true)
        return wait
    }

    @inline(never)
    func tellDrained(_ wait: TaskEvent.Identity, _ kind: TaskEvent.Kind) {
        var event = TaskEvent(face, kind, .ends, owner: identity, subject: wait, ownerName: name)
        event.isCancelled = kind == .left
        Diagnostics.tell(event, isInside: true)
    }
}
