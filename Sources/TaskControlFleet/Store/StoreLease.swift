/// A lease as a ``CoordinationStore`` has granted or renewed it.
public struct StoreLease: Hashable, Sendable {
    /// The identity of the lease.
    public let id: LeaseID
    /// The duration that the store has granted. It begins when the store grants or renews the lease: measure it from before the call.
    public let timeToLive: Duration
    /// The term of the leader that the answering member knew; constant for a store without leaders.
    public let term: UInt64

    /// Creates a lease, as the answer of a store.
    ///
    /// - Parameters:
    ///   - id: The lease.
    ///   - timeToLive: The granted duration.
    ///   - term: The term of the leader; 0 for a store without leaders.
    public init(id: LeaseID, timeToLive: Duration, term: UInt64 = 0) {
        self.id = id
        self.timeToLive = timeToLive
        self.term = term
    }
}
