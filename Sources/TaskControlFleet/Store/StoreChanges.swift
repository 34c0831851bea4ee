/// A report of a watch (`CoordinationStore.watch(_:after:receive:)`): changes of entries, and the revision up to
/// which the watch has now reported the changes.
package struct StoreChanges: Hashable, Sendable {
    /// A change of one entry.
    package enum Change: Hashable, Sendable {
        /// An entry was created or replaced. The associated value is the new entry.
        case put(StoreEntry)
        /// The entry with the key `key` was removed by a transaction, or because its lease ended. The removal has the
        /// revision `revision`.
        case delete(key: String, revision: Int64)

        private var parts: (StoreEntry?, StoreKey?, Int64) {
            switch self {
            case .put(let entry): (entry, nil, 0)
            case .delete(let key, let revision): (nil, StoreKey(key), revision)
            }
        }

        /// Returns whether both changes are equal. Keys are compared byte by byte, in UTF-8.
        package static func == (one: Self, other: Self) -> Bool { one.parts == other.parts }

        /// Adds the change to a hasher.
        package func hash(into hasher: inout Hasher) {
            let (entry, key, revision) = parts
            hasher.combine(entry)
            hasher.combine(key)
            hasher.combine(revision)
        }
    }

    /// The changes, in the order of their revisions. Can be empty, for example in the first report, which only says
    /// that the watch has begun.
    package let changes: [Change]
    /// The revision up to which the watch has now reported the changes: the next report has only changes after it. If
    /// ``isComplete`` is `false`, some changes up to this revision are missing.
    package let revision: Int64
    /// Whether the watch has reported all changes up to ``revision``. If `false`, the store no longer has some of the
    /// changes since the last report: read the range of the watch, and compare the result with the entries that you
    /// know.
    package let isComplete: Bool

    /// Creates a report of a watch.
    ///
    /// - Parameters:
    ///   - changes: The changes, in the order of their revisions.
    ///   - revision: The revision up to which the watch has now reported the changes.
    ///   - isComplete: Whether `changes` contains all changes of the watch since the last report; `false` if the store
    ///     no longer has some of them.
    package init(_ changes: [Change], revision: Int64, isComplete: Bool = true) {
        self.changes = changes
        self.revision = revision
        self.isComplete = isComplete
    }
}
