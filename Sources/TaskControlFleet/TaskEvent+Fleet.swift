public import TaskControl

extension TaskEvent.Primitive {
    /// The `primitive` of events that a call of ``withLease(_:in:timeToLive:holder:clock:body:)`` emits.
    public static var withLease: Self { Self("withLease", [.call]) }
    /// The `primitive` of events that a ``FleetSemaphore`` emits.
    public static var fleetSemaphore: Self { Self("FleetSemaphore", [.call]) }
    /// The `primitive` of events that a ``LeaderElection`` emits.
    public static var leaderElection: Self { Self("LeaderElection", [.call]) }
    /// The `primitive` of events that a ``FleetFlight`` emits.
    public static var fleetFlight: Self { Self("FleetFlight", [.call]) }
}

extension TaskEvent.Kind {
    /// A call of the ``CoordinationStore`` has failed: to grant, renew or revoke a lease, or to create, verify or
    /// delete the entry that stands for a caller in the store. Until the closure that runs with the lease has ended,
    /// the call is repeated as ``withLease(_:in:timeToLive:holder:clock:body:)`` describes.
    public static var storeCallFailed: Self { Self("storeCallFailed") }
    /// A caller's lease is no longer valid. The closure that runs with the lease is cancelled. If the closure has not
    /// begun, the caller waits for the lease again.
    public static var leaseLost: Self { Self("leaseLost") }
    /// A caller that waits for a lease has lost its place among the other callers, for example because its process was
    /// paused, and waits again behind all others.
    public static var placeLost: Self { Self("placeLost") }
    /// A caller that held a lease or waited for it has deleted its entry in the store. From then on, it does not delay
    /// other callers.
    public static var entryDeleted: Self { Self("entryDeleted") }
    /// A caller that held a lease or waited for it has revoked the lease in the store, which also deletes the caller's
    /// entry. Not emitted if ``entryDeleted`` was emitted before.
    public static var leaseRevoked: Self { Self("leaseRevoked") }
    /// A caller that held a lease or waited for it could not revoke the lease. The store ends the lease when its
    /// duration is over. Until then, the caller's entry remains in the store, unless ``entryDeleted`` was emitted
    /// before.
    public static var leaseLeftToExpire: Self { Self("leaseLeftToExpire") }
    /// A caller of a ``FleetFlight`` has received a result that another process has published (``resultPublished``).
    public static var resultAdopted: Self { Self("resultAdopted") }
    /// A process has published the result of a ``FleetFlight``'s operation for the callers of other processes.
    public static var resultPublished: Self { Self("resultPublished") }
}
