#if SQLite
/// The progress of a watch of a ``SQLiteStore``: the revision that it has reached, and its next report.
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
    /// Returns a watch after one check for changes: with its next report, if there is one, and the revision that it has reached.
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
