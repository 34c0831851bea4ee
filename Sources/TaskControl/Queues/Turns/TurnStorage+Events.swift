/// What is told of a queue and its turns. All of it is called only when somebody listens, and never under the lock.
extension TurnStorage {
    private var identity: TaskEvent.Identity { TaskEvent.Identity(number) }

    func subject(_ id: ID) -> TaskEvent.Identity { TaskEvent.Identity(id.number, of: number) }

    /// Tells something of the queue.
    @inline(never)
    func tell(_ kind: TaskEvent.Kind) {
        Diagnostics.tell(TaskEvent(face, kind, owner: identity, ownerName: name))
    }

    /// Tells something of a turn, from inside the task that is to have it.
    @inline(never)
    func tell(
        _ kind: TaskEvent.Kind,
        _ stage: TaskEvent.Stage,
        _ id: ID,
        as subject: TaskEvent.Identity? = nil,
        taskName: String? = nil,
        error: (any Error)? = nil,
        isInside: Bool = true
    ) {
        var event = TaskEvent(
            face,
            kind,
            stage,
            owner: identity,
            subject: subject ?? self.subject(id),
            ownerName: name,
            taskName: taskName,
            error: error.map(Diagnostics.text)
        )
        if stage == .ends { event.isCancelled = Task.isCancelled }
        Diagnostics.tell(event, isInside: isInside)
    }

    @inline(never)
    func tellGuest(_ id: ID, _ mustWait: Bool) {
        tell(.enqueued, .begins, id)
        tell(mustWait ? .waiting : .started, .goesOn, id)
    }

    @inline(never)
    func tellEnd(_ end: TurnEnd, _ id: ID, as subject: TaskEvent.Identity? = nil) {
        switch end {
        case .completed: tell(.completed, .ends, id, as: subject)
        case .failed(let error): tell(.failed, .ends, id, as: subject, error: error)
        case .skipped: tell(.skipped, .ends, id, as: subject)
        }
    }

    /// Tells that somebody waits until all that is there has left.
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

extension Turn {
    /// What events know the task by: its number in its group, or its place in the queue.
    private var subject: TaskEvent.Identity {
        membership?.id.number.map { TaskEvent.Identity($0) } ?? turns.subject(id)
    }

    @inline(never)
    func tellEnqueued(_ taskName: String?) {
        turns.tell(.enqueued, .begins, id, as: subject, taskName: taskName, isInside: false)
    }

    @inline(never)
    func tellInside(_ kind: TaskEvent.Kind) { turns.tell(kind, .goesOn, id, as: subject) }

    @inline(never)
    func tellEnd(_ end: TurnEnd) { turns.tellEnd(end, id, as: subject) }
}
