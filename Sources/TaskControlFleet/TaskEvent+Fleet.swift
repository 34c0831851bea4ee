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
    /// delete the entry that stands for a caller in the store. While a caller waits for a lease or holds it, the call
    /// is repeated as ``withLease(_:in:timeToLive:holder:clock:body:)`` describes. A call that fails after the body has
    /// ended is not repeated.
    public static var storeCallFailed: Self { Self("storeCallFailed") }
    /// A caller's lease is no longer valid. The body that runs while the lease is held is cancelled; if the body has
    /// not begun, the caller waits for the lease again.
    public static var leaseLost: Self { Self("leaseLost") }
    /// A caller that waits for a lease has lost its place among the other callers, for example because its process was
    /// paused, and waits again behind all others.
    public static var placeLost: Self { Self("placeLost") }
    /// A caller that held a lease or waited for it has deleted its entry in the store, so another caller can hold the
    /// lease.
    public static var entryDeleted: Self { Self("entryDeleted") }
    /// A caller that held a lease or waited for it has revoked the lease in the store, which also deletes its entry. Not emitted if the caller has
    /// deleted its entry before (``entryDeleted``).
    public static var leaseRevoked: Self { Self("leaseRevoked") }
    /// A caller that held a lease or waited for it could not revoke the lease. The store ends the lease when its
    /// duration is over. If the caller's entry was not deleted before, it remains in the store until then.
    public static var leaseLeftToExpire: Self { Self("leaseLeftToExpire") }
    /// A caller of a ``FleetFlight`` has received the result that another process has published.
    public static var resultAdopted: Self { Self("resultAdopted") }
    /// A process has published the result of a ``FleetFlight``'s operation for the callers of other processes.
    public static var resultPublished: Self { Self("resultPublished") }
}
