public import TaskControl

extension TaskEvent.Primitive {
    /// A call of ``withLease(_:in:timeToLive:holder:clock:body:)``.
    public static var withLease: Self { Self("withLease", [.call]) }
    /// A ``FleetSemaphore``.
    public static var fleetSemaphore: Self { Self("FleetSemaphore", [.call]) }
    /// A ``LeaderElection``.
    public static var leaderElection: Self { Self("LeaderElection", [.call]) }
    /// A ``FleetFlight``.
    public static var fleetFlight: Self { Self("FleetFlight", [.call]) }
}

extension TaskEvent.Kind {
    /// A call of the store to enter a line, to renew a lease, or to leave the line has failed. The call is repeated as long as it can have an
    /// effect.
    public static var storeCallFailed: Self { Self("storeCallFailed") }
    /// A lease is no longer valid, and its body is cancelled.
    public static var leaseLost: Self { Self("leaseLost") }
    /// A waiter has lost its place in the line, for example because its process was paused, and enters the line again.
    public static var placeLost: Self { Self("placeLost") }
    /// A holder or waiter has deleted its entry in the store.
    public static var entryDeleted: Self { Self("entryDeleted") }
    /// A holder or waiter has revoked its lease in the store, which deletes its entry.
    public static var leaseRevoked: Self { Self("leaseRevoked") }
    /// A holder or waiter could not revoke its lease: the store ends the lease when its duration is over, and removes the entry unless it was
    /// deleted before.
    public static var leaseLeftToExpire: Self { Self("leaseLeftToExpire") }
    /// A caller has received the result that another process has published.
    public static var resultAdopted: Self { Self("resultAdopted") }
    /// The result of an operation was published for the callers of other processes.
    public static var resultPublished: Self { Self("resultPublished") }
}
