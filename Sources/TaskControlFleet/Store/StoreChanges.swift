/// Changes that a watch of a ``CoordinationStore`` reports.
public struct StoreChanges: Hashable, Sendable {
    /// A change of one entry.
    public enum Change: Hashable, Sendable {
        /// An entry was created or replaced.
        case put(StoreEntry)
        /// An entry was removed, by an operation or by the end of its lease.
        case delete(key: String, revision: Int64)
    }

    /// The changes, in the order of their revisions. Can be empty: the watch has begun, or is up to date.
    public let changes: [Change]
    /// The revision up to which the watch has reported everything.
    public let revision: Int64
    /// Whether all changes since the last report are in ``changes``. Otherwise, the store no longer has them: read the range, and compare.
    public let isComplete: Bool

    /// Creates a report of a watch.
    ///
    /// - Parameters:
    ///   - changes: The changes.
    ///   - revision: The revision up to which everything is reported.
    ///   - isComplete: Whether no change is missing.
    public init(_ changes: [Change], revision: Int64, isComplete: Bool = true) {
        self.changes = changes
        self.revision = revision
        self.isComplete = isComplete
    }
}
