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
    /// A call of the ``CoordinationStore`` has failed: to grant, renew or revoke a lease, or to create, verify or
    /// delete a caller's entry. While a caller waits for a lease or holds it, the call is repeated as
    /// ``withLease(_:in:timeToLive:holder:clock:body:)`` describes. A call that fails after the body has ended is not
    /// repeated.
    public static var storeCallFailed: Self { Self("storeCallFailed") }
    /// A lease is no longer valid. The body that runs while the lease is held is cancelled; if the body has not begun, the caller waits again.
    public static var leaseLost: Self { Self("leaseLost") }
    /// A caller that waits for a lease has lost its place among the other callers, for example because its process was
    /// paused, and waits again behind all others.
    public static var placeLost: Self { Self("placeLost") }
    /// A caller that held a lease or waited for it has deleted its entry in the store.
    public static var entryDeleted: Self { Self("entryDeleted") }
    /// A caller that held a lease or waited for it has revoked the lease in the store, which also deletes its entry. Not emitted if the caller has
    /// deleted its entry before (``entryDeleted``).
    public static var leaseRevoked: Self { Self("leaseRevoked") }
    /// A caller that held a lease or waited for it could not revoke the lease. The store ends the lease when its duration is over, and removes the
    /// entry unless it was deleted before.
    public static var leaseLeftToExpire: Self { Self("leaseLeftToExpire") }
    /// A caller of a ``FleetFlight`` has received the result that another process has published.
    public static var resultAdopted: Self { Self("resultAdopted") }
    /// The result of a ``FleetFlight``'s operation was published for the callers of other processes.
    public static var resultPublished: Self { Self("resultPublished") }
}
