/// Flights that are kept: they continue without callers, until they are released.
extension _FlightTable {
    /// Begins the flight of a key without a caller. If the key has a flight already, keeps that flight. A kept flight
    /// continues without callers until ``release(_:of:because:)`` is called.
    @inlinable
    package func launch<Value: Sendable>(
        _ key: _ErasedKey,
        operation: @escaping @Sendable @isolated(any) () async throws -> Value
    ) {
        let flight = _TypedFlight<Value>(self, key, nil)
        guard launch(key, flight) else { return }
        let name = callersName
        let task = _withDeadline(of: nil) {
            spawn(
                name: name,
                priority: nil,
                isolatedTo: operation.isolation,
                _FlightBody(flight, operation: operation)
            )
        }
        attach(flight, task, name: name)
        emitLaunched(flight)
    }

    /// Begins a flight without a caller. If its key has a flight already, keeps that flight instead.
    ///
    /// - Returns: Whether the new flight has begun; `false` if the key had a flight.
    @usableFromInline
    func launch(_ key: _ErasedKey, _ flight: _Flight) -> Bool {
        state.withLock { machine in
            guard let id = machine.launch(key, level: flight.level, flight) else { return false }
            flight.id = id
            Diagnostics.open(subject(id))
            return true
        }
    }

    @usableFromInline
    func emitLaunched(_ flight: _Flight) {
        // Observers assume that the task that begins a flight waits for it. This event corrects that.
        Diagnostics.emit(source.event(.left, about: subject(flight.id), detail: "goes on without a caller"))
    }

    /// Joins the flight of a key, if there is one.
    ///
    /// - Returns: The caller, which must then wait; `nil` if the key has no flight, or if the current task is inside
    ///   that flight and would wait for itself.
    /// - Throws: `CancellationError` if the current task was cancelled before the call.
    @inlinable
    package func joinIfPresent<Value: Sendable>(
        _ key: _ErasedKey,
        of type: Value.Type
    ) throws -> _FlightCaller<Value>? {
        try Task.checkCancellation()
        guard case .joined(let flight, let place) = join(key, nil) else { return nil }
        return _FlightCaller(downcast(flight), at: place)
    }

    /// Ends the keeping of a flight that ``launch(_:operation:)`` has begun or kept: a flight without callers is
    /// cancelled now, and any other flight when its last caller leaves. Has no effect on a flight that callers can no
    /// longer join.
    ///
    /// - Parameters:
    ///   - id: The flight.
    ///   - key: The key of the flight.
    ///   - cause: The cause of the cancellation if the flight has no callers.
    package func release(_ id: ID, of key: _ErasedKey, because cause: CancellationCause) {
        let (leaving, task, moment) = state.withLock { machine in
            let leaving = machine.release(id, of: key, because: cause)
            let task = leaving.cancelling?.owned
            // Under the lock: a flight leaves the table before its task ends, so the task has not ended.
            if let task { CancellationCauses.record(.known(cause), for: task.address) }
            return (leaving, task, Diagnostics.moment)
        }
        guard let id = leaving.cancelled else { return }
        task?.cancel()
        Diagnostics.emit(at: moment, source.event(.cancelled, about: subject(id), detail: cause.eventText))
        withExtendedLifetime(leaving.payload) {}
    }

    /// Makes later callers of the key begin a new flight instead of joining this flight. Called by the work of the
    /// flight when its result will soon be available.
    package func retire(_ id: ID, of key: _ErasedKey) {
        let payload = state.withLock { $0.retire(id, of: key) }
        withExtendedLifetime(payload) {}
    }

    /// Records that the current code waits for another flight without being one of its callers, so that flights that
    /// wait for each other are detected.
    ///
    /// - Returns: The wait, which must be passed to ``stopWaiting(_:behind:)``; `nil` if the other flight already waits
    ///   for the current code, directly or through other flights. Nothing is recorded then.
    package func wait(behind other: ID) -> FlightWaits.Wait? {
        let places = _Places.heldByCaller
        return places.isEmpty ? .unrecorded : FlightWaits.begin(for: Place(other, in: self), inside: places)
    }

    package func stopWaiting(_ wait: FlightWaits.Wait, behind other: ID) {
        FlightWaits.end(wait, for: Place(other, in: self))
    }
}
