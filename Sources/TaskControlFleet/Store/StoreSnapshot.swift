/// The result of a read of a ``CoordinationStore``: entries, and the revision at which they were read.
package struct StoreSnapshot: Hashable, Sendable {
    /// The entries, in the `StoreRange.order` that the read has requested.
    package let entries: [StoreEntry]
    /// The revision of the store at which the entries were read: a number that increases whenever entries of the store
    /// change. A `CoordinationStore.watch(_:after:receive:)` after this revision misses no change.
    package let revision: Int64
    /// The term of the store's leader, as known to the member of the cluster that answered: a number that increases
    /// with each election of a new leader. Constant for a store without leaders.
    package let term: UInt64

    /// Creates a snapshot from the answer of a store, for the implementation of a store and for tests.
    ///
    /// - Parameters:
    ///   - entries: The entries.
    ///   - revision: The revision at which the entries were read.
    ///   - term: The term of the leader; 0 for a store without leaders.
    package init(entries: [StoreEntry], revision: Int64, term: UInt64 = 0) {
        self.entries = entries
        self.revision = revision
        self.term = term
    }
}
