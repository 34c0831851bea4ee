/// What is told of flights. All of it is called only when somebody listens, and never under the lock.
extension FlightStorage {
    private var identity: TaskEvent.Identity { TaskEvent.Identity(number) }

    /// Tells something of all flights, or of a key.
    @inline(never)
    func tell(_ kind: TaskEvent.Kind, key: ErasedKey? = nil, count: Int? = nil) {
        Diagnostics.tell(
            TaskEvent(origin.primitive, kind, owner: identity, ownerName: name, key: key?.text, count: count)
        )
    }

    /// Tells something of a flight.
    @inline(never)
    func tell(
        _ kind: TaskEvent.Kind,
        _ stage: TaskEvent.Stage,
        _ id: ID,
        key: ErasedKey? = nil,
        taskName: String? = nil,
        error: (any Error)? = nil,
        isCancelled: Bool = false,
        isInside: Bool = false
    ) {
        var event = TaskEvent(
            origin.primitive,
            kind,
            stage,
            owner: identity,
            subject: TaskEvent.Identity(id.number, of: number),
            ownerName: name,
            taskName: taskName,
            key: key?.text,
            error: error.map(Diagnostics.text)
        )
        event.isCancelled = isCancelled
        Diagnostics.tell(event, isInside: isInside)
    }

    @inline(never)
    func tell(_ joining: Machine.Joining, _ key: ErasedKey?, _ name: String?) {
        switch joining {
        case .begun(_, let id, _): tell(.started, .begins, id, key: key, taskName: name, isInside: true)
        case .joined(_, let flight, _): tell(.joined, .goesOn, flight.id, key: key, isInside: true)
        case .reentrant: break
        }
    }

    @inline(never)
    func tellRunning(_ id: ID, _ key: ErasedKey?) { tell(.running, .goesOn, id, key: key, isInside: true) }

    @inline(never)
    func tellEnd(_ id: ID, _ key: ErasedKey?, _ failure: (any Error)?, _ hasBegun: Bool) {
        let kind: TaskEvent.Kind = failure == nil ? .completed : hasBegun ? .failed : .skipped
        // A flight that its last caller has left hears of it a moment later.
        let isCancelled = Task.isCancelled || !mayBegin(id)
        tell(kind, .ends, id, key: key, error: hasBegun ? failure : nil, isCancelled: isCancelled, isInside: true)
    }

    @inline(never)
    func tellCancelledAll(_ ids: [ID]) {
        tell(.cancelledAll, count: ids.count)
        for id in ids { tell(.cancelled, .goesOn, id) }
    }
}
