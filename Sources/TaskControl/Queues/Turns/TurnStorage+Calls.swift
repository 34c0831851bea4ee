/// The calls that wait in the caller's task, which are the same for every queue whose turns last.
extension _TurnStorage {
    /// Waits for a turn, runs `body` in the caller's task, and ends the turn.
    @inlinable
    @inline(__always)
    nonisolated(nonsending) func run<Value>(
        _ body: nonisolated(nonsending) () async throws -> Value
    ) async throws -> Value {
        var mustWait = false
        let turn = try enterCaller(mustWait: &mustWait)
        if mustWait { try await waitInCaller(turn) }
        do {
            let value = try await _markKey.withValue(mark(of: turn), operation: body)
            leaveCaller(turn, .completed)
            return value
        } catch {
            leaveCaller(turn, .failed(error))
            throw error
        }
    }

    func checkReentrancy() throws {
        if isHeldByCaller { throw QueueReentrancyError(queueName: source.name) }
    }

    /// Begins a turn in the caller's task, or takes the last place in the line for it. Not asynchronous, so a caller that need not wait pays for no
    /// suspension.
    ///
    /// - Parameter mustWait: Whether the turn has not begun: the caller must continue with ``waitInCaller(_:)``.
    @usableFromInline
    func enterCaller(mustWait: inout Bool) throws -> _CallerTurn {
        // The subject of events opens while holding the lock. A caller that holds a turn of this queue finds no free one.
        if Diagnostics.isUnobserved, !_isTaskCancelled, let id = state.enterFree() { return _CallerTurn(id: id) }
        return try enterLine(mustWait: &mustWait)
    }

    /// Adds an entry for a caller to the line. The entries behind it do not raise the task of a caller: a task that the queue has not created may end
    /// as soon as it has left.
    @inline(never)
    private func enterLine(mustWait: inout Bool) throws -> _CallerTurn {
        try checkReentrancy()
        if Task.isCancelled { throw CancellationError() }
        let level = Task.currentPriority.rawValue
        let place = state.withMachine { machine in
            let place = machine.enqueue(level: level)
            Diagnostics.open(subject(place.id))
            // If it can begin, it is the last in line, and there is no other to call. An urgent one raises first, since an entry that has begun
            // raises none: entries that come to wait behind it stop raising at it, and rely on it to have raised the entries before it.
            if !place.isUrgent, case .run = machine.begin(place.id) { return place }
            mustWait = true
            return place
        }
        if place.isUrgent { raise(before: place.id, to: level) }
        emitCall(place.id, mustWait)
        return _CallerTurn(id: place.id)
    }

    /// Returns when the turn of a caller has begun.
    @usableFromInline
    nonisolated(nonsending) func waitInCaller(_ turn: _CallerTurn) async throws(CancellationError) {
        await waitUntilCalledOrCancelled(turn.id)
        if begin(turn.id) {
            if !Task.isCancelled { return emit(.started, .entered(.running), turn.id) }
            // Given its turn at the moment of the cancellation.
            passOn(turn.id)
        }
        if let moment = Diagnostics.moment { emitEnd(.skipped, turn.id, at: moment) }
        throw CancellationError()
    }

    /// Returns the mark of the turn of a caller.
    @usableFromInline
    func mark(of turn: _CallerTurn) -> _HeldTurn { mark(turn.id) }

    /// Ends the turn of a caller, and passes it on.
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

/// A turn in the caller's task.
@usableFromInline
struct _CallerTurn: Sendable {
    let id: Ticket
}
