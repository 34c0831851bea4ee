/// A run of work that callers share, as its task and its callers know it: one object for all of them. ``_FlightTable`` acts on it.
///
/// Sendable: `id` is written under the lock, before the flight is in the table.
@usableFromInline
class _Flight: @unchecked Sendable {
    @usableFromInline let table: _FlightTable
    let key: _ErasedKey?
    /// The flights that it was begun in, the innermost last; some of them may have ended.
    let outer: [_FlightPlace]
    /// The deadline of the flight; `nil`: none.
    @usableFromInline let deadline: _LatestDeadline?
    /// The raw priority with which its task is created.
    let level = inheritedLevel
    var id = _FlightTable.ID(serial: 0, slot: 0)

    @usableFromInline
    init(_ table: _FlightTable, _ key: _ErasedKey?, inside outer: [_FlightPlace]) {
        self.table = table
        self.key = key
        self.outer = outer
        deadline = table.hasDeadlines ? _LatestDeadline.ofCurrentTask() : nil
    }
}
