/// The engine under every queue: locks, asks the state machine, unlocks, and only then acts.
///
/// The tasks of a queue hold it, so that they outlive the queue's face.
@usableFromInline
final class _TurnStorage: Sendable {
    typealias Machine = TurnBooks.Machine
    typealias ID = Machine.ID

    let books: TurnBooks
    /// The key of the marks of turns.
    @usableFromInline let _markKey = _HeldTurn.key
    /// Whether a task holds its turn until it ends. If not, it passes its turn on when it begins.
    @usableFromInline let _holdsTurns: Bool
    private let isConcurrent: Bool

    /// The queue that this is the engine of, as events know it.
    let source: EventSource

    /// - Parameters:
    ///   - capacity: How many may run at once; `nil`: they are to begin in order, and that is all.
    ///   - emitsCreation: Whether observers are notified of its creation.
    init(_ face: TaskEvent.Primitive, name: String?, capacity: Int?, emitsCreation: Bool = true) {
        source = EventSource(face, name: name)
        books = TurnBooks(capacity: capacity ?? 1)
        isConcurrent = capacity ?? 1 > 1
        _holdsTurns = capacity != nil
        if emitsCreation { Diagnostics.emit(source.event(.created)) }
    }

    deinit {
        Diagnostics.emit(source.event(.deallocated))
    }

    // MARK: Coming

    /// Gives a task that is about to be made its place: the order of these calls is the order of the queue.
    @inline(__always)
    func enqueue(level: UInt8) -> ID {
        let level = level != 0 ? level : inheritedLevel
        let place = books.withMachine { machine in
            let place = machine.enqueue(level: level)
            Diagnostics.open(subject(place.id))
            return place
        }
        if place.isUrgent { raise(forNew: place.id, to: level) }
        return place.id
    }

    /// Brings the handle of the task that has been made for a place.
    func attach(_ id: ID, _ task: _TaskHandle) {
        let level = books.withMachine { $0.attach(id, _TaskHandle.Unowned(task)) }
        if level > 0 { TaskControl.raise([task], to: TaskPriority(rawValue: level)) }
    }

    // MARK: Beginning

    /// Begins the turn of a task that has not waited, if it is its turn.
    ///
    /// - Returns: Whether it has begun. If not, the task must wait.
    @inline(__always)
    func begin(_ id: ID) -> Bool {
        guard books.hasTurn(id) else { return false }
        begun(id)
        return true
    }

    /// The turn of a task has come, and the task, isolated as its operation is, begins.
    @inline(__always)
    func begun(_ id: ID) {
        if !_holdsTurns { passOn(id) } else if isConcurrent { callNext(after: id) }
    }

    /// Where several run at once, the next one begins after this one has.
    private func callNext(after id: ID) { books.withMachine { $0.begin(id) }?.resume(returning: .reached) }

    // A task that waits is to fit into the memory that every task has: each function here is one frame of it.

    /// Returns when it is the turn of a task, or when it has left.
    ///
    /// - Returns: Whether it is its turn.
    nonisolated(nonsending) func waitUntilCalled(_ id: ID) async -> Bool {
        await suspend { waiter in
            books.withMachine { $0.park(id, waiter) }
        } raising: { [self] priority in
            raise(before: id, to: priority.rawValue)
        } == .reached
    }

    /// Returns when it is the turn of a task, or when it has left; a task that is cancelled leaves at once.
    ///
    /// - Returns: Whether it is its turn.
    nonisolated(nonsending) func waitUntilCalledOrCancelled(_ id: ID) async -> Bool {
        await suspend { waiter in
            books.withMachine { $0.park(id, waiter) }
        } onCancel: {
            leave(id)
        } raising: { [self] priority in
            raise(before: id, to: priority.rawValue)
        } == .reached
    }

    /// Leaves the line before the turn. Called by the cancellation handler of the task itself, so only that task is resumed here.
    func leave(_ id: ID) {
        let departure = books.withMachine { $0.leave(id) }
        departure.leaving?.resume(returning: .left)
        if departure.hasDrained { performOutsideHandler { self.carryOut(departure) } }
    }

    // MARK: Holding a turn

    /// Whether the caller, or a task that it stems from, holds a turn.
    var isHeldByCaller: Bool { _HeldTurn.isHeld(of: books, _markKey) }

    /// The mark of a turn, for the code that the current task is about to run inside it.
    func mark(_ id: ID) -> _HeldTurn { _HeldTurn(TurnPlace(books: books, id: id), _markKey) }

    // MARK: Ending

    /// Passes the turn of a task on.
    @inline(__always)
    func finish(_ id: ID) {
        if _holdsTurns { passOn(id) }
    }

    @inline(__always)
    func passOn(_ id: ID) { carryOut(books.withMachine { $0.finish(id) }) }

    // MARK: Looking

    var count: Int { books.withMachine { $0.count } }

    /// How many drain.
    var drainerCount: Int { books.withMachine { $0.drainerCount } }

    // MARK: Draining

    /// Returns when all that is in line at the call has left it.
    ///
    /// A cancelled caller leaves at once with `CancellationError`, and a caller that holds a turn with `QueueReentrancyError`. What is there is raised to
    /// the caller's priority.
    nonisolated(nonsending) func drain() async throws {
        try checkReentrancy()
        try Task.checkCancellation()
        guard let id = books.withMachine({ $0.enrollDrainer() }) else { return }
        let wait = source.emitDraining()
        let outcome = await suspend { waiter in
            books.withMachine { $0.parkDrainer(id, waiter) }
        } onCancel: {
            books.withMachine { $0.drainerLeaves(id) }?.resume(returning: .left)
        } raising: { [self] priority in
            raise(to: priority.rawValue) { $0.raiseAll(to: priority.rawValue) }
        }
        source.emitDrained(wait, hasLeft: outcome == .left)
        if outcome == .left { throw CancellationError() }
    }

    // MARK: Acting

    @inline(__always)
    func carryOut(_ departure: Machine.Departure) {
        departure.calling?.resume(returning: .reached)
        if departure.hasDrained {
            for drainer in books.withMachine({ $0.takeDrained() }) { drainer.resume(returning: .reached) }
        }
    }

    private func raise(before id: ID, to level: UInt8) {
        raise(to: level) { $0.raise(before: id, to: level) }
    }

    func raise(forNew id: ID, to level: UInt8) {
        raise(to: level) { $0.raise(forNew: id, to: level) }
    }

    private func raise(to level: UInt8, _ event: (inout Machine) -> [_TaskHandle.Unowned]) {
        // Owned under the lock: a task in line lives, and may end as soon as the lock is free.
        let tasks = books.withMachine { event(&$0).map(\.owned) }
        if !tasks.isEmpty { TaskControl.raise(tasks, to: TaskPriority(rawValue: level)) }
    }
}
