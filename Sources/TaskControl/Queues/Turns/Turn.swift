/// The place of one task in a queue.
@usableFromInline
struct Turn: Sendable {
    let turns: TurnStorage
    let id: TurnStorage.ID
    let membership: Membership?

    /// Gives somebody a place: the order of these calls is the order of the queue.
    @inline(__always)
    init(in turns: TurnStorage, name: String?, priority: TaskPriority?, group: TaskRegistry? = nil) {
        self.turns = turns
        id = turns.enqueue(priority: priority)
        membership = group.map { [id] in Membership($0, of: id, in: turns, taskName: name) }
        if Diagnostics.isOn { tellEnqueued(name) }
    }

    /// Brings the handle of the task that has been made for this place.
    @usableFromInline
    func attach(_ task: TaskHandle) {
        turns.attach(id, task)
        membership?.attach(task)
    }

    /// Begins, if it is this one's turn.
    ///
    /// - Returns: Whether it has begun. If not, the task is to wait, and to try again.
    @usableFromInline
    func begin() -> Bool { turns.begin(id) }

    @usableFromInline
    nonisolated(nonsending) func waitUntilCalled() async {
        if Diagnostics.isOn { tellInside(.waiting) }
        await turns.waitUntilCalled(id)
    }

    @usableFromInline
    func leave() { turns.leave(id) }

    /// Passes the turn on, if it had begun.
    @usableFromInline
    func finish(_ end: TurnEnd) {
        // Before the next one can begin.
        if Diagnostics.isOn { tellEnd(end) }
        turns.finish(id)
        membership?.end()
    }

    /// Whether its group has been cancelled, which its task may be about to hear of.
    @usableFromInline var isCancelled: Bool { Task.isCancelled || (membership?.isCancelled ?? false) }

    /// The work begins.
    ///
    /// - Returns: What marks the turn inside it; `nil` if there is nothing to hold.
    @usableFromInline
    func enter() -> HeldTurn? {
        if Diagnostics.isOn { tellInside(.started) }
        return turns.holdsTurns ? turns.held(id) : nil
    }
}

/// How the task of a turn ends.
@usableFromInline
enum TurnEnd {
    case completed
    case failed(any Error)
    /// It was cancelled before its turn.
    case skipped
}

/// The place of a task among the tasks that a ``CancellableQueue`` cancels together.
enum Membership: Sendable {
    case member(TaskRegistry, TaskRegistry.ID)
    /// The queue is closed: the task is cancelled.
    case refused

    init(_ group: TaskRegistry, of turn: TurnStorage.ID, in turns: TurnStorage, taskName: String?) {
        // The events of the group know the task by what those of the queue know it by.
        if let id = group.reserve(subject: Diagnostics.isOn ? turns.subject(turn) : nil) {
            self = .member(group, id)
        } else {
            if Diagnostics.isOn { group.tell(.refused, taskName: taskName) }
            self = .refused
        }
    }

    func attach(_ task: TaskHandle) {
        switch self {
        case .member(let group, let id): group.attach(id, task)
        case .refused: task.cancel()
        }
    }

    var isCancelled: Bool {
        if case .member(let group, let id) = self { !group.isLive(id) } else { true }
    }

    func end() {
        if case .member(let group, let id) = self { group.finish(id) }
    }
}
