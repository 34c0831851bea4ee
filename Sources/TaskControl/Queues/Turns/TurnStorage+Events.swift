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
        taskName: String? = nil,
        error: (any Error)? = nil,
        isInside: Bool = true
    ) {
        var event = TaskEvent(
            face,
            kind,
            stage,
            owner: identity,
            subject: subject(id),
            ownerName: name,
            taskName: taskName,
            error: error.map(Diagnostics.text)
        )
        if stage == .ends { event.isCancelled = Task.isCancelled }
        Diagnostics.tell(event, isInside: isInside)
    }

    @inline(never)
    func tellRun(_ id: ID, _ mustWait: Bool) {
        tell(.enqueued, .begins, id)
        tell(mustWait ? .waiting : .started, .goesOn, id)
    }

    @inline(never)
    func tellEnd(_ end: TurnEnd, _ id: ID) {
        switch end {
        case .completed: tell(.completed, .ends, id)
        case .failed(let error): tell(.failed, .ends, id, error: error)
        case .skipped: tell(.skipped, .ends, id)
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
    @inline(never)
    func tellEnqueued(_ taskName: String?) {
        turns.tell(.enqueued, .begins, id, taskName: taskName, isInside: false)
    }

    @inline(never)
    func tellInside(_ kind: TaskEvent.Kind) { turns.tell(kind, .goesOn, id) }

    @inline(never)
    func tellEnd(_ end: TurnEnd) { turns.tellEnd(end, id) }
}
