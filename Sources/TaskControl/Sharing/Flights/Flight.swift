/// One run of an operation that several callers share: the object to which its task and its callers refer. The state of
/// the flight is in a ``_FlightTable``.
///
/// It is Sendable because `id` is written once, under the lock of the table, before that lock makes the flight visible
/// to other tasks.
@usableFromInline
class _Flight: @unchecked Sendable {
    @usableFromInline let table: _FlightTable
    let key: _ErasedKey?
    /// The deadline of the flight, shared by its callers; `nil` if the flight has none.
    @usableFromInline let deadline: _LatestDeadline?
    /// The raw priority with which the task of the flight is created.
    let level = inheritedLevel
    var id = _FlightTable.ID(serial: 0, slot: 0)

    var place: Place { Place(id, in: table) }

    @usableFromInline
    init(_ table: _FlightTable, _ key: _ErasedKey?) {
        self.table = table
        self.key = key
        deadline = table.hasDeadlines ? _LatestDeadline.ofCurrentTask() : nil
    }
}
