/// The entries that a ``CoordinationStore`` has read.
public struct StoreSnapshot: Hashable, Sendable {
    /// The entries, in the order of the range.
    public let entries: [StoreEntry]
    /// The revision of the store at which the entries were read: a watch after this revision misses no change.
    public let revision: Int64
    /// The term of the leader that answered; constant for a store without leaders.
    public let term: UInt64

    /// Creates a snapshot, as the answer of a store.
    ///
    /// - Parameters:
    ///   - entries: The entries.
    ///   - revision: The revision at which they were read.
    ///   - term: The term of the leader; 0 for a store without leaders.
    public init(entries: [StoreEntry], revision: Int64, term: UInt64 = 0) {
        self.entries = entries
        self.revision = revision
        self.term = term
    }
}
