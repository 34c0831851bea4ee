// The engine of all queues, from the outside in:
//
//     FIFOQueue, ConcurrentQueue, ActorQueue, CancellableQueue     the faces
//     KeyedFIFOQueue, _KeyedTurns             a _TurnStorage per key that is in use, in a LineTable
//     _TurnStorage                            asks the machine, and acts after unlocking
//       TurnState                             the machine and its lock; the word of an idle queue, without the lock
//         TurnGate                            that word
//         TurnStateMachine                    the line of tasks and callers, and whose turn it is
//     _Turn, _CallerTurn                      one place in the line: of a task, and of a caller of `run`
//     _TurnBody                               what a task runs: wait for its turn, work, pass the turn on
//       _TurnWork                             the forms of that work

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
        if emitsCreation { source.emit(.created) }
    }

    deinit {
        source.emit(.deallocated)
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
        let level = state.withMachine { $0.attach(id, Word(task)) }
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
            state.withMachine { $0.park(id, Word(waiter)) } ? nil : .reached
        } raising: { [self] priority in
            raise(before: id, to: priority.rawValue)
        }
    }

    /// Suspends the calling task, whose place in the queue is `id`, until its turn has come or it has left the queue.
    /// If the task is cancelled, it leaves the queue at once, and ends its wait in the graph of waits. After this
    /// function has returned, the task must call ``begin(_:)``, which returns whether its turn has begun; if not, it has
    /// left the queue.
    nonisolated(nonsending) func waitUntilCalledOrCancelled(_ id: ID, _ wait: _PlaceWaits.Wait) async {
        _ = await suspend { waiter in
            state.withMachine { $0.park(id, Word(waiter)) } ? nil : .reached
        } onCancel: {
            wait.end()
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

    // MARK: Pausing

    var isPaused: Bool { state.withMachine { $0.isPaused } }

    func pause() {
        if state.withMachine({ $0.pause() }) { source.emit(.paused) }
    }

    func resume() {
        let (hasChanged, calling) = state.withMachine { $0.endPause() }
        calling?.resume(returning: .reached)
        if hasChanged { source.emit(.resumed) }
    }

    // MARK: Looking

    var count: Int { state.withMachine { $0.count } }

    /// The number of callers that wait in ``drain()``.
    var drainerCount: Int { state.withMachine { $0.drainerCount } }

    // MARK: Draining

    /// Waits until all tasks and callers that are in the queue at the time of the call have left it. Meanwhile, the
    /// tasks are raised to the priority of the caller.
    ///
    /// - Throws: `CancellationError` at once if the caller is cancelled; ``ReentrancyError`` if the caller is
    ///   inside a turn of this queue, or a turn of this queue waits for the caller.
    nonisolated(nonsending) func drain() async throws {
        // A cancelled caller receives CancellationError, whatever else would be thrown.
        try Task.checkCancellation()
        let places = try placesOutsideTurns()
        guard let (id, last) = state.withMachine({ $0.enrollDrainer() }) else { return }
        let goal = _PlaceWaits.Goal.end(of: ObjectIdentifier(state), upTo: last.number)
        guard let recorded = _PlaceWaits.begin(for: goal, inside: places) else {
            _ = state.withMachine { $0.drainerLeaves(id) }
            // Returns at once, and removes the caller from the table.
            _ = await suspend { waiter in state.withMachine { $0.parkDrainer(id, Word(waiter)) } }
            throw reentrancyError
        }
        let wait = source.emitDraining()
        let outcome = await suspend { waiter in
            state.withMachine { $0.parkDrainer(id, Word(waiter)) }
        } onCancel: {
            recorded.end()
            state.withMachine { $0.drainerLeaves(id) }?.resume(returning: .left)
        } raising: { [self] priority in
            raise(to: priority.rawValue) { $0.raiseAll(to: priority.rawValue) }
        }
        recorded.end()
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

    private func raise(to level: UInt8, _ event: (inout Machine) -> [Word]) {
        // Retained under the lock: a task in the queue has not ended, and may end as soon as the lock is free.
        let tasks = state.withMachine { event(&$0).map(\.task) }
        if !tasks.isEmpty { TaskControl.raise(tasks, to: TaskPriority(rawValue: level)) }
    }
}

/// Turns that run in the caller's task: the implementation of `run` of ``FIFOQueue`` and ``ConcurrentQueue``.
extension _TurnStorage {
    /// Waits for a turn, runs `body` in the caller's task, and ends the turn.
    ///
    /// - Throws: The error of `body`; `CancellationError` if the caller was cancelled before its turn;
    ///   ``ReentrancyError`` if the caller is inside a turn of this queue, or all turns of this queue wait for the
    ///   caller.
    @export(implementation)
    @inline(__always)
    nonisolated(nonsending) func run<Value>(
        _ body: nonisolated(nonsending) () async throws -> Value
    ) async throws -> Value {
        var wait: _PlaceWaits.Wait?
        let turn = try enterCaller(&wait)
        if let wait { try await waitInCaller(turn, wait) }
        do {
            let value = try await _places.withValue(places(of: turn), operation: body)
            leaveCaller(turn, .completed)
            return value
        } catch {
            leaveCaller(turn, .failed(error))
            throw error
        }
    }

    var reentrancyError: ReentrancyError { ReentrancyError(queueName: source.name) }

    /// Returns the places that the caller is inside of.
    ///
    /// - Throws: ``ReentrancyError`` if one of them is a turn of this queue.
    private func placesOutsideTurns() throws -> [Place] {
        let places = _Places.heldByCaller
        if places.contains(where: { $0.owner === state }) { throw reentrancyError }
        return places
    }

    /// Begins a turn in the caller's task if its turn has come, and otherwise takes the last place in the queue for
    /// that task. Not asynchronous, so a caller that need not wait does not suspend.
    ///
    /// - Parameter wait: Set to a wait if the turn has not begun: the caller must then call ``waitInCaller(_:_:)``.
    /// - Returns: The identity of the turn.
    /// - Throws: `CancellationError` if the caller was cancelled before the call; ``ReentrancyError`` if the
    ///   caller is inside a turn of this queue, or all turns of this queue wait for the caller.
    @usableFromInline
    func enterCaller(_ wait: inout _PlaceWaits.Wait?) throws -> _CallerTurn {
        // Only without observers, since the subject of an event must be opened under the lock. The re-entrancy check is
        // not needed: a queue of which the caller holds a turn is not idle.
        if Diagnostics.isUnobserved, !_isTaskCancelled, let id = state.enterFree() { return _CallerTurn(id: id) }
        return try enterLine(&wait)
    }

    /// Takes the last place in the queue for the caller's task, and begins the turn if it has come.
    ///
    /// Tasks behind it in the queue do not raise the priority of the caller's task: the queue has not created this
    /// task, and the task may end as soon as it has left the queue.
    ///
    /// - Parameter wait: Set to a wait if the turn has not begun.
    /// - Returns: The identity of the turn.
    /// - Throws: The same errors as ``enterCaller(_:)``.
    @inline(never)
    private func enterLine(_ wait: inout _PlaceWaits.Wait?) throws -> _CallerTurn {
        // A cancelled caller receives CancellationError, whatever else would be thrown.
        if Task.isCancelled { throw CancellationError() }
        let places = try placesOutsideTurns()
        let level = Task.currentPriority.rawValue
        // Before the caller joins the line, since a caller that would wait for itself must leave no trace.
        let goal = _PlaceWaits.Goal.turn(of: ObjectIdentifier(state), width: state.capacity ?? .max)
        guard let recorded = _PlaceWaits.begin(for: goal, inside: places) else { throw reentrancyError }
        var mustWait = false
        let place = state.withMachine { machine in
            let place = machine.enqueue(level: level)
            Diagnostics.open(subject(place.id))
            // An entry that can begin here is the last one, so there is no other to resume. An urgent entry raises the
            // entries before it first, since an entry that has begun raises none: entries that come to wait behind it
            // stop raising at it, and rely on it to have raised the entries before it.
            if !place.isUrgent, case .run = machine.begin(place.id) { return place }
            mustWait = true
            return place
        }
        if mustWait { wait = recorded } else { recorded.end() }
        if place.isUrgent { raise(before: place.id, to: level) }
        emitCall(place.id, mustWait)
        return _CallerTurn(id: place.id)
    }

    /// Waits until the turn of a caller has begun.
    ///
    /// - Throws: `CancellationError` if the caller was cancelled before the turn began.
    @usableFromInline
    nonisolated(nonsending) func waitInCaller(
        _ turn: _CallerTurn,
        _ wait: _PlaceWaits.Wait
    ) async throws(CancellationError) {
        await waitUntilCalledOrCancelled(turn.id, wait)
        wait.end()
        if begin(turn.id) {
            if !Task.isCancelled { return emit(.started, .entered(.running), turn.id) }
            // The turn came together with the cancellation.
            passOn(turn.id)
        }
        if let moment = Diagnostics.moment { emitEnd(.skipped, turn.id, at: moment) }
        throw CancellationError()
    }

    /// Returns the value of the task-local ``_Places/local`` for the code that runs inside a caller's turn.
    @usableFromInline
    func places(of turn: _CallerTurn) -> _Places { places(inside: turn.id) }

    /// Ends the turn of a caller, so that the next task can begin.
    ///
    /// - Parameters:
    ///   - turn: The turn.
    ///   - end: The way in which the turn has ended, for the event.
    @usableFromInline
    func leaveCaller(_ turn: _CallerTurn, _ end: _TurnEnd) {
        let moment = Diagnostics.moment
        if !state.leaveFree(turn.id) { passOn(turn.id) }
        if let moment { emitEnd(end, turn.id, at: moment) }
    }

    private func emitCall(_ id: ID, _ mustWait: Bool) {
        source.emitBeginning(.enqueued, .waiting, of: subject(id), isInside: true)
        if mustWait { emit(.waiting, .entered(.waiting), id) } else { emit(.started, .entered(.running), id) }
    }
}

/// The identity of a turn that runs in the caller's task.
@usableFromInline
struct _CallerTurn: Sendable {
    let id: Ticket
}

/// The events of a queue and its turns.
extension _TurnStorage {
    func subject(_ id: ID) -> TaskEvent.Identity { TaskEvent.Identity(id.number, of: source.number) }

    /// Emits an event about a turn. Called by the task whose turn it is.
    ///
    /// - Parameters:
    ///   - kind: The kind of the event.
    ///   - change: The effect of the event on the phase of the turn.
    ///   - id: The turn.
    func emit(_ kind: TaskEvent.Kind, _ change: TaskEvent.Change, _ id: ID) {
        source.emit(kind, change, about: subject(id), isInside: true)
    }

    @inline(never)
    func emitEnd(_ end: _TurnEnd, _ id: ID, at moment: EventMoment) {
        let (kind, outcome, error): (TaskEvent.Kind, TaskEvent.Outcome, (any Error)?) =
            switch end {
            case .completed: (.completed, .completed, nil)
            case .failed(let error): (.failed, .failed, error)
            case .skipped: (.skipped, .skipped, nil)
            }
        source.emit(kind, .ended(outcome), about: subject(id), error: error, at: moment, isInside: true)
    }
}
