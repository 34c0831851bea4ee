/// The implementation that all types of queues share. Asks ``TurnStateMachine`` for each decision under a lock, and
/// carries it out after unlocking.
///
/// The tasks of a queue retain this storage, so they still run after the queue itself, such as a ``FIFOQueue``, was
/// deallocated.
@usableFromInline
final class _TurnStorage: Sendable {
    typealias Machine = TurnState.Machine
    typealias ID = Machine.ID

    let state: TurnState
    /// Whether a task holds its turn until it ends. If not, the task leaves the queue when it begins, as in an
    /// ``ActorQueue``.
    @usableFromInline let _holdsTurns: Bool
    /// The task-local ``_Places/local``. Stored in a property, because an access to the static property takes longer.
    @usableFromInline let _places = _Places.local

    /// The origin of the events of the queue.
    let source: EventSource

    /// Creates the implementation of a queue.
    ///
    /// - Parameters:
    ///   - face: The type of the queue, such as ``FIFOQueue``, as events show it.
    ///   - name: The name of the queue; `nil` if it has none.
    ///   - capacity: The number of tasks that may run at once; `nil` if the queue determines only the order in which
    ///     tasks begin.
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

    /// Takes the last place in the queue for a task that is about to be created. The order of these calls is the order
    /// of the queue.
    ///
    /// - Parameter level: The raw priority of the task; 0 for the priority of the caller.
    /// - Returns: The identity of the task's place, and later of its turn.
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

    /// Stores the handle of the task that was created for a place in the queue. Raises the task if a task behind it has
    /// a higher priority.
    ///
    /// - Parameters:
    ///   - id: The place, which ``enqueue(level:)`` has returned.
    ///   - task: The handle of the task.
    @inline(__always)
    func attach(_ id: ID, _ task: _TaskHandle) {
        let level = state.withMachine { $0.attach(id, TurnState.Job(task)) }
        if level > 0 { TaskControl.raise([task], to: TaskPriority(rawValue: level)) }
    }

    // MARK: Beginning

    /// Begins the turn of a task, if its turn has come.
    ///
    /// - Returns: Whether the turn has begun. If not, the task must call ``waitUntilCalled(_:)`` or
    ///   ``waitUntilCalledOrCancelled(_:)``, and then call this function again: if this call also returns `false`, the
    ///   task has left the queue.
    @inline(__always)
    func begin(_ id: ID) -> Bool { state.hasGiven(id) || beginInLine(id) }

    @inline(never)
    private func beginInLine(_ id: ID) -> Bool {
        guard case .run(let calling) = state.withMachine({ $0.begin(id) }) else { return false }
        calling?.resume(returning: .reached)
        return true
    }

    // The frames of a waiting task must fit into the memory that the runtime allocates together with the task: each
    // function here adds one frame.

    /// Suspends the calling task, whose place in the queue is `id`, until its turn has come or it has left the queue.
    /// The task must then call ``begin(_:)``, which returns whether its turn has begun.
    nonisolated(nonsending) func waitUntilCalled(_ id: ID) async {
        _ = await suspend { waiter in
            state.withMachine { $0.park(id, waiter) } ? nil : .reached
        } raising: { [self] priority in
            raise(before: id, to: priority.rawValue)
        }
    }

    /// Suspends the calling task, whose place in the queue is `id`, until its turn has come or it has left the queue.
    /// If the task is cancelled, it leaves the queue at once. After this function has returned, the task must call
    /// ``begin(_:)``, which returns whether its turn has begun; if not, it has left the queue.
    nonisolated(nonsending) func waitUntilCalledOrCancelled(_ id: ID) async {
        _ = await suspend { waiter in
            state.withMachine { $0.park(id, waiter) } ? nil : .reached
        } onCancel: {
            leave(id)
        } raising: { [self] priority in
            raise(before: id, to: priority.rawValue)
        }
    }

    /// Removes a task from the queue before its turn. Called by the cancellation handler of that task, so it resumes no
    /// other task.
    func leave(_ id: ID) {
        let departure = state.withMachine { $0.leave(id) }
        departure.leaving?.resume(returning: .reached)
        if departure.concernsOthers { wakeOutsideHandler { self.carryOut(departure) } }
    }

    // MARK: Holding a turn

    /// Returns the value of the task-local ``_Places/local`` for the code that runs inside a turn. Called by the task
    /// whose turn it is, before that code runs.
    func places(inside id: ID) -> _Places { _Places(inTurn: Place(id, in: state)) }

    // MARK: Ending

    /// Ends a turn, so that the next task can begin. Has no effect in a queue whose tasks leave it when they begin.
    @inline(__always)
    func finish(_ id: ID) {
        if _holdsTurns { passOn(id) }
    }

    @inline(__always)
    func passOn(_ id: ID) { carryOut(state.withMachine { $0.finish(id) }) }

    // MARK: Looking

    var count: Int { state.withMachine { $0.count } }

    /// The number of callers that wait in ``drain()``.
    var drainerCount: Int { state.withMachine { $0.drainerCount } }

    // MARK: Draining

    /// Waits until all tasks and callers that are in the queue at the time of the call have left it. Meanwhile, the
    /// tasks are raised to the priority of the caller.
    ///
    /// - Throws: `CancellationError` at once if the caller is cancelled; ``QueueReentrancyError`` if the caller is
    ///   inside a turn of this queue.
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
        // Retained under the lock: a task in the queue has not ended, and may end as soon as the lock is free.
        let tasks = state.withMachine { event(&$0).map(\.owned) }
        if !tasks.isEmpty { TaskControl.raise(tasks, to: TaskPriority(rawValue: level)) }
    }
}
