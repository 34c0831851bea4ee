/// Where a flight brings its result, whatever its type.
///
/// Sendable: written by the flight's task before it reports its end under the lock; read by who has heard of that.
@usableFromInline
class FlightResult: @unchecked Sendable {
    @inlinable init() {}
}

@usableFromInline
final class TypedFlightResult<Value: Sendable>: FlightResult, @unchecked Sendable {
    @usableFromInline var result: Result<Value, any Error>?

    @inlinable override init() { super.init() }
}

/// What a flight's task does: runs the operation, and takes its result to whoever is there.
@usableFromInline
struct FlightBody<Value: Sendable>: TaskBody {
    @usableFromInline let flight: HeldFlight
    @usableFromInline let result: TypedFlightResult<Value>
    @usableFromInline let operation: @Sendable @isolated(any) () async throws -> Value

    @inlinable
    init(
        _ flight: HeldFlight,
        _ result: TypedFlightResult<Value>,
        operation: @escaping @Sendable @isolated(any) () async throws -> Value
    ) {
        self.flight = flight
        self.result = result
        self.operation = operation
    }

    @inlinable
    nonisolated(nonsending) func run() async {
        var failure: (any Error)?
        do {
            // Law 8: what everybody has left before it began does not begin.
            try Task.checkCancellation()
            result.result = .success(try await flight.holding { try await operation() })
        } catch {
            result.result = .failure(error)
            failure = error
        }
        if !flight.finish() { await flight.report(failure) }
    }
}
