/// A report of a watch of a ``CoordinationStore``: changes of entries, and the revision that the watch has reached.
public struct StoreChanges: Hashable, Sendable {
    /// A change of one entry.
    public enum Change: Hashable, Sendable {
        /// An entry was created or replaced.
        case put(StoreEntry)
        /// The entry with the key was removed at the revision, by an operation or because its lease ended.
        case delete(key: String, revision: Int64)
    }

    /// The changes, in the order of their revisions. Can be empty, for example in the first report, which says that the watch has begun.
    public let changes: [Change]
    /// The revision up to which the watch has reported all changes.
    public let revision: Int64
    /// Whether ``changes`` contains all changes since the last report. If it is `false`, the store no longer has some of them: read the range, and
    /// compare it with the known entries.
    public let isComplete: Bool

    /// Creates a report of a watch.
    ///
    /// - Parameters:
    ///   - changes: The changes, in the order of their revisions.
    ///   - revision: The revision up to which all changes are reported.
    ///   - isComplete: Whether `changes` contains all changes since the last report.
    public init(_ changes: [Change], revision: Int64, isComplete: Bool = true) {
        self.changes = changes
        self.revision = revision
        self.isComplete = isComplete
    }
}
