extension LeaseStateMachine {
    /// The numbers that a machine depends on.
    struct Rules: Hashable {
        /// The requested duration of the lease.
        let timeToLive: Duration
        /// The number of entries that hold at the same time.
        let permits: Int
    }

    enum Phase: Hashable {
        /// No entry of its own is known to be in the line.
        case entering
        /// The own entry is in the line.
        case waiting
        /// The own entry is among the first.
        case holding
        /// A result was published after the own entry was created.
        case adopted
        /// The lease ended while it was held.
        case lost(LeaseLostError.Reason)
        /// The line could not be entered.
        case failed
        /// The caller has left, or its body has ended.
        case ended
    }

    /// The next step of the task that talks to the store.
    enum Action: Hashable {
        case grant
        /// Puts the own entry, unless it is there, and reads the line.
        case enter(LeaseID)
        /// Renews the lease.
        case renew(LeaseID)
        /// Reads the beginning of the line, if the own entry is there.
        case verify(LeaseID, FencingToken)
        /// Revokes a lease whose place in the line is lost.
        case abandon(LeaseID)
        /// Waits for a time, or until it must act at once.
        case wait(until: Duration)
        /// The lease needs no further step.
        case stop
    }

    /// The ways in which an operation of the store fails.
    enum Failure: Hashable, CaseIterable {
        /// It was not executed. It can succeed later.
        case unavailable
        /// It may have been executed, or may still be.
        case ambiguous
        /// There is no such lease.
        case leaseNotFound
        /// It will fail later, too.
        case final
    }

    /// The line as a transaction has seen it.
    struct Sight: Hashable {
        /// The keys of the entries that are older than the own entry, as far as they were read.
        let ahead: Set<String>
        /// Whether the own entry was among those that were read.
        let isListed: Bool
        /// The revision at which a result was published last.
        var resultRevision: Int64?
        let revision: Int64
        let term: UInt64
    }

    /// How the own entry leaves the line.
    enum Leaving: Hashable {
        /// Deletes the own entry.
        case delete(LeaseID, FencingToken)
        /// Revokes the lease.
        case revoke(LeaseID)
        /// Lets the lease expire.
        case expire
        /// There is nothing to leave, or no longer.
        case nothing
    }

    /// A renewal whose effect is not proven.
    struct Renewal: Hashable {
        /// The time at which it was sent.
        let sent: Duration
        let timeToLive: Duration
        let term: UInt64
    }
}
