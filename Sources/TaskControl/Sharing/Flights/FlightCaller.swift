/// A caller that waits for a flight (one run of an operation that several callers share), whether it began the flight
/// or joined it. Must wait exactly once: with ``value()`` or with ``result()``.
@usableFromInline
package struct _FlightCaller<Value: Sendable>: Sendable {
    @usableFromInline let flight: _TypedFlight<Value>
    @usableFromInline let place: _FlightTable.CallerPlace

    @export(implementation)
    init(_ flight: _TypedFlight<Value>, at place: _FlightTable.CallerPlace) {
        self.flight = flight
        self.place = place
    }

    /// Waits for the value of the flight. A caller that is cancelled stops waiting immediately.
    ///
    /// - Throws: The error of the operation; `CancellationError` if the caller was cancelled; ``CancellationCause`` if
    ///   only the flight was cancelled.
    @export(implementation)
    @inline(__always)
    package nonisolated(nonsending) func value() async throws -> Value {
        try value(isReached: await _FlightTable.wait(for: flight, at: place))
    }

    /// Returns the value of the flight after the wait for it.
    ///
    /// - Parameter isReached: Whether the flight has a result.
    @export(implementation)
    @inline(__always)
    func value(isReached: Bool) throws -> Value {
        guard isReached, let result = flight.result else { throw flight.errorOfCancellation }
        do {
            return try result.get()
        } catch {
            // A cancelled caller receives CancellationError, whatever was thrown.
            try Task.checkCancellation()
            throw error
        }
    }

    /// Waits for the value of the flight, as ``value()`` does, but not beyond limits. A caller that stops waiting at a limit
    /// keeps the flight: it continues, even without callers.
    ///
    /// - Parameter limits: Functions that suspend until a limit, and return whether the caller must then stop waiting. Each
    ///   runs in a child task, which is cancelled when the wait has ended.
    /// - Returns: The value; `nil` if the caller has stopped waiting at a limit.
    /// - Throws: The same errors as ``value()``.
    package nonisolated(nonsending) func value(
        until limits: [@Sendable () async -> Bool]
    ) async throws -> Value? {
        let (flight, place) = (flight, place)
        let (isReached, isOverLimit) = await withTaskGroup(of: Bool.self) { group in
            for limit in limits {
                group.addTask { await limit() && flight.table.leave(flight, at: place, keepsFlight: true) }
            }
            let isReached = await _FlightTable.wait(for: flight, at: place)
            group.cancelAll()
            // Not `contains`, which calls a function of macOS 15.
            var isOverLimit = false
            while let isOver = await group.next() { isOverLimit = isOverLimit || isOver }
            return (isReached, isOverLimit)
        }
        if isOverLimit {
            try Task.checkCancellation()
            return nil
        }
        return try value(isReached: isReached)
    }
}
