public import TaskControl

extension TaskEvent.Primitive {
    /// The primitive in events of a call of ``withLease(_:in:timeToLive:holder:clock:body:)``.
    public static var withLease: Self { Self("withLease", [.call]) }
    /// The primitive in events of a ``FleetSemaphore``.
    public static var fleetSemaphore: Self { Self("FleetSemaphore", [.call]) }
    /// The primitive in events of a ``LeaderElection``.
    public static var leaderElection: Self { Self("LeaderElection", [.call]) }
    /// The primitive in events of a ``FleetFlight``.
    public static var fleetFlight: Self { Self("FleetFlight", [.call]) }
}

extension TaskEvent.Kind {
    /// A call of the store to create, verify or delete an entry, or to renew or revoke a lease, has failed. The call is repeated as long as it can
    /// have an effect.
    public static var storeCallFailed: Self { Self("storeCallFailed") }
    /// A lease is no longer valid, and its body is cancelled.
    public static var leaseLost: Self { Self("leaseLost") }
    /// A waiting caller has lost its place among the other callers, for example because its process was paused, and waits again behind all others.
    public static var placeLost: Self { Self("placeLost") }
    /// A caller that held a lease or waited for it has deleted its entry in the store.
    public static var entryDeleted: Self { Self("entryDeleted") }
    /// A caller that held a lease or waited for it has revoked the lease in the store, which also deletes its entry.
    public static var leaseRevoked: Self { Self("leaseRevoked") }
    /// A caller that held a lease or waited for it could not revoke the lease. The store ends the lease when its duration is over, and removes the
    /// entry unless it was deleted before.
    public static var leaseLeftToExpire: Self { Self("leaseLeftToExpire") }
    /// A caller of a ``FleetFlight`` has received the result that another process has published.
    public static var resultAdopted: Self { Self("resultAdopted") }
    /// The result of a ``FleetFlight``'s operation was published for the callers of other processes.
    public static var resultPublished: Self { Self("resultPublished") }
}
