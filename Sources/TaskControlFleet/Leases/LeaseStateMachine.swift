internal import TaskControl

/// One entry in a line of a store: when it is renewed, when it holds, and how long that is certain. Pure.
///
///     entering ──▶ waiting ──▶ holding ──▶ lost
///        ▲            │ │          └─────▶ ended
///        └────────────┘ └─▶ adopted
///
/// Times are those of one clock, and begin anywhere. One task asks for the next action, executes it, and reports its answer; watches and timers report
/// at any time. Each rule of `withLease` is decided here:
///
/// - A lease is valid from the time at which its last *proven* renewal was sent, for the granted duration less a margin. A renewal is proven by a
///   transaction that begins after the answer, sees the own entry, and has the term of the renewal.
/// - Only a transaction that has seen the own entry among the first of the line makes a holder of a waiter.
/// - A watch makes a transaction happen at once, and decides nothing.
struct LeaseStateMachine: Hashable {
    private let rules: Rules

    private(set) var phase = Phase.entering
    private(set) var lease: LeaseID?
    private(set) var token: FencingToken?
    /// The end of the time for which the lease is certain not to have ended in the store; `nil`: nothing is certain.
    private(set) var validUntil: Duration?
    /// The revision up to which the line was read when it was entered.
    private(set) var revision: Int64?

    /// Whether the caller was asked to stop while it waited.
    private(set) var isWithdrawn = false
    /// The granted duration.
    private var timeToLive: Duration
    private var renewal: Renewal?
    private var nextRenewal = Duration.zero
    /// The time at which the lease was granted, or a renewal began.
    private var lastRenewal = Duration.zero
    /// Whether the line must be looked at now.
    private var isHinted = false
    /// Whether the line was entered before, and is watched since then.
    private var isWatched = false
    /// The older entries, as far as they are known.
    private var ahead: Set<String> = []
    /// Whether entries in `ahead` may have been deleted without a report, so that each deletion may be the one that matters.
    private var isAheadStale = false
    /// The lease of a place that is lost.
    private var abandoned: LeaseID?
    private var nextAttempt = Duration.zero
    /// The time after which a line that could not be entered is given up.
    private var patience: Duration
    /// The time of the last transaction that has seen the own entry.
    private var lastContact = Duration.zero
    /// The durations of the latest operations, also of those that were not answered.
    private var roundTrips: [Duration] = []
    private var leavingStep = Leaving.nothing

    /// - Parameter now: The time at which the caller begins to wait.
    init(_ rules: Rules, at now: Duration) {
        self.rules = rules
        timeToLive = rules.timeToLive
        patience = now + rules.timeToLive
    }

    // MARK: Times

    /// The part of the granted duration that is not used: 10 % for clocks of different rates, and twice the worst of the recent round trips, which is
    /// the time that messages of the holder may still be under way. The latter part is at most a third of the duration: on a slower network, the lease
    /// would be lost between two renewals.
    private var margin: Duration {
        timeToLive / 10 + min((roundTrips.max() ?? .zero) * 2, timeToLive / 3)
    }

    /// The time between two renewals.
    private var period: Duration { max(timeToLive / 3, .milliseconds(1)) }

    /// The time after which an operation that has failed is repeated.
    var pause: Duration { max(timeToLive / 10, .milliseconds(1)) }

    /// The time limit of an operation of the store.
    func limit(at now: Duration) -> Duration {
        let limit = max(timeToLive / 4, .milliseconds(1))
        // However long the lease is: neither a waiter nor the end of a call waits long for an answer that does not come.
        guard phase == .holding else { return min(limit, .seconds(10)) }
        guard let validUntil, validUntil > now else { return limit }
        return min(limit, validUntil - now)
    }

    func isValid(at now: Duration) -> Bool { phase == .holding && validUntil.map { now < $0 } ?? false }

    /// The time at which the lease is lost if it is not renewed.
    var expiry: Duration? { phase == .holding ? validUntil : nil }

    /// Whether the task that talks to the store must act before its time.
    var isUrgent: Bool {
        switch phase {
        case .entering: false
        case .waiting, .holding: isHinted
        case .adopted, .lost, .failed, .ended: true
        }
    }

    /// A call without an answer has taken at least the time that it was waited for.
    private mutating func record(_ failure: Failure, sent: Duration?, at now: Duration) {
        if failure == .ambiguous, let sent { record(now - sent) }
    }

    private mutating func record(_ roundTrip: Duration) {
        if roundTrips.count == 8 { roundTrips.removeFirst() }
        roundTrips.append(max(.zero, roundTrip))
    }

    // MARK: Actions

    /// Returns the next step.
    mutating func next(at now: Duration) -> Action {
        expire(at: now)
        switch phase {
        case .entering:
            if let abandoned { return .abandon(abandoned) }
            if now < nextAttempt { return .wait(until: nextAttempt) }
            return lease.map(Action.enter) ?? .grant
        case .waiting, .holding:
            guard let lease, let token else { return .stop }
            // A renewal is worth nothing until it is proven.
            if now >= nextRenewal, !isHinted || renewal == nil {
                lastRenewal = now
                return .renew(lease)
            }
            guard isHinted else { return .wait(until: nextRenewal) }
            // A change that is reported from now on needs another look.
            isHinted = false
            return .verify(lease, token)
        case .adopted, .lost, .failed, .ended:
            return .stop
        }
    }

    /// The time has come to look whether the lease is still valid.
    mutating func expire(at now: Duration) {
        if phase == .holding, let validUntil, now >= validUntil { phase = .lost(.expired) }
    }

    // MARK: Entering

    /// A lease was granted.
    mutating func granted(_ granted: StoreLease, sent: Duration, at now: Duration) {
        guard lease == nil else { return }
        guard phase == .entering else {
            // It has come too late, and must be revoked.
            lease = granted.id
            return
        }
        record(now - sent)
        guard granted.timeToLive > .zero else { return entryFailed(.final, at: now) }
        lease = granted.id
        timeToLive = granted.timeToLive.saturated
        renewal = Renewal(sent: sent, timeToLive: timeToLive, term: granted.term)
        lastRenewal = sent
        nextRenewal = sent + period
    }

    /// A lease was not granted, or the own entry was not put.
    ///
    /// - Parameter sent: The time at which the call was sent.
    mutating func entryFailed(_ failure: Failure, sent: Duration? = nil, at now: Duration) {
        guard phase == .entering else { return }
        record(failure, sent: sent, at: now)
        switch failure {
        case .final: phase = .failed
        case .leaseNotFound:
            // Whatever a transaction has put or will put has ended with the lease.
            forget()
            retry(at: now)
        case .unavailable, .ambiguous: retry(at: now)
        }
    }

    private mutating func retry(at now: Duration) {
        if now >= patience { phase = .failed } else { nextAttempt = now + pause }
    }

    /// The own entry is in the line.
    mutating func entered(_ token: FencingToken, _ sight: Sight, sent: Duration, at now: Duration) {
        guard phase == .entering, lease != nil else { return }
        record(now - sent)
        self.token = token
        revision = sight.revision
        ahead = sight.ahead
        phase = .waiting
        // Of a line that is watched already, a change may have been reported before the entry was known.
        isHinted = isWatched
        isAheadStale = isWatched
        isWatched = true
        decide(sight, sent: sent, at: now)
    }

    /// The key of the own entry belongs to another lease: it cannot be used.
    mutating func entryWasForeign(at now: Duration) {
        guard phase == .entering else { return }
        abandon()
        retry(at: now)
    }

    private mutating func abandon() {
        abandoned = lease
        forget()
    }

    private mutating func forget() {
        (lease, token, renewal, validUntil, revision) = (nil, nil, nil, nil, nil)
        (isHinted, ahead) = (false, [])
    }

    /// A lease was revoked, or could not be.
    mutating func abandonedEnded() { abandoned = nil }

    // MARK: Renewals

    /// A store has answered that it has renewed the lease.
    mutating func renewed(_ answer: StoreLease, sent: Duration, at now: Duration) {
        guard phase == .waiting || phase == .holding, answer.id == lease else { return }
        record(now - sent)
        expire(at: now)
        guard answer.timeToLive > .zero else { return renewalFailed(.leaseNotFound, at: now) }
        let isShorter = answer.timeToLive < timeToLive
        timeToLive = answer.timeToLive.saturated
        // A store that has shortened the lease may end it earlier than before, also if the renewal is never proven.
        if isShorter, let end = validUntil { validUntil = min(end, sent + timeToLive - margin) }
        renewal = Renewal(sent: sent, timeToLive: timeToLive, term: answer.term)
        nextRenewal = sent + period
        isHinted = true
        expire(at: now)
    }

    /// A renewal has failed.
    ///
    /// - Parameter sent: The time at which it was sent.
    mutating func renewalFailed(_ failure: Failure, sent: Duration? = nil, at now: Duration) {
        record(failure, sent: sent, at: now)
        expire(at: now)
        nextRenewal = now + pause
        switch failure {
        // A transaction shows whether the entry is gone.
        case .leaseNotFound: hint()
        case .final where phase == .waiting: phase = .failed
        case .final, .unavailable, .ambiguous: loseContact(at: now)
        }
    }

    /// A transaction has looked at the line.
    ///
    /// - Parameter sight: The line; `nil`: the own entry is not there.
    mutating func verified(_ sight: Sight?, sent: Duration, at now: Duration) {
        guard phase == .waiting || phase == .holding else { return }
        expire(at: now)
        guard let sight else { return missing(at: now) }
        record(now - sent)
        decide(sight, sent: sent, at: now)
    }

    /// A transaction that looks at the line has failed.
    ///
    /// - Parameter sent: The time at which it was sent.
    mutating func verificationFailed(_ failure: Failure, sent: Duration? = nil, at now: Duration) {
        renewalFailed(failure == .leaseNotFound ? .ambiguous : failure, sent: sent, at: now)
    }

    private mutating func decide(_ sight: Sight, sent: Duration, at now: Duration) {
        expire(at: now)
        guard phase == .waiting || phase == .holding, let token else { return }
        lastContact = sent
        if let renewal {
            if renewal.term == sight.term {
                let end = renewal.sent + renewal.timeToLive - margin
                validUntil = max(validUntil ?? end, end)
            } else {
                // The renewal was answered by another leader than the one that is there now.
                nextRenewal = min(nextRenewal, now + pause)
            }
            self.renewal = nil
        }
        if phase == .holding {
            if !sight.isListed { phase = .lost(.removed) }
            return expire(at: now)
        }
        if let result = sight.resultRevision, result > token.rawValue {
            phase = .adopted
        } else if sight.isListed, sight.ahead.count < rules.permits {
            if let validUntil, now < validUntil {
                phase = .holding
            } else {
                // It is its turn, and a proven renewal is missing.
                nextRenewal = min(nextRenewal, max(now, lastRenewal + pause))
            }
        }
    }

    private mutating func missing(at now: Duration) {
        switch phase {
        case .waiting: leavePlace(at: now)
        case .holding: phase = .lost(.removed)
        default: break
        }
    }

    /// The entry has no contact with the store. A waiter that has none for two durations has lost its place, and enters the line again or fails.
    private mutating func loseContact(at now: Duration) {
        if phase == .waiting, now >= lastContact + timeToLive * 2 { leavePlace(at: now) }
    }

    private mutating func leavePlace(at now: Duration) {
        abandon()
        phase = .entering
        nextAttempt = now
        patience = now + rules.timeToLive
    }

    // MARK: Hints

    /// An entry of the line was deleted.
    ///
    /// - Parameter isOwn: Whether it was the own entry.
    mutating func deleted(_ key: String, isOwn: Bool) {
        if isOwn {
            isHinted = phase == .waiting || phase == .holding || isHinted
        } else if phase == .waiting {
            let isAhead = ahead.remove(key) != nil
            if isAheadStale || isAhead && ahead.count < rules.permits { isHinted = true }
        }
    }

    /// A report of the watch was incomplete: any entry may have been deleted.
    mutating func reportWasIncomplete() {
        isAheadStale = true
        hint()
    }

    /// Something may have changed that was not reported, or a result was published.
    mutating func hint() {
        if phase == .waiting || phase == .holding { isHinted = true }
    }

    // MARK: The end

    /// The clock cannot sleep: nothing can be renewed in time.
    mutating func clockFailed() {
        switch phase {
        case .holding: phase = .lost(.expired)
        case .entering, .waiting: phase = .failed
        case .adopted, .lost, .failed, .ended: break
        }
    }

    /// The caller is asked to stop: it leaves unless it holds already.
    mutating func withdraw() {
        guard phase == .entering || phase == .waiting else { return }
        phase = .ended
        isWithdrawn = true
    }

    /// The body has ended, or the caller leaves.
    ///
    /// - Returns: The way in which the lease was lost before; `nil`: it was not.
    mutating func end(at now: Duration) -> LeaseLostError.Reason? {
        expire(at: now)
        if case .lost(let reason) = phase { return reason }
        if phase != .failed { phase = .ended }
        return nil
    }

    /// Returns how the own entry leaves the line.
    mutating func leave() -> Leaving {
        if let lease, let token, phase != .lost(.removed) {
            leavingStep = .delete(lease, token)
        } else if let lease = lease ?? abandoned {
            leavingStep = .revoke(lease)
        } else {
            leavingStep = .nothing
        }
        return leavingStep
    }

    /// Returns the next step after a step has succeeded or failed.
    mutating func left(_ isDone: Bool) -> Leaving {
        switch leavingStep {
        case .delete(let lease, _):
            // Whether or not it is deleted: the lease would live on until it expires, and so would the entry of an earlier transaction that arrives later.
            leavingStep = .revoke(lease)
        case .revoke: leavingStep = isDone ? .nothing : .expire
        case .expire, .nothing: leavingStep = .nothing
        }
        return leavingStep
    }
}
