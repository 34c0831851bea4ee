/// The identity of a flight, stored in a task-local value for the code that runs inside the flight.
///
/// It does not refer to the flight itself: a task that begins inside the flight and outlives it retains its task-local
/// values, and would then retain the key and the value of the flight, and of all flights around it.
@usableFromInline
struct _FlightPlace: Sendable {
    let table: _FlightTable
    let id: _FlightTable.ID

    /// The flights whose operations the current task runs, directly or as a child task, the innermost last. Some of
    /// them may have ended. Child tasks, and flights that begin in the current task, inherit them.
    static var all: [_FlightPlace] { _FlightPlaces.current?.all ?? [] }

    /// The flights whose operations the current task runs, directly or as a child task, and that have not ended; the
    /// innermost last. Ended flights are left out, so that the list does not grow in a chain of flights in which each
    /// flight begins the next one.
    @usableFromInline static var held: [_FlightPlace] { all.filter { $0.table.isInFlight($0.id) } }
}

extension _FlightTable {
    /// The identity of the flight whose operation the current task runs: of the innermost flight if flights are nested,
    /// in the table of that flight. `nil` if there is no such flight.
    package static var innermostID: ID? { _FlightPlaces.current?.innermost.id }
}

/// The flights whose operations the current code belongs to: the innermost flight, and the flights around it. No array
/// is allocated for a flight that has no flight around it.
@usableFromInline
struct _FlightPlaces: Sendable {
    let innermost: _FlightPlace
    let outer: [_FlightPlace]

    @TaskLocal static var current: _FlightPlaces?

    @usableFromInline static var local: TaskLocal<_FlightPlaces?> { $current }

    init(inside flight: _Flight) {
        innermost = _FlightPlace(table: flight.table, id: flight.id)
        outer = flight.outer
    }

    var all: [_FlightPlace] { outer + [innermost] }
}
