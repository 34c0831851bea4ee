/// A caller that waits for a flight (one run of an operation that several callers share), whether it began the flight
/// or joined it. Must wait exactly once: with ``value()`` or with ``result()``.
@usableFromInline
package struct _FlightCaller<Value: Sendable>: Sendable {
    @usableFromInline let flight: _TypedFlight<Value>
    @usableFromInline let place: _FlightTable.CallerPlace

    @inlinable
    init(_ flight: _TypedFlight<Value>, at place: _FlightTable.CallerPlace) {
        self.flight = flight
        self.place = place
    }

    /// Waits for the value of the flight. A caller that is cancelled stops waiting immediately.
    ///
    /// - Throws: The error of the operation; `CancellationError` if the caller or the flight was cancelled.
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

    /// Waits for the result of the flight, and does not replace its error by `CancellationError` if the caller has been
    /// cancelled meanwhile. A caller that is cancelled before the result stops waiting immediately.
    ///
    /// - Returns: The result; `nil` if the caller or the flight was cancelled before there was a result.
    @inlinable
    nonisolated(nonsending) func result() async -> Result<Value, any Error>? {
        await _FlightTable.wait(for: flight, at: place) ? flight.result : nil
    }
}
