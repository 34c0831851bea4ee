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
        _turns.source.emitBeginning(.enqueued, .waiting, of: _turns.subject(id), taskName: name)
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

/// The state of a queue: a ``TurnStateMachine`` with its lock, and the word of a ``TurnGate``.
///
/// ``_Places``, the task-local value of code inside a turn, refers to this state and not to the queue: tasks that
/// outlive their turn retain that value, and must not retain the queue.
final class TurnState: PlaceOwner {
    typealias Machine = TurnStateMachine

    /// The number of turns that may run at once; `nil` if the queue determines only the order in which tasks begin.
    let capacity: Int?
    private let state: Locked<Machine>
    private let gate: AtomicWord

    init(capacity: Int?) {
        self.capacity = capacity
        let machine = Machine(capacity: capacity)
        gate = AtomicWord(machine.gate.word)
        state = Locked(machine)
    }

    deinit { gate.deallocate() }

    @inline(__always)
    func withMachine<Answer>(_ event: (inout Machine) -> Answer) -> Answer {
        state.withLock { machine in
            // While the word is in the phase `line`, it is changed only here, under the lock.
            if !TurnGate(word: gate.value).isLine {
                machine.takeBack(TurnGate(word: gate.exchange(TurnGate.line(lastGiven: 0).word)))
            }
            defer { gate.store(machine.gate.word) }
            return event(&machine)
        }
    }

    /// Returns whether a task was given its turn before it asked for the turn. If not, the task must ask the machine.
    ///
    /// Called only by that task, before it ends the turn.
    @inline(__always)
    func hasGiven(_ id: Ticket) -> Bool { TurnGate(word: gate.acquiredValue).hasGiven(id) }

    /// Takes a turn for a caller without the lock, if the queue is idle.
    ///
    /// - Returns: The turn, which has begun; `nil` if the queue is not idle: the machine must then be asked.
    @inline(__always)
    func enterFree() -> Ticket? {
        var turn: Ticket?
        _ = gate.replace { word in
            let entered = TurnGate(word: word).entered
            turn = entered?.turn
            return entered?.word
        }
        return turn
    }

    /// Ends a turn that `enterFree()` has begun, without the lock.
    ///
    /// - Returns: Whether the turn has ended. If not, the turn has an entry in the machine, which must end it.
    @inline(__always)
    func leaveFree(_ id: Ticket) -> Bool { gate.replace { TurnGate(word: $0).left(id)?.word } }

    /// Returns whether a turn has begun and not ended.
    func isHeld(_ id: Ticket) -> Bool {
        let gate = TurnGate(word: gate.value)
        return gate.isLine ? withMachine { $0.isRunning(id) } : gate.isTaken(by: id)
    }
}

extension TurnStateMachine {
    /// The word that ``TurnState`` must store after each change. While the queue is idle, a caller can take a turn with
    /// this word, without the lock. Otherwise, the word leaves all decisions to this machine.
    var gate: TurnGate { isIdle ? .free(after: nextSerial - 1) : .line(lastGiven: lastGiven) }

    /// Ends a period in which a caller could take a turn without this machine. Called before each change, with the word
    /// that was stored.
    mutating func takeBack(_ gate: TurnGate) { catchUp(after: gate.serial, isRunning: gate.isTaken) }
}

/// The way in which a turn ends.
@usableFromInline
enum _TurnEnd {
    case completed
    case failed(any Error)
    /// The task was cancelled before its turn, and its work did not run.
    case skipped
}

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
            group.attach(id, .plain(task), name: name)
        case .refused(let group):
            task.cancel()
            group.source.emit(.refused, taskName: name)
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
        if case .member(let group, let id) = self {
            group.finish(id)
        }
        CancellationCauses.forget(.running)
    }
}
