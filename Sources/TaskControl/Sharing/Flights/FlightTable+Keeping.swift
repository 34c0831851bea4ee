/// Flights that belong to an owner, and continue without callers.
extension _FlightTable {
    /// Begins the flight of a key without a caller, or keeps the flight that is there.
    ///
    /// It is inside no other flight: nothing waits for it.
    @inlinable
    package func launch<Value: Sendable>(
        _ key: _ErasedKey,
        operation: @escaping @Sendable @isolated(any) () async throws -> Value
    ) {
        let flight = _TypedFlight<Value>(self, key, inside: [], nil)
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

    /// - Returns: Whether the flight has begun; if not, the flight that is there is kept.
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
        // Observers take the task that begins a flight for a caller that waits.
        Diagnostics.emit(source.event(.left, about: subject(flight.id), detail: "goes on without a caller"))
    }

    /// Joins the flight of a key, and begins none.
    ///
    /// - Returns: `nil` if there is none, or if the caller would wait for itself.
    @inlinable
    package func joinIfPresent<Value: Sendable>(
        _ key: _ErasedKey,
        of type: Value.Type
    ) throws -> _FlightCaller<Value>? {
        try Task.checkCancellation()
        guard case .joined(let flight, let place) = join(key, inside: _FlightPlace.held, nil) else { return nil }
        return _FlightCaller(downcast(flight), at: place)
    }

    /// Keeps a flight no longer: without callers it is cancelled.
    package func release(_ id: ID, of key: _ErasedKey, because cause: CancellationCause) {
        let (leaving, task, moment) = state.withLock { machine in
            let leaving = machine.release(id, of: key, because: cause)
            let task = leaving.cancelling?.owned
            // Under the lock, under which the task is known to have its end before it.
            if let task { CancellationCauses.record(.known(cause), for: task.address) }
            return (leaving, task, Diagnostics.moment)
        }
        guard let id = leaving.cancelled else { return }
        task?.cancel()
        Diagnostics.emit(at: moment, source.event(.cancelled, about: subject(id), detail: cause.eventText))
        withExtendedLifetime(leaving.payload) {}
    }

    /// Lets no further caller join a flight. Called by the work of the flight when its result will soon be available.
    package func retire(_ id: ID, of key: _ErasedKey) {
        let payload = state.withLock { $0.retire(id, of: key) }
        withExtendedLifetime(payload) {}
    }

    /// Adds a wait of the work of a flight for another flight.
    ///
    /// - Returns: Whether the work may wait: not if the other flight waits for this flight.
    package func wait(_ id: ID, behind other: ID) -> Bool { state.withLock { $0.wait(id, behind: other) } }

    package func stopWaiting(_ id: ID, behind other: ID) { state.withLock { $0.stopWaiting(id, behind: other) } }
}
