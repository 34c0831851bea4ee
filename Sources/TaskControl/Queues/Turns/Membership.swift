/// The membership of a task in a ``CancellableQueue``, which cancels its tasks together.
enum Membership: Sendable {
    case member(TaskRegistry, TaskRegistry.ID)
    /// The ``CancellableQueue`` that has the given registry is closed: the task is not a member, and is cancelled.
    case refused(TaskRegistry)

    init(_ group: TaskRegistry, of turn: _TurnStorage.ID, in turns: _TurnStorage) {
        // The task has the same identity in the events of the group and of the queue.
        if let id = group.reserve(subject: Diagnostics.whileObserved(turns.subject(turn))) {
            self = .member(group, id)
        } else {
            self = .refused(group)
        }
    }

    func attach(_ task: _TaskHandle, name: String?) {
        switch self {
        case .member(let group, let id):
            group.attach(id, .plain(task))
        case .refused(let group):
            task.cancel()
            Diagnostics.emit(group.source.event(.refused, taskName: name))
        }
    }

    var isCancelled: Bool {
        if case .member(let group, let id) = self { !group.isLive(id) } else { true }
    }

    /// Cancels the current task, which must be the task of this membership, and records the cause for which the
    /// ``CancellableQueue`` was cancelled or closed.
    func cancelCurrentTask() {
        switch self {
        case .member(let group, let id): group.recordCauseOfCurrentTask(id)
        case .refused(let group):
            // `attach` cancels the handle of this task, and may have done so before. The cause is recorded even then.
            CancellationCauses.record(.known(.shutdown(name: group.name)), for: .running, isFirst: true)
        }
        withUnsafeCurrentTask { $0?.cancel() }
    }

    func end() {
        if case .member(let group, let id) = self { group.finish(id) }
        CancellationCauses.forget(.running)
    }
}
