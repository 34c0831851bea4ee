/// The place of one task in a queue.
///
/// Public only because the requirements of ``TaskQueue`` and ``ActorTaskQueue`` name this type.
public struct _Turn: Sendable {
    @usableFromInline let _turns: _TurnStorage
    let id: _TurnStorage.ID
    let membership: Membership?

    /// Takes the last place in a queue. The order of these calls is the order of the queue.
    ///
    /// - Parameters:
    ///   - turns: The storage of the queue.
    ///   - level: The raw priority of the task; 0 for that of the caller.
    ///   - group: The registry of the ``CancellableQueue`` through which the task is sent; `nil` for none.
    @inline(__always)
    init(in turns: _TurnStorage, level: UInt8, group: TaskRegistry? = nil) {
        _turns = turns
        id = _turns.enqueue(level: level)
        membership = group.map { [id] in Membership($0, of: id, in: turns) }
    }

    private init(_ turns: _TurnStorage, _ id: _TurnStorage.ID, _ membership: Membership) {
        _turns = turns
        self.id = id
        self.membership = membership
    }

    /// Returns this place with its task as a member of `group`, the registry of a ``CancellableQueue``. The queue can
    /// then cancel the task.
    func joining(_ group: TaskRegistry) -> _Turn { _Turn(_turns, id, Membership(group, of: id, in: _turns)) }

    /// Attaches the handle of the task that has been created for this place, and emits the `enqueued` event.
    ///
    /// - Parameters:
    ///   - task: The handle of the task.
    ///   - name: The name of the task, for the event.
    @usableFromInline
    func attach(_ task: _TaskHandle, name: String?) {
        _turns.attach(id, task)
        if concernsOthers { attachToOthers(task, name) }
    }

    /// Whether the task belongs to a ``CancellableQueue``, or an observer of events is registered.
    @inline(__always)
    private var concernsOthers: Bool { membership != nil || !Diagnostics.isUnobserved }

    @inline(never)
    private func attachToOthers(_ task: _TaskHandle, _ name: String?) {
        membership?.attach(task, name: name)
        Diagnostics.emitBeginning(
            _turns.source.event(.enqueued, .began(.waiting), about: _turns.subject(id), taskName: name)
        )
    }

    /// Begins the turn, if it has come.
    ///
    /// - Returns: Whether the turn has begun. If not, the task must call ``waitUntilCalled()``, and try again.
    @usableFromInline
    func begin() -> Bool { _turns.begin(id) }

    @usableFromInline
    nonisolated(nonsending) func waitUntilCalled() async {
        _turns.emit(.waiting, .entered(.waiting), id)
        await _turns.waitUntilCalled(id)
    }

    @usableFromInline
    func leave() { _turns.leave(id) }

    /// Ends the turn, if it has begun: the next task can then begin. Emits the event that reports the end.
    ///
    /// - Parameter end: The way in which the turn ends.
    @usableFromInline
    func finish(_ end: _TurnEnd) {
        if concernsOthers { finishForOthers(end) } else { _turns.finish(id) }
    }

    @inline(never)
    private func finishForOthers(_ end: _TurnEnd) {
        let moment = Diagnostics.moment
        _turns.finish(id)
        membership?.end()
        if let moment { _turns.emitEnd(end, id, at: moment) }
    }

    /// Whether the current task was cancelled, or its ``CancellableQueue`` was cancelled or closed: the task receives
    /// the cancellation of that queue a moment later.
    @usableFromInline var isCancelled: Bool { _isTaskCancelled || (membership?.isCancelled ?? false) }

    /// The task-local value for the code inside the turn, by which the queue detects that code when it calls the queue.
    @usableFromInline var places: _Places { _turns.places(inside: id) }

    /// Emits the event that the work of the turn begins. Called by the task of the turn. If the ``CancellableQueue`` of
    /// the task was cancelled or closed before, the current task is cancelled first.
    @usableFromInline
    func enter() {
        if concernsOthers { enterForOthers() }
    }

    @inline(never)
    private func enterForOthers() {
        // A group that was cancelled or closed before this task had a handle cancels the task a moment later: the work
        // must already see the cancellation.
        if let membership, membership.isCancelled { membership.cancelCurrentTask() }
        _turns.emit(.started, .entered(.running), id)
    }
}
