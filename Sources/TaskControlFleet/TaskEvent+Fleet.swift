@_spi(Observers) public import TaskControl

extension TaskEvent.Primitive {
    /// The `primitive` of events that a call of ``withLease(_:in:timeToLive:holder:clock:body:)`` emits.
    public static var withLease: Self { Self("withLease", [.call]) }
    /// The `primitive` of events that a call of ``runOnce(_:for:in:timeToLive:holder:clock:body:)`` or
    /// ``runAtMostOnce(_:for:in:timeToLive:holder:clock:body:)`` emits.
    public static var runOnce: Self { Self("runOnce", [.call]) }
    /// The `primitive` of events that a ``FleetSemaphore`` emits.
    public static var fleetSemaphore: Self { Self("FleetSemaphore", [.call]) }
    /// The `primitive` of events that a ``LeaderElection`` emits.
    public static var leaderElection: Self { Self("LeaderElection", [.call]) }
    /// The `primitive` of events that a ``FleetFlight`` emits.
    public static var fleetFlight: Self { Self("FleetFlight", [.call]) }
}

extension TaskEvent.Kind {
    /// A call of a function of the ``CoordinationStore`` has failed. The call should create, verify or delete the entry
    /// that represents a caller of `withLease` (or of an election, a semaphore or a flight) in the store, or grant, renew
    /// or revoke the `StoreLease` of that entry. The call is repeated, as
    /// ``withLease(_:in:timeToLive:holder:clock:body:)`` describes, until that caller's closure has ended.
    public static var storeCallFailed: Self { Self("storeCallFailed") }
    /// A caller that held what it had waited for, such as the lease of
    /// ``withLease(_:in:timeToLive:holder:clock:body:)`` or a permit of a ``FleetSemaphore``, no longer holds it. The
    /// closure that the caller has passed is cancelled. If the closure has not begun, the caller waits again.
    public static var leaseLost: Self { Self("leaseLost") }
    /// A caller that waits (for a lease, a permit or a result) has lost its place among the other callers, for example
    /// because its process was paused. The caller waits again, behind all others.
    public static var placeLost: Self { Self("placeLost") }
    /// A caller has deleted the entry that stands for it in the store. From then on, the caller does not delay other
    /// callers. A caller has an entry even while it waits, so a caller that stops waiting also deletes its entry.
    public static var entryDeleted: Self { Self("entryDeleted") }
    /// A caller has revoked the `StoreLease` to which its entry in the store is attached. The store then also deletes
    /// the entry. Each caller has such a lease of its own, even while it waits: if the process crashes, the lease
    /// expires, and the store deletes the entry. Not emitted if ``entryDeleted`` was emitted before.
    public static var leaseRevoked: Self { Self("leaseRevoked") }
    /// A caller could not revoke the `StoreLease` to which its entry in the store is attached. Each caller has such a
    /// lease of its own, even while it waits. The store ends the lease when its duration is over. Until then, the entry
    /// can remain in the store and delay other callers, unless ``entryDeleted`` was emitted before.
    public static var leaseLeftToExpire: Self { Self("leaseLeftToExpire") }
    /// A caller of a ``FleetFlight`` has received a result that another process has published (``resultPublished``).
    public static var resultAdopted: Self { Self("resultAdopted") }
    /// A caller of a ``FleetFlight`` cannot decode the result that another process has published (``resultAdopted``), for
    /// example because it is that of another version of the program. The caller waits again, and runs its operation
    /// itself when it is its turn.
    public static var resultUnreadable: Self { Self("resultUnreadable") }
    /// A process has published the result of a ``FleetFlight``'s operation for the callers of other processes.
    public static var resultPublished: Self { Self("resultPublished") }
}
