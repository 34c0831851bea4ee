/// The place of one task in a queue.
@usableFromInline
struct Turn: Sendable {
    let turns: TurnStorage
    let id: TurnStorage.ID
    let membership: Membership?

    /// Gives somebody a place: the order of these calls is the order of the queue.
    @inline(__always)
    init(in turns: TurnStorage, priority: TaskPriority?, group: TaskRegistry? = nil) {
        self.turns = turns
        membership = Membership(group)
        id = turns.enqueue(priority: priority)
    }

    /// Brings the handle of the task that has been made for this place.
    @usableFromInline
    func attach(_ task: TaskHandle) {
        turns.attach(id, task)
        if let membership { membership.registry.attach(membership.id, task) }
    }

    /// Begins, if it is this one's turn.
    ///
    /// - Returns: Whether it has begun. If not, the task is to wait, and to try again.
    @usableFromInline
    func begin() -> Bool { turns.begin(id) }

    @usableFromInline
    nonisolated(nonsending) func waitUntilCalled() async { await turns.waitUntilCalled(id) }

    @usableFromInline
    func leave() { turns.leave(id) }

    /// Passes the turn on, if it had begun.
    @usableFromInline
    func finish() {
        turns.finish(id)
        membership?.end()
    }

    /// Whether its group has been cancelled, which its task may be about to hear of.
    @usableFromInline var isCancelled: Bool { Task.isCancelled || (membership?.isCancelled ?? false) }

    /// What marks the turn inside it; `nil` if there is nothing to hold.
    @usableFromInline var held: HeldTurn? { turns.held?.turn(id) }
}

/// The place of a task among those that a ``CancellableQueue`` cancels together.
struct Membership: Sendable {
    let registry: TaskRegistry
    let id: TaskRegistry.ID

    init?(_ group: TaskRegistry?) {
        guard let group, let id = group.reserve() else { return nil }
        registry = group
        self.id = id
    }

    var isCancelled: Bool { !registry.mayStart(id) }

    func end() { registry.finish(id) }
}
