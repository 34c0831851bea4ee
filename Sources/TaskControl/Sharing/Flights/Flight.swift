/// A flight as its task and its callers see it: one object for all of them.
///
/// Sendable: `id` is written under the lock, before anybody else knows of the flight.
@usableFromInline
class Flight: @unchecked Sendable {
    let flights: FlightStorage
    let key: ErasedKey?
    /// Those that it was begun in, the innermost last; some of them may be over.
    private let outer: [FlightPlace]
    fileprivate(set) var id = FlightStorage.ID(serial: 0, slot: 0)
    /// Whether it had been cancelled when its work ended. Only for its task.
    private var wasCancelled = false

    /// The flights that the caller is inside of, the innermost last; some of them may be over. Seen by child tasks too, and by the flights that
    /// they begin.
    @TaskLocal static var places: [FlightPlace] = []

    /// - Parameter outer: What it is begun in, and has not ended.
    @usableFromInline
    init(_ flights: FlightStorage, _ key: ErasedKey?, inside outer: [FlightPlace]) {
        self.flights = flights
        self.key = key
        self.outer = outer
    }

    /// The flights that the caller is inside of, the innermost last.
    ///
    /// Only those that have not ended: a chain of flights, each begun by the one before it, does not grow.
    @usableFromInline static var held: [FlightPlace] { places.filter { $0.flights.isInTheAir($0.id) } }

    func begin(as id: FlightStorage.ID) -> Self {
        self.id = id
        return self
    }

    /// Runs the work of this flight inside it.
    @inlinable
    nonisolated(nonsending) func holding<Value>(
        _ body: nonisolated(nonsending) () async throws -> Value
    ) async rethrows -> Value {
        try await Self.local.withValue(inside, operation: body)
    }

    @usableFromInline static var local: TaskLocal<[FlightPlace]> { $places }

    @usableFromInline var inside: [FlightPlace] { outer + [FlightPlace(flights: flights, id: id)] }

    /// Waits for its end.
    ///
    /// Here, and with little to capture, since a task that waits is to fit into the memory that every task has.
    ///
    /// - Returns: Whether the result is there. If not, the caller was cancelled, or the flight.
    @inline(__always)
    final nonisolated(nonsending) func wait(_ caller: FlightStorage.Machine.Caller) async -> Bool {
        await suspend {
            flights.park(caller, $0)
        } onCancel: {
            flights.leave(caller, of: key)
        } raising: { [self] priority in
            flights.raise(id, to: priority)
        } == .reached
    }

    /// Its task is about to do its work.
    ///
    /// - Throws: `CancellationError` if the flight was cancelled before.
    @usableFromInline
    final func begin() throws {
        guard !Task.isCancelled, flights.mayBegin(id) else { throw CancellationError() }
        flights.emitRunning(id, key)
    }

    /// Reports the end of its work, whose result is there.
    ///
    /// - Returns: Whether somebody was there to receive it. If not, the caller goes on with `report`.
    @usableFromInline
    final func finish(_ failure: (any Error)?, hasBegun: Bool) -> Bool {
        let moment = Diagnostics.moment
        let landing = flights.finish(id, key)
        wasCancelled = landing.wasCancelled
        if let moment {
            flights.emitEnd(id, key, failure, hasBegun: hasBegun, isCancelled: landing.wasCancelled, at: moment)
        }
        return landing.isHeard
    }

    @usableFromInline
    final nonisolated(nonsending) func report(_ failure: (any Error)?) async {
        await flights.report(failure, wasCancelled: wasCancelled)
    }
}

/// By what a flight is known inside it. Not the flight itself: this is a task-local, and so what begins inside and outlives it, other flights and
/// their tasks included, would keep its key and its value, and those of the flights before it.
@usableFromInline
struct FlightPlace: Sendable {
    let flights: FlightStorage
    let id: FlightStorage.ID
}

/// Sendable: the result is written by the flight's task before that reports its end under the lock, and read by who has heard of that.
@usableFromInline
final class TypedFlight<Value: Sendable>: Flight, @unchecked Sendable {
    @usableFromInline var result: Result<Value, any Error>?

    @inlinable
    override init(_ flights: FlightStorage, _ key: ErasedKey?, inside outer: [FlightPlace]) {
        super.init(flights, key, inside: outer)
    }
}

/// What a flight's task does: runs the operation, and takes its result to whoever is there.
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
        var failure: (any Error)?
        var hasBegun = false
        do {
            try flight.begin()
            hasBegun = true
            flight.result = .success(try await flight.holding(operation))
        } catch {
            flight.result = .failure(error)
            failure = error
        }
        if !flight.finish(failure, hasBegun: hasBegun) { await flight.report(failure) }
    }
}
