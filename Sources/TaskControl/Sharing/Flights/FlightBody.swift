/// The body of the task of a flight: runs the operation, and reports its result to the callers of the flight.
@usableFromInline
struct _FlightBody<Value: Sendable>: _TaskBody {
    @usableFromInline let flight: _TypedFlight<Value>
    @usableFromInline let operation: @Sendable @isolated(any) () async throws -> Value

    @inlinable
    init(_ flight: _TypedFlight<Value>, operation: @escaping @Sendable @isolated(any) () async throws -> Value) {
        self.flight = flight
        self.operation = operation
    }

    @inlinable
    nonisolated(nonsending) func run() async {
        let table = flight.table
        var failure: (any Error)?
        var hasBegun = false
        do {
            try table.begin(flight)
            hasBegun = true
            flight.result = .success(
                try await _Places.local.withValue(table.places(inside: flight), operation: operation)
            )
        } catch {
            flight.result = .failure(error)
            failure = error
        }
        let end = table.finish(flight, failure, hasBegun: hasBegun)
        if !end.isHeard { await table.report(failure, wasCancelled: end.wasCancelled) }
    }
}
