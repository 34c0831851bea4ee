internal import TaskControl

/// The state of one caller's entry in a line (see ``FleetLine``): decides when the lease is renewed, when the caller holds it, and until when it is
/// certainly valid. A pure state machine.
///
///     entering ──▶ waiting ──▶ holding ──▶ lost
///        ▲            │ │          └─────▶ ended
///        └────────────┘ └─▶ adopted
///
/// All times, such as the parameters `sent` and `now`, are durations since the creation of the session's `Stopwatch`.
/// One task asks for the next action with ``next(at:)``, executes it, and reports the answer. Watches and timers report
/// events at any time. The rules of `withLease` are decided here:
///
/// - A lease is valid for the granted duration, less a margin, from the time at which its last *proven* renewal was sent. A renewal is proven by a
///   transaction that begins after the answer, finds the caller's entry, and has the same term (of the store's leader) as the renewal.
/// - A waiting caller becomes a holder only through a transaction that has found its entry among the first of the line.
/// - A change that a watch reports has only one effect: such a transaction is executed at once.
struct LeaseStateMachine: Hashable {
    private let rules: Rules

    private(set) var phase = Phase.entering
    private(set) var lease: LeaseID?
    private(set) var token: Lease.FencingToken?
    /// The time on the session's `Stopwatch` until which the lease certainly exists in the store; `nil` if no
    /// transaction has confirmed its grant or a renewal.
    private(set) var validUntil: Duration?
    /// The revision of the store at which the line (``FleetLine``) was read when the caller entered it; `nil` if the caller is not in the line.
    private(set) var revision: Int64?

    /// Whether the caller was asked to stop while it waited.
    private(set) var isWithdrawn = false
    /// The duration of the lease that the store has granted; before that, the requested duration.
    private var timeToLive: Duration
    private var renewal: Renewal?
    private var nextRenewal = Duration.zero
    /// The time on the session's `Stopwatch` at which the grant of the lease, or its last renewal, was sent.
    private var lastRenewal = Duration.zero
    /// Whether the line (``FleetLine``) must be read now.
    private var isHinted = false
    /// Whether the caller has entered the line (``FleetLine``) before, and has watched it since.
    private var isWatched = false
    /// The keys of the entries that are known to be older than the caller's entry.
    private var ahead: Set<StoreKey> = []
    /// Whether entries in ``ahead`` may have been deleted without a report. If so, any deletion of an entry may mean that it is the caller's turn.
    private var isAheadStale = false
    /// The lease that must be revoked, because its entry has lost its place in the line (``FleetLine``); `nil` if there is none.
    private var abandoned: LeaseID?
    private var nextAttempt = Duration.zero
    /// The time on the session's `Stopwatch` after which the caller stops trying to create its entry, and fails.
    private var patience: Duration
    /// The time on the session's `Stopwatch` at which the last transaction that found the caller's entry was sent.
    private var lastContact = Duration.zero
    /// The durations of the last 8 calls of the store. A call without an answer counts with the time for which the caller has waited.
    private var roundTrips: [Duration] = []
    private var leavingStep = Leaving.nothing

    /// Creates the state of a caller that begins to wait for a lease with the given rules at the time `now`.
    init(_ rules: Rules, at now: Duration) {
        self.rules = rules
        timeToLive = rules.timeToLive
        patience = now + rules.timeToLive
    }

    // MARK: Times

    /// The part of the granted duration in which the lease is not considered valid. It is 10 % of the duration, for clocks that run at different
    /// rates, and twice the longest of the recent round trips, for messages of the holder that are still on their way. The second part is at most a
    /// third of the duration: otherwise, on a slow network, the lease would be lost between two renewals.
    private var margin: Duration {
        timeToLive / 10 + min((roundTrips.max() ?? .zero) * 2, timeToLive / 3)
    }

    /// The time between two renewals.
    private var period: Duration { max(timeToLive / 3, .milliseconds(1)) }

    /// The delay after which a call of the store that has failed is repeated.
    var pause: Duration { max(timeToLive / 10, .milliseconds(1)) }

    /// Returns the time limit of a call of the store that begins at `now`: a quarter of the duration of the lease. The
    /// limit is at most the remaining duration while the caller holds the lease, and otherwise at most 10 seconds.
    func limit(at now: Duration) -> Duration {
        let limit = max(timeToLive / 4, .milliseconds(1))
        // Even with a long lease, a waiting or ending call does not wait long for a store that does not answer.
        guard phase == .holding else { return min(limit, .seconds(10)) }
        guard let validUntil, validUntil > now else { return limit }
        return min(limit, validUntil - now)
    }

    func isValid(at now: Duration) -> Bool { phase == .holding && validUntil.map { now < $0 } ?? false }

    /// The time on the session's `Stopwatch` at which a held lease ends unless it is renewed; `nil` if it is not held.
    var expiry: Duration? { phase == .holding ? validUntil : nil }

    var isLost: Bool { if case .lost = phase { true } else { false } }

    /// Whether the task that calls the store must end its present ``Action/wait(until:)`` early, and ask for the next action at once.
    var isUrgent: Bool {
        switch phase {
        case .entering: false
        case .waiting, .holding: isHinted
        case .adopted, .lost, .failed, .ended: true
        }
    }

    /// Records the time from `sent` to `now` as a duration of a call, if `failure` is `.ambiguous` and `sent` is known.
    private mutating func record(_ failure: Failure, sent: Duration?, at now: Duration) {
        if failure == .ambiguous, let sent { record(now - sent) }
    }

    private mutating func record(_ roundTrip: Duration) {
        if roundTrips.count == 8 { roundTrips.removeFirst() }
        roundTrips.append(max(.zero, roundTrip))
    }

    // MARK: Actions

    /// Returns the next action of the task that calls the store.
    mutating func next(at now: Duration) -> Action {
        expire(at: now)
        switch phase {
        case .entering:
            if let abandoned { return .abandon(abandoned) }
            if now < nextAttempt { return .wait(until: nextAttempt) }
            return lease.map(Action.enter) ?? .grant
        case .waiting, .holding:
            guard let lease, let token else { return .stop }
            // A renewal has no effect until it is proven: prove it before the next one is sent.
            if now >= nextRenewal, !isHinted || renewal == nil {
                lastRenewal = now
                return .renew(lease)
            }
            guard isHinted else { return .wait(until: nextRenewal) }
            // A change that is reported from now on requires another transaction.
            isHinted = false
            return .verify(lease, token)
        case .adopted, .lost, .failed, .ended:
            return .stop
        }
    }

    /// Ends the lease if it is no longer valid at the time `now`.
    mutating func expire(at now: Duration) {
        if phase == .holding, let validUntil, now >= validUntil { phase = .lost(.expired) }
    }

    // MARK: Entering

    /// Notes that the store has granted a lease, in answer to a request that was sent at the time `sent`. The answer
    /// has arrived at the time `now`. Both are times on the session's `Stopwatch`.
    mutating func granted(_ granted: StoreLease, sent: Duration, at now: Duration) {
        guard lease == nil else { return }
        guard phase == .entering else {
            // The lease was granted too late, and must be revoked.
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

    /// Notes that a lease could not be granted, or the caller's entry could not be created, because of `failure`. The
    /// failed call was sent at the time `sent` (`nil` to record no duration).
    mutating func entryFailed(_ failure: Failure, sent: Duration? = nil, at now: Duration) {
        guard phase == .entering else { return }
        record(failure, sent: sent, at: now)
        switch failure {
        case .final: phase = .failed
        case .leaseNotFound, .replaced:
            // An entry that an earlier transaction has put was removed with the lease. A transaction that arrives later fails.
            forget()
            retry(at: now)
        case .unavailable, .ambiguous: retry(at: now)
        }
    }

    private mutating func retry(at now: Duration) {
        if now >= patience { phase = .failed } else { nextAttempt = now + pause }
    }

    /// Notes that the caller's entry is in the line (``FleetLine``).
    ///
    /// - Parameters:
    ///   - token: The revision at which the entry was created.
    ///   - sight: The state of the line, as read by the transaction that created or found the entry.
    ///   - sent: The time at which the transaction was sent.
    mutating func entered(_ token: Lease.FencingToken, _ sight: Sight, sent: Duration, at now: Duration) {
        guard phase == .entering, lease != nil else { return }
        record(now - sent)
        self.token = token
        revision = sight.revision
        ahead = sight.ahead
        phase = .waiting
        // If the line is already watched, a change may have been reported before the entry was known.
        isHinted = isWatched
        isAheadStale = isWatched
        isWatched = true
        decide(sight, sent: sent, at: now)
    }

    /// Notes that the key of the caller's entry is in use by another lease. The caller's lease will be revoked.
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

    /// Notes the end of the attempt to revoke the lease of an entry that has lost its place, with or without success.
    mutating func abandonedEnded() { abandoned = nil }

    // MARK: Renewals

    /// Notes that the store has renewed the lease, in answer to a request that was sent at the time `sent`.
    mutating func renewed(_ answer: StoreLease, sent: Duration, at now: Duration) {
        guard phase == .waiting || phase == .holding, answer.id == lease else { return }
        record(now - sent)
        expire(at: now)
        guard answer.timeToLive > .zero else { return renewalFailed(.leaseNotFound, at: now) }
        let isShorter = answer.timeToLive < timeToLive
        timeToLive = answer.timeToLive.saturated
        // A store that has shortened the lease may end the lease earlier than before, even if the renewal is never proven.
        if isShorter, let end = validUntil { validUntil = min(end, sent + timeToLive - margin) }
        renewal = Renewal(sent: sent, timeToLive: timeToLive, term: answer.term)
        nextRenewal = sent + period
        isHinted = true
        expire(at: now)
    }

    /// Notes the failure of a renewal, which was sent at the time `sent` (`nil` to record no duration).
    mutating func renewalFailed(_ failure: Failure, sent: Duration? = nil, at now: Duration) {
        record(failure, sent: sent, at: now)
        expire(at: now)
        nextRenewal = now + pause
        switch failure {
        // A transaction shows whether the entry is gone.
        case .leaseNotFound: hint()
        case .replaced: missing(at: now)
        case .final where phase == .waiting: phase = .failed
        case .final, .unavailable, .ambiguous: loseContact(at: now)
        }
    }

    /// Notes that a transaction, which was sent at the time `sent`, has read the state of the line (``FleetLine``):
    /// `sight`, which is `nil` if the caller's entry no longer exists.
    mutating func verified(_ sight: Sight?, sent: Duration, at now: Duration) {
        guard phase == .waiting || phase == .holding else { return }
        expire(at: now)
        guard let sight else { return missing(at: now) }
        record(now - sent)
        decide(sight, sent: sent, at: now)
    }

    /// Notes the failure of a transaction that reads the line (``FleetLine``), sent at the time `sent` (`nil` to record no duration).
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
                // The leader of the store has changed since the renewal, so that the transaction does not prove it.
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
                // It is the caller's turn, but the lease is not certainly valid: renew it soon.
                nextRenewal = min(nextRenewal, max(now, lastRenewal + pause))
            }
        }
    }

    /// Notes that a watch has found another content in the store, without the caller's entry and lease.
    mutating func contentWasReplaced(at now: Duration) {
        expire(at: now)
        missing(at: now)
    }

    private mutating func missing(at now: Duration) {
        switch phase {
        case .waiting: leavePlace(at: now)
        case .holding: phase = .lost(.removed)
        default: break
        }
    }

    /// Notes that a call of the store has failed. If no transaction has found the waiting caller's entry for two durations of the lease, the caller
    /// has lost its place: it creates a new entry behind all others, or fails.
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

    /// Notes that an entry of the line (``FleetLine``) was deleted.
    ///
    /// - Parameters:
    ///   - key: The key of the entry.
    ///   - isOwn: Whether the entry is the caller's.
    mutating func deleted(_ key: StoreKey, isOwn: Bool) {
        if isOwn {
            isHinted = phase == .waiting || phase == .holding || isHinted
        } else if phase == .waiting {
            let isAhead = ahead.remove(key) != nil
            if isAheadStale || isAhead && ahead.count < rules.permits { isHinted = true }
        }
    }

    /// Notes that a watch of the line (``FleetLine``) has omitted changes: any entry may have been deleted.
    mutating func reportWasIncomplete() {
        isAheadStale = true
        hint()
    }

    /// Requests a transaction that reads the line (``FleetLine``) at once, because a result was published or an unreported change is possible.
    mutating func hint() {
        if phase == .waiting || phase == .holding { isHinted = true }
    }

    // MARK: The end

    /// Notes that the clock cannot sleep, so that the lease cannot be renewed in time: the lease is lost, or the wait fails.
    mutating func clockFailed() {
        switch phase {
        case .holding: phase = .lost(.expired)
        case .entering, .waiting: phase = .failed
        case .adopted, .lost, .failed, .ended: break
        }
    }

    /// Notes that the caller is asked to stop. A caller that waits for the lease stops waiting; a caller that holds the lease continues.
    mutating func withdraw() {
        guard phase == .entering || phase == .waiting else { return }
        phase = .ended
        isWithdrawn = true
    }

    /// Notes that the body has ended, or that the caller stops waiting.
    ///
    /// - Returns: The reason for which the lease was already lost; `nil` if it was not lost.
    mutating func end(at now: Duration) -> LeaseLostError.Reason? {
        expire(at: now)
        if case .lost(let reason) = phase { return reason }
        if phase != .failed { phase = .ended }
        return nil
    }

    /// Returns the first step with which the caller leaves the line (``FleetLine``).
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

    /// Returns the next step with which the caller leaves the line (``FleetLine``), after the previous step has ended.
    ///
    /// - Parameter isDone: Whether the previous step has succeeded.
    mutating func left(_ isDone: Bool) -> Leaving {
        switch leavingStep {
        case .delete(let lease, _):
            // Revoked even if no entry was deleted: otherwise an entry that a delayed transaction creates would exist until the lease expires.
            leavingStep = .revoke(lease)
        case .revoke: leavingStep = isDone ? .nothing : .expire
        case .expire, .nothing: leavingStep = .nothing
        }
        return leavingStep
    }
}

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
        case verify(LeaseID, Lease.FencingToken)
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
        case delete(LeaseID, Lease.FencingToken)
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
