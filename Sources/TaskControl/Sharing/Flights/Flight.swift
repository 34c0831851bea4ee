/// A run of work that callers share, as its task and its callers know it: one object for all of them. ``FlightTable`` acts on it.
///
/// Sendable: `id` is written under the lock, before the flight is in the table.
@usableFromInline
class Flight: @unchecked Sendable {
    @usableFromInline let table: FlightTable
    let key: ErasedKey?
    /// The flights that it was begun in, the innermost last; some of them may have ended.
    let outer: [FlightPlace]
    var id = FlightTable.ID(serial: 0, slot: 0)

    @usableFromInline
    init(_ table: FlightTable, _ key: ErasedKey?, inside outer: [FlightPlace]) {
        self.table = table
        self.key = key
        self.outer = outer
    }
}
