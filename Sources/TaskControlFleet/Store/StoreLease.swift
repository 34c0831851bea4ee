/// A lease that a ``CoordinationStore`` has granted or renewed, as the store's answer describes it.
package struct StoreLease: Hashable, Sendable {
    /// The ID of the lease.
    package let id: LeaseID
    /// The duration that the store has granted. It begins when the store grants or renews the lease. Count it from a
    /// time before you called the store, so that you do not rely on the lease for too long.
    package let timeToLive: Duration
    /// The term of the store's leader, as known to the member of the cluster that answered: a number that increases with each election of a new
    /// leader. Constant for a store without leaders.
    package let term: UInt64

    /// Creates a lease from the answer of a store, for the implementation of a store and for tests.
    ///
    /// - Parameters:
    ///   - id: The ID of the lease.
    ///   - timeToLive: The granted duration.
    ///   - term: The term of the leader among the servers of the store; 0 for a store without leaders.
    package init(id: LeaseID, timeToLive: Duration, term: UInt64 = 0) {
        self.id = id
        self.timeToLive = timeToLive
        self.term = term
    }
}
