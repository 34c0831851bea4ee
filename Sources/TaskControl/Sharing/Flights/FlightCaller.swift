/// A caller of a flight: the one that began it, or one that joined it.
@usableFromInline
package struct _FlightCaller<Value: Sendable>: Sendable {
    @usableFromInline let flight: _TypedFlight<Value>
    @usableFromInline let place: _FlightTable.CallerPlace

    @inlinable
    init(_ flight: _TypedFlight<Value>, at place: _FlightTable.CallerPlace) {
        self.flight = flight
        self.place = place
    }

    /// Waits for the value.
    ///
    /// - Throws: The error of the flight; `CancellationError` if the caller or the flight was cancelled.
    @inlinable
    @inline(__always)
    package nonisolated(nonsending) func value() async throws -> Value {
        guard await _FlightTable.wait(for: flight, at: place), let result = flight.result else {
            throw CancellationError()
        }
        do {
            return try result.get()
        } catch {
            // A cancelled caller receives CancellationError, whatever was thrown.
            try Task.checkCancellation()
            throw error
        }
    }

    /// Waits for the result, also if it is an error that a cancelled caller must not receive.
    ///
    /// - Returns: `nil` if the caller or the flight was cancelled.
    @inlinable
    nonisolated(nonsending) func result() async -> Result<Value, any Error>? {
        await _FlightTable.wait(for: flight, at: place) ? flight.result : nil
    }
}
