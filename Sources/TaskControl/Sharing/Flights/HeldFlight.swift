/// A flight as it is seen from inside: a task-local, so that its child tasks see it too, and the flights that they begin.
@usableFromInline
struct HeldFlight: Sendable {
    let flights: FlightStorage
    let id: FlightStorage.ID
    let key: ErasedKey?
    /// Those that it was begun in, the innermost last; some of them may be over.
    private let outer: [HeldFlight]

    /// The flight that the caller is inside of; it may be over.
    @TaskLocal static var innermost: HeldFlight?

    init(flights: FlightStorage, id: FlightStorage.ID, key: ErasedKey?) {
        (self.flights, self.id, self.key) = (flights, id, key)
        // Only those that have not ended: a chain of flights, each begun by the one before it, does not grow.
        outer = Self.innermost.map { $0.all.filter { $0.flights.isInTheAir($0.id) } } ?? []
    }

    /// This one, and those that it was begun in; the innermost last.
    var all: [HeldFlight] { outer + [self] }

    /// Runs the work of this flight inside it.
    @inlinable
    nonisolated(nonsending) func holding<Value>(
        _ body: nonisolated(nonsending) () async throws -> Value
    ) async rethrows -> Value {
        try await Self.local.withValue(self, operation: body)
    }

    @usableFromInline static var local: TaskLocal<HeldFlight?> { $innermost }
}
