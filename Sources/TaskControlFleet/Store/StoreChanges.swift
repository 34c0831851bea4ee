/// A report of a watch (``CoordinationStore/watch(_:after:receive:)``): changes of entries, and the revision up to
/// which the watch has reported all changes.
public struct StoreChanges: Hashable, Sendable {
    /// A change of one entry.
    public enum Change: Hashable, Sendable {
        /// An entry was created or replaced. The associated value is the new entry.
        case put(StoreEntry)
        /// The entry with the key `key` was removed by a transaction, or because its lease ended. The removal has the
        /// revision `revision`.
        case delete(key: String, revision: Int64)
    }

    /// The changes, in the order of their revisions. Can be empty, for example in the first report, which says that the watch has begun.
    public let changes: [Change]
    /// The revision up to which the watch has reported all changes.
    public let revision: Int64
    /// Whether ``changes`` contains all changes since the last report. If `false`, the store no longer has some of
    /// these changes: read the range, and compare the result with the entries that you know.
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
