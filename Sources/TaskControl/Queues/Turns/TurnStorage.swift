/// The engine under every queue: locks, asks the state machine, unlocks, and only then acts.
///
/// The tasks of a queue hold it, so that they outlive the queue's face.
@usableFromInline
final class _TurnStorage: Sendable {
    typealias Machine = TurnState.Machine
    typealias ID = Machine.ID

    let state: TurnState
    /// Whether a task holds its turn until it ends. If not, it leaves the line when it begins.
    @usableFromInline let _holdsTurns: Bool
    /// The key of the marks of turns, whose own access takes longer than this.
    @usableFromInline let _markKey = _HeldTurn.current

    /// The queue that this is the engine of, as events know it.
    let source: EventSource

    /// Creates the engine of a queue.
    ///
    /// - Parameters:
    ///   - capacity: The number of tasks that may run at once; `nil`: only the order in which they begin is limited.
    ///   - emitsCreation: Whether observers are notified of the creation of the queue.
    init(_ face: TaskEvent.Primitive, name: String?, capacity: Int?, emitsCreation: Bool = true) {
        source = EventSource(face, name: name)
        state = TurnState(capacity: capacity)
        _holdsTurns = capacity != nil
        if emitsCreation { Diagnostics.emit(source.event(.created)) }
    }

    deinit {
        Diagnostics.emit(source.event(.deallocated))
    }

    // MARK: Coming

    /// Gives a task that is about to be made its place: the order of these calls is the order of the queue.
    ///
    /// - Parameter level: The raw priority of the task; 0 for that of the caller.
    @inline(__always)
    func enqueue(level: UInt8) -> ID {
        let level = level == 0 ? inheritedLevel : level
        let place = state.withMachine { machine in
            let place = machine.enqueue(level: level)
            Diagnostics.open(subject(place.id))
            return place
        }
        if place.isUrgent { raise(before: place.id, to: level) }
        return place.id
    }

    /// Attaches the handle of the task that has been created for a place.
    @inline(__always)
    func attach(_ id: ID, _ task: _TaskHandle) {
        let level = state.withMachine { $0.attach(id, TurnState.Job(task)) }
        if level > 0 { TaskControl.raise([task], to: TaskPriority(rawValue: level)) }
    }

    // MARK: Beginning

    /// Begins the turn of a task, if it is its turn.
    ///
    /// - Returns: Whether it has begun. If not, the task must wait, and try again.
    @inline(__always)
    func begin(_ id: ID) -> Bool { state.hasGiven(id) || beginInLine(id) }

    @inline(never)
    private func beginInLine(_ id: ID) -> Bool {
        guard case .run(let calling) = state.withMachine({ $0.begin(id) }) else { return false }
        calling?.resume(returning: .reached)
        return true
    }

    // A task that waits must fit into the memory that every task has: each function here is one frame of it.

    /// Returns when it is the turn of a task, which then can begin, or when it has left.
    nonisolated(nonsending) func waitUntilCalled(_ id: ID) async {
        _ = await suspend { waiter in
            state.withMachine { $0.park(id, waiter) } ? nil : .reached
        } raising: { [self] priority in
            raise(before: id, to: priority.rawValue)
        }
    }

    /// Returns when it is the turn of a task, which then can begin, or when it has left; a task that is cancelled leaves at once.
    nonisolated(nonsending) func waitUntilCalledOrCancelled(_ id: ID) async {
        _ = await suspend { waiter in
            state.withMachine { $0.park(id, waiter) } ? nil : .reached
        } onCancel: {
            leave(id)
        } raising: { [self] priority in
            raise(before: id, to: priority.rawValue)
        }
    }

    /// Leaves the line before the turn. Called by the cancellation handler of the task itself, so only that task is resumed here.
    func leave(_ id: ID) {
        let departure = state.withMachine { $0.leave(id) }
        departure.leaving?.resume(returning: .reached)
        if departure.concernsOthers { performOutsideHandler { self.carryOut(departure) } }
    }

    // MARK: Holding a turn

    /// Whether the caller, or a task that it stems from, holds a turn.
    var isHeldByCaller: Bool { _HeldTurn.isHeld(of: state) }

    /// Returns the mark of a turn, for a caller that is about to run the code inside the turn.
    func mark(_ id: ID) -> _HeldTurn { _HeldTurn(TurnPlace(queue: state, id: id)) }

    // MARK: Ending

    /// Passes a turn on.
    @inline(__always)
    func finish(_ id: ID) {
        if _holdsTurns { passOn(id) }
    }

    @inline(__always)
    func passOn(_ id: ID) { carryOut(state.withMachine { $0.finish(id) }) }

    // MARK: Looking

    var count: Int { state.withMachine { $0.count } }

    /// The number of callers that drain the queue.
    var drainerCount: Int { state.withMachine { $0.drainerCount } }

    // MARK: Draining

    /// Returns when all that is in line at the call has left it.
    ///
    /// A cancelled caller leaves at once with `CancellationError`, and a caller that holds a turn with `QueueReentrancyError`. The tasks in line are
    /// raised to the caller's priority.
    nonisolated(nonsending) func drain() async throws {
        try checkReentrancy()
        try Task.checkCancellation()
        guard let id = state.withMachine({ $0.enrollDrainer() }) else { return }
        let wait = source.emitDraining()
        let outcome = await suspend { waiter in
            state.withMachine { $0.parkDrainer(id, waiter) }
        } onCancel: {
            state.withMachine { $0.drainerLeaves(id) }?.resume(returning: .left)
        } raising: { [self] priority in
            raise(to: priority.rawValue) { $0.raiseAll(to: priority.rawValue) }
        }
        source.emitDrained(wait, hasLeft: outcome == .left)
        if outcome == .left { throw CancellationError() }
    }

    // MARK: Acting

    @inline(__always)
    private func carryOut(_ departure: Machine.Departure) {
        departure.calling?.resume(returning: .reached)
        if departure.hasDrained {
            for drainer in state.withMachine({ $0.takeDrained() }) { drainer.resume(returning: .reached) }
        }
    }

    func raise(before id: ID, to level: UInt8) {
        raise(to: level) { $0.raise(before: id, to: level) }
    }

    private func raise(to level: UInt8, _ event: (inout Machine) -> [TurnState.Job]) {
        // Owned under the lock: a task in line lives, and may end as soon as the lock is free.
        let tasks = state.withMachine { event(&$0).map(\.owned) }
        if !tasks.isEmpty { TaskControl.raise(tasks, to: TaskPriority(rawValue: level)) }
    }
}
