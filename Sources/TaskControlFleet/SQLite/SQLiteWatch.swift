#if SQLite
/// The state of a watch of a ``SQLiteStore`` between two checks of the file for changes: the revision up to which the
/// watch has found all changes, and the changes that it must report next.
struct SQLiteWatch: Sendable {
    let keys: StoreRange.Keys
    /// The revision up to which all changes were reported, or are in ``report``.
    var revision: Int64
    var hasBegun = false
    /// The next report; `nil` if there is nothing to report.
    var report: StoreChanges?

    /// Creates a watch of a range of keys.
    ///
    /// - Parameter revision: The revision after which changes are reported.
    init(_ keys: StoreRange.Keys, after revision: Int64) {
        self.keys = keys
        self.revision = revision
    }
}

extension SQLiteContent {
    /// Checks for changes on behalf of a watch.
    ///
    /// - Parameter watch: The state of the watch before the check. Its report must have been taken.
    /// - Returns: The state after the check, with a report if there is something to report.
    func advance(_ watch: SQLiteWatch) throws -> SQLiteWatch {
        var watch = watch
        if watch.revision < compacted {
            watch.revision = revision
            watch.report = StoreChanges([], revision: revision, isComplete: false)
        } else if !watch.hasBegun {
            watch.report = StoreChanges([], revision: watch.revision)
        } else if watch.revision < revision {
            let changes = try changes(in: watch.keys, after: watch.revision)
            watch.revision = revision
            if !changes.isEmpty { watch.report = StoreChanges(changes, revision: revision) }
        }
        watch.hasBegun = true
        return watch
    }
}
#endif
