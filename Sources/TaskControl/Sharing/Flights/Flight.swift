/// One run of an operation that several callers share: the object to which its task and its callers refer. The state of
/// the flight is in a ``_FlightTable``.
///
/// It is Sendable because `id` and `inheritsDeadline` are written once, under the lock of the table, before that lock
/// makes the flight visible to other tasks, `job` is used only by the task that has begun the flight, and
/// `cancellation` is written once, under that lock, before a caller is resumed that reads it.
@usableFromInline
class _Flight: @unchecked Sendable {
    @usableFromInline let table: _FlightTable
    let key: _ErasedKey?
    /// The deadline of the flight, shared by its callers; `nil` if the flight has none.
    @usableFromInline let deadline: _LatestDeadline?
    /// The raw priority with which the task of the flight is created.
    let level = inheritedLevel
    @exclusivity(unchecked) var id = _FlightTable.ID(serial: 0, slot: 0)
    /// Whether the task that has begun the flight has a deadline, which the task of the flight must not inherit.
    @exclusivity(unchecked) @usableFromInline var inheritsDeadline = false
    /// The task of the flight, which the code that has created it attaches.
    @exclusivity(unchecked) var job: Word?
    /// The error of the callers that were not cancelled themselves, if the owner of the flights has cancelled this one.
    @exclusivity(unchecked) var cancellation: (any Error)?

    var place: Place { Place(id, in: table) }

    /// The error of the current caller, whose wait has ended without a result.
    @usableFromInline var errorOfCancellation: any Error {
        // A cancelled caller receives CancellationError, whatever has ended its wait.
        _isTaskCancelled ? CancellationError() : cancellation ?? CancellationError()
    }

    @usableFromInline
    init(_ table: _FlightTable, _ key: _ErasedKey?, _ deadline: _LatestDeadline?) {
        self.table = table
        self.key = key
        self.deadline = deadline
    }
}

/// A flight (one run of an operation that several callers share) that stores the result of its operation. The result is
/// `nil` until the operation has ended.
@usableFromInline
typealias _TypedFlight<Value: Sendable> = _FlightStoring<Result<Value, any Error>?>

/// A ``_Flight`` with a stored property of any type, which contains its result. Generic over the whole type of the
/// property, and not over the type of the flight's value, so that deallocating a flight does not have to look up the
/// type `Result<Value, any Error>?`.
///
/// It is Sendable because the task of the flight writes the result before it ends the flight under the lock of the
/// table, and callers read the result only after the flight has ended: accesses never overlap, so exclusivity is not
/// checked.
@usableFromInline
final class _FlightStoring<Stored>: _Flight, @unchecked Sendable {
    @exclusivity(unchecked) @usableFromInline var result: Stored

    @export(implementation)
    init(_ table: _FlightTable, _ key: _ErasedKey?, _ deadline: _LatestDeadline?, _ result: Stored) {
        self.result = result
        super.init(table, key, deadline)
    }
}

/// The body of the task of a flight: runs the operation, and reports its result to the callers of the flight.
@usableFromInline
struct _FlightBody<Value: Sendable>: _TaskBody {
    @usableFromInline let flight: _TypedFlight<Value>
    @usableFromInline let operation: @Sendable @isolated(any) () async throws -> Value
    /// The time limit of the operation; `nil` if it has none.
    @usableFromInline let limit: StopwatchLimit?

    @export(implementation)
    init(
        _ flight: _TypedFlight<Value>,
        limit: StopwatchLimit? = nil,
        operation: @escaping @Sendable @isolated(any) () async throws -> Value
    ) {
        self.flight = flight
        self.limit = limit
        self.operation = operation
    }

    @export(implementation)
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
        // The clock is read here, in the task of the operation: the caller may resume much later.
        let isLate = limit?.hasPassed == true
        if isLate { flight.result = nil }
        let end = table.finish(flight, failure, hasBegun: hasBegun)
        if isLate || !end.isHeard { await table.report(failure, wasCancelled: end.wasCancelled) }
    }
}
