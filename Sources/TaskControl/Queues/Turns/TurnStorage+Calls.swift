/// The calls that wait in the caller's task, which are the same for every queue whose turns last.
extension _TurnStorage {
    /// Waits for a turn, runs `body` in the caller's task, and passes the turn on.
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

    /// Takes the last place for a turn in the caller's task. Not asynchronous, so a caller that need not wait pays for no suspension.
    ///
    /// - Parameter mustWait: Whether the turn has not begun: the caller must go on with ``waitInCaller(_:)``.
    @usableFromInline
    func enterCaller(mustWait: inout Bool) throws -> _CallerTurn {
        try checkReentrancy()
        if Task.isCancelled { throw CancellationError() }
        let isQuiet = Diagnostics.whileObserved(()) == nil
        guard isQuiet, let id = books.enterFree() else { return enterLine(mustWait: &mustWait) }
        return _CallerTurn(id: id)
    }

    /// The caller is not raised by those behind it: a task that is not the queue's may end as soon as it has left.
    private func enterLine(mustWait: inout Bool) -> _CallerTurn {
        let level = Task.currentPriority.rawValue
        let place = books.withMachine { machine in
            let place =
                if let id = books.enterEmpty(&machine) {
                    Machine.Place(id: id, isUrgent: false, hasTurn: true)
                } else {
                    machine.enqueue(level: level)
                }
            // The last in line: it calls nobody.
            if place.hasTurn { _ = machine.begin(place.id) }
            Diagnostics.open(subject(place.id))
            return place
        }
        if place.isUrgent { raise(forNew: place.id, to: level) }
        mustWait = !place.hasTurn
        emitCall(place.id, mustWait)
        return _CallerTurn(id: place.id)
    }

    /// Returns when the turn of a caller has begun.
    @usableFromInline
    nonisolated(nonsending) func waitInCaller(_ turn: _CallerTurn) async throws(CancellationError) {
        if await waitUntilCalledOrCancelled(turn.id) {
            if !Task.isCancelled {
                begun(turn.id)
                return emit(.started, .entered(.running), turn.id)
            }
            // Cancelled between its turn and its beginning.
            passOn(turn.id)
        }
        if let moment = Diagnostics.moment { emitEnd(.skipped, turn.id, at: moment) }
        throw CancellationError()
    }

    /// The mark of the turn for the code inside it.
    @usableFromInline
    func mark(of turn: _CallerTurn) -> _HeldTurn { mark(turn.id) }

    /// Ends the turn of a caller, and passes it on.
    @usableFromInline
    func leaveCaller(_ turn: _CallerTurn, _ end: _TurnEnd) {
        let moment = Diagnostics.moment
        if !books.leaveFree(turn.id) { passOn(turn.id) }
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
