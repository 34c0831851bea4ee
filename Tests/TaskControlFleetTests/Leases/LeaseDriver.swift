import TestSupport

@testable import TaskControlFleet

/// Plays events to the machine of a lease, beside the truth in the store: the lease, the own entry, the term of the leader, and an entry ahead.
///
/// Checked after each event: a lease that is valid is in the store, its entry is the first one, and no step repeats without a pause.
struct LeaseDriver: MachineDriver {
    enum Event: Hashable {
        case pass(Duration)
        case act(Answer)
        /// A transaction that was sent long ago is executed.
        case arrive
        /// An operator deletes the own entry.
        case delete
        /// The entry ahead is deleted, and perhaps the watch reports it.
        case leave(isReported: Bool)
        case hint
        /// Another member becomes the leader.
        case elect
        case end
    }

    /// The way in which the store answers the next step.
    enum Answer: Hashable, CaseIterable {
        case answered
        /// Executed, and answered 2 s later.
        case slow
        /// Executed, and not answered.
        case lost
        /// Not executed, and not answered.
        case dropped
        /// Executed later, and not answered.
        case delayed
        /// Not executed.
        case unavailable
        /// Not executed: the store has another content, without the lease and the entry.
        case replaced
        /// Answered by a leader of an earlier term, and not executed. For renewals.
        case stale
        /// Executed, and answered with a shorter duration. For renewals.
        case shorter
    }

    static let timeToLive = Duration.seconds(10)

    private var machine = LeaseStateMachine(.init(timeToLive: timeToLive, permits: 1), at: .zero)
    private var now = Duration.zero
    private var mistakes: [String] = []
    private var isOver = false
    /// The actions since the time has passed last.
    private var steps = 0

    // The truth.
    private var leaseEnd: Duration?
    private var lease: Int64 = 0
    private var token: Int64?
    private var revision: Int64 = 5
    private var term: UInt64 = 1
    private var isBlocked = true
    /// The lease of a transaction that is under way.
    private var arriving: Int64?

    var signature: Int {
        var hasher = Hasher()
        hasher.combine(machine)
        hasher.combine(now)
        hasher.combine(leaseEnd)
        hasher.combine(lease)
        hasher.combine(token)
        hasher.combine(term)
        hasher.combine(isBlocked)
        hasher.combine(arriving)
        hasher.combine(isOver)
        return hasher.finalize()
    }

    var failures: [String] { mistakes }

    var events: [Event] {
        if isOver || !mistakes.isEmpty { return [] }
        var events: [Event] = [.pass(.seconds(1)), .pass(.seconds(4)), .hint, .end]
        if token != nil { events.append(.delete) }
        if isBlocked { events += [.leave(isReported: true), .leave(isReported: false)] }
        if arriving != nil { events.append(.arrive) }
        if term == 1 { events.append(.elect) }
        var copy = machine
        switch copy.next(at: now) {
        case .grant, .abandon: events += [.act(.answered), .act(.lost), .act(.unavailable), .act(.replaced)]
        case .enter: events += Answer.allCases.filter { $0 != .stale && $0 != .shorter }.map(Event.act)
        case .renew: events += Answer.allCases.filter { $0 != .delayed && (term > 1 || $0 != .stale) }.map(Event.act)
        case .verify: events += [.act(.answered), .act(.slow), .act(.lost), .act(.unavailable), .act(.replaced)]
        case .wait, .stop: break
        }
        return events
    }

    mutating func play(_ event: Event) {
        switch event {
        case .pass(let duration):
            pass(duration)
            machine.expire(at: now)
        case .act(let answer): act(answer)
        case .arrive:
            if let lease = arriving { put(lease) }
            arriving = nil
        case .delete: token = nil
        case .leave(let isReported):
            isBlocked = false
            if isReported { machine.deleted("other", isOwn: false) }
        case .hint: machine.hint()
        case .elect: term += 1
        case .end: end()
        }
        check(event)
    }

    // MARK: The store

    private mutating func pass(_ duration: Duration) {
        now += duration
        steps = 0
        if let leaseEnd, now >= leaseEnd { removeLease() }
    }

    private mutating func removeLease() {
        (leaseEnd, token) = (nil, nil)
    }

    private mutating func put(_ lease: Int64) {
        guard lease == self.lease, leaseEnd != nil, token == nil else { return }
        revision += 1
        token = revision
    }

    private var sight: LeaseStateMachine.Sight {
        LeaseStateMachine.Sight(
            ahead: isBlocked ? ["other"] : [],
            isListed: !isBlocked,
            resultRevision: nil,
            revision: revision,
            term: term
        )
    }

    private mutating func act(_ answer: Answer) {
        steps += 1
        let sent = now
        let action = machine.next(at: now)
        let failure: LeaseStateMachine.Failure? =
            switch answer {
            case .answered, .slow, .stale, .shorter: nil
            case .lost, .dropped, .delayed: .ambiguous
            case .unavailable: .unavailable
            case .replaced: .replaced
            }
        if answer == .replaced { removeLease() }
        let isExecuted = answer == .answered || answer == .slow || answer == .lost || answer == .shorter
        switch action {
        case .grant:
            // The lease of an answer that is lost is not known, and has no entry.
            if failure == nil {
                lease += 1
                leaseEnd = now + Self.timeToLive
                token = nil
                let granted = StoreLease(id: LeaseID(rawValue: lease), timeToLive: Self.timeToLive, term: term)
                machine.granted(granted, sent: sent, at: now)
            } else {
                machine.entryFailed(failure!, sent: sent, at: now)
            }
        case .enter: enter(answer, failure, sent, isExecuted)
        case .renew(let id):
            let exists = leaseEnd != nil
            let duration = answer == .shorter ? Self.timeToLive / 4 : Self.timeToLive
            if isExecuted, exists { leaseEnd = now + duration }
            if answer == .slow { pass(.seconds(2)) }
            if let failure {
                machine.renewalFailed(failure, sent: sent, at: now)
            } else if answer == .stale {
                let renewed = StoreLease(id: id, timeToLive: Self.timeToLive, term: term - 1)
                machine.renewed(renewed, sent: sent, at: now)
            } else if exists {
                machine.renewed(StoreLease(id: id, timeToLive: duration, term: term), sent: sent, at: now)
            } else {
                machine.renewalFailed(.leaseNotFound, at: now)
            }
        case .verify(_, let own):
            let seen = token == own.rawValue ? sight : nil
            if answer == .slow { pass(.seconds(2)) }
            if let failure {
                machine.verificationFailed(failure, sent: sent, at: now)
            } else {
                machine.verified(seen, sent: sent, at: now)
            }
        case .abandon:
            // Revoked, or not renewed any more.
            removeLease()
            machine.abandonedEnded()
        case .wait, .stop: break
        }
    }

    private mutating func enter(
        _ answer: Answer,
        _ failure: LeaseStateMachine.Failure?,
        _ sent: Duration,
        _ isExecuted: Bool
    ) {
        guard leaseEnd != nil || failure != nil else { return machine.entryFailed(.leaseNotFound, at: now) }
        if isExecuted { put(lease) }
        if answer == .delayed { arriving = lease }
        let (own, seen) = (token, sight)
        if answer == .slow { pass(.seconds(2)) }
        if let failure { return machine.entryFailed(failure, sent: sent, at: now) }
        if let own {
            machine.entered(Lease.FencingToken(rawValue: own), own == token ? seen : sight, sent: sent, at: now)
        }
    }

    private mutating func end() {
        isOver = true
        _ = machine.end(at: now)
        // All attempts fail but the last, which lets the lease expire; or the first succeeds.
        var copy = machine
        var step = copy.leave()
        let mustLeave = token != nil || arriving == lease && leaseEnd != nil
        if mustLeave, step == .nothing { mistakes.append("the entry stays") }
        if arriving == lease, leaseEnd != nil, case .delete = step, copy.left(true) == .nothing {
            mistakes.append("an entry that arrives later stays behind a living lease")
        }
        copy = machine
        step = copy.leave()
        var kinds: [LeaseStateMachine.Leaving] = []
        while step != .nothing, kinds.count < 5 {
            kinds.append(step)
            step = copy.left(false)
        }
        if !kinds.isEmpty, kinds.last != .expire { mistakes.append("leaving ends with \(kinds)") }
    }

    // MARK: Invariants

    private mutating func check(_ event: Event) {
        if machine.isValid(at: now) {
            if token == nil || token != machine.token?.rawValue, event != .delete, !wasDeleted {
                mistakes.append("a lease is valid without its entry")
            }
            if isBlocked { mistakes.append("a lease is valid behind another one") }
            if let leaseEnd, let end = machine.validUntil, end > leaseEnd {
                mistakes.append("a lease is valid after its end in the store")
            }
        }
        if event == .delete { wasDeleted = true }
        if machine.phase != .holding { wasDeleted = false }
        if steps > 8 { mistakes.append("steps repeat without a pause") }
        var copy = machine
        if case .wait(let time) = copy.next(at: now), time <= now { mistakes.append("a wait has no length") }
    }

    /// Whether an operator has deleted the entry of a holder, which learns of it with the next transaction.
    private var wasDeleted = false
}
