/// The task of a flight: runs the operation, and reports its result to the callers.
@usableFromInline
struct FlightBody<Value: Sendable>: TaskBody {
    @usableFromInline let flight: TypedFlight<Value>
    @usableFromInline let operation: @Sendable @isolated(any) () async throws -> Value

    @inlinable
    init(_ flight: TypedFlight<Value>, operation: @escaping @Sendable @isolated(any) () async throws -> Value) {
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
                try await FlightPlace.local.withValue(table.places(inside: flight), operation: operation)
            )
        } catch {
            flight.result = .failure(error)
            failure = error
        }
        let end = table.finish(flight, failure, hasBegun: hasBegun)
        if !end.isHeard { await table.report(failure, wasCancelled: end.wasCancelled) }
    }
}
