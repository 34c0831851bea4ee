extension LeaseStateMachine {
    /// The requested properties of a lease. They do not change.
    struct Rules: Hashable {
        /// The requested duration of the lease.
        let timeToLive: Duration
        /// The number of callers that may hold a lease at the same time.
        let permits: Int
    }

    enum Phase: Hashable {
        /// The caller has no entry in the line (``FleetLine``), or does not know whether it has one.
        case entering
        /// The caller's entry is in the line (``FleetLine``), and the caller waits for its turn.
        case waiting
        /// The caller holds the lease: its entry is among the first of the line (``FleetLine``).
        case holding
        /// A result was published after the caller's entry was created, and the caller uses this result.
        case adopted
        /// The lease has ended while the caller held it.
        case lost(LeaseLostError.Reason)
        /// The caller could not create its entry, the store refuses its calls, or the clock cannot sleep.
        case failed
        /// The caller has stopped waiting, or its body has ended.
        case ended
    }

    /// The next step of the task that calls the store.
    enum Action: Hashable {
        case grant
        /// Creates the caller's entry, attached to the given lease, if it does not exist, and reads the line
        /// (``FleetLine``).
        case enter(LeaseID)
        /// Renews the given lease.
        case renew(LeaseID)
        /// Reads the beginning of the line (``FleetLine``), if the caller's entry, which has the given lease and
        /// fencing token, still exists.
        case verify(LeaseID, FencingToken)
        /// Revokes the given lease of an earlier entry of the caller, whose place in the line (``FleetLine``) is lost.
        case abandon(LeaseID)
        /// Waits until a time on the session's `Stopwatch`, or until ``LeaseStateMachine/isUrgent`` is `true`.
        case wait(until: Duration)
        /// The lease needs no further step.
        case stop
    }

    /// The kinds of failure of a call of the store.
    enum Failure: Hashable, CaseIterable {
        /// The store has not executed the operation. The operation can succeed later.
        case unavailable
        /// The operation may have been executed, or may still be executed.
        case ambiguous
        /// The lease that the operation renews, or to which it attaches an entry, does not exist.
        case leaseNotFound
        /// The content of the store was replaced: neither the lease nor the entry exists.
        case replaced
        /// The store refuses the operation, and would refuse it again.
        case final
    }

    /// The state of the line (``FleetLine``), as a transaction has read it.
    struct Sight: Hashable {
        /// The keys of the entries that are older than the caller's entry. A transaction can read fewer than all entries.
        let ahead: Set<StoreKey>
        /// Whether the caller's entry was among those that the transaction has read.
        let isListed: Bool
        /// The revision at which the current result was published; `nil` if there is no published result.
        var resultRevision: Int64?
        let revision: Int64
        let term: UInt64
    }

    /// The next step with which a caller leaves the line (``FleetLine``).
    enum Leaving: Hashable {
        /// Deletes the caller's entry, which has the given lease and fencing token.
        case delete(LeaseID, FencingToken)
        /// Revokes the given lease.
        case revoke(LeaseID)
        /// Does nothing more: the store ends the lease when it expires.
        case expire
        /// The caller has no entry and no lease, or has removed both.
        case nothing
    }

    /// A renewal that the store has answered, and that no later transaction has confirmed yet.
    struct Renewal: Hashable {
        /// The time on the session's `Stopwatch` at which the renewal was sent.
        let sent: Duration
        let timeToLive: Duration
        let term: UInt64
    }
}
