/// Turns that run in the caller's task: the implementation of `run` of ``FIFOQueue`` and ``ConcurrentQueue``.
extension _TurnStorage {
    /// Waits for a turn, runs `body` in the caller's task, and ends the turn.
    ///
    /// - Throws: The error of `body`; `CancellationError` if the caller was cancelled before its turn;
    ///   ``QueueReentrancyError`` if the caller is inside a turn of this queue.
    @inlinable
    @inline(__always)
    nonisolated(nonsending) func run<Value>(
        _ body: nonisolated(nonsending) () async throws -> Value
    ) async throws -> Value {
        var mustWait = false
        let turn = try enterCaller(mustWait: &mustWait)
        if mustWait { try await waitInCaller(turn) }
        do {
            let value = try await _places.withValue(places(of: turn), operation: body)
            leaveCaller(turn, .completed)
            return value
        } catch {
            leaveCaller(turn, .failed(error))
            throw error
        }
    }

    func checkReentrancy() throws {
        if _Places.isInside(state) { throw QueueReentrancyError(queueName: source.name) }
    }

    /// Begins a turn in the caller's task if its turn has come, and otherwise takes the last place in the queue for
    /// that task. Not asynchronous, so a caller that need not wait does not suspend.
    ///
    /// - Parameter mustWait: Set to `true` if the turn has not begun: the caller must then call ``waitInCaller(_:)``.
    /// - Returns: The identity of the turn.
    /// - Throws: `CancellationError` if the caller was cancelled before the call; ``QueueReentrancyError`` if the
    ///   caller is inside a turn of this queue.
    @usableFromInline
    func enterCaller(mustWait: inout Bool) throws -> _CallerTurn {
        // Only without observers, since the subject of an event must be opened under the lock. The re-entrancy check is
        // not needed: a queue of which the caller holds a turn is not idle.
        if Diagnostics.isUnobserved, !_isTaskCancelled, let id = state.enterFree() { return _CallerTurn(id: id) }
        return try enterLine(mustWait: &mustWait)
    }

    /// Takes the last place in the queue for the caller's task, and begins the turn if it has come.
    ///
    /// Tasks behind it in the queue do not raise the priority of the caller's task: the queue has not created this
    /// task, and the task may end as soon as it has left the queue.
    ///
    /// - Parameter mustWait: Set to `true` if the turn has not begun.
    /// - Returns: The identity of the turn.
    /// - Throws: The same errors as ``enterCaller(mustWait:)``.
    @inline(never)
    private func enterLine(mustWait: inout Bool) throws -> _CallerTurn {
        try checkReentrancy()
        if Task.isCancelled { throw CancellationError() }
        let level = Task.currentPriority.rawValue
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
        if place.isUrgent { raise(before: place.id, to: level) }
        emitCall(place.id, mustWait)
        return _CallerTurn(id: place.id)
    }

    /// Waits until the turn of a caller has begun.
    ///
    /// - Throws: `CancellationError` if the caller was cancelled before the turn began.
    @usableFromInline
    nonisolated(nonsending) func waitInCaller(_ turn: _CallerTurn) async throws(CancellationError) {
        await waitUntilCalledOrCancelled(turn.id)
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
        Diagnostics.emitBeginning(isInside: true, source.event(.enqueued, .began(.waiting), about: subject(id)))
        if mustWait { emit(.waiting, .entered(.waiting), id) } else { emit(.started, .entered(.running), id) }
    }
}

/// The identity of a turn that runs in the caller's task.
@usableFromInline
struct _CallerTurn: Sendable {
    let id: Ticket
}
