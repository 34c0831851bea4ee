/// Identifies a flight to the code that runs inside it.
///
/// Not the flight itself: this is in a task-local, so whatever begins inside and outlives the flight would retain its key and its value, and
/// those of the flights before it.
@usableFromInline
struct _FlightPlace: Sendable {
    let table: _FlightTable
    let id: _FlightTable.ID

    /// The flights that the current task is inside of, the innermost last; some of them may have ended. Child tasks inherit them, and so do the
    /// flights that begin inside.
    static var all: [_FlightPlace] { _FlightPlaces.current?.all ?? [] }

    /// The flights that the current task is inside of and that have not ended, the innermost last: a chain of flights, each begun by the one before
    /// it, does not grow.
    @usableFromInline static var held: [_FlightPlace] { all.filter { $0.table.isInFlight($0.id) } }
}

extension _FlightTable {
    /// The innermost flight that the current task is inside of; `nil` if it is inside none.
    package static var innermostID: ID? { _FlightPlaces.current?.innermost.id }
}

/// The flights that code is inside of. A flight that is inside no other allocates nothing for it.
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
