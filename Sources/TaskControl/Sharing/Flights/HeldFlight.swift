/// A flight as it is seen from inside: a task-local, so that its child tasks see it too, and the flights that they begin.
@usableFromInline
struct HeldFlight: Sendable {
    let flights: FlightStorage
    let id: FlightStorage.ID

    /// The flights that the caller is inside of, the innermost last; some of them may be over.
    @TaskLocal static var held: [HeldFlight] = []

    /// Runs the work of this flight inside it, and inside those that its first caller was in and that have not ended: a chain of flights,
    /// each begun by the one before it, does not grow.
    @inlinable
    nonisolated(nonsending) func holding<Value>(
        _ body: nonisolated(nonsending) () async throws -> Value
    ) async rethrows -> Value {
        try await Self.local.withValue(chain, operation: body)
    }

    @usableFromInline static var local: TaskLocal<[HeldFlight]> { $held }

    @usableFromInline var chain: [HeldFlight] {
        let held = Self.held
        return held.isEmpty ? [self] : held.filter { $0.flights.isInTheAir($0.id) } + [self]
    }
}
