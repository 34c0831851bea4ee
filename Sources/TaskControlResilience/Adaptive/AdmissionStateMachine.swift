internal import TaskControl

/// The calls that run under a limit that follows their durations, and those that wait in a bounded line. Pure: no lock, task or closure.
///
///     admit ──▶ admitted ──end──▶ (gone)        a permit is there, and no caller waits
///       ├──▶ refused                            the line is long, or the deadline is near
///       └──▶ line ──permit──▶ begin             the waiter is returned
///              └──leave──▶ (gone)
///
/// The permits are those of `AsyncSemaphore`, whose number follows the limit.
///
/// Invariants, checked by `checkInvariants()` after each step of the tests:
/// 1. There are as many permits as the limit.
/// 2. The line is shorter than three times the limit when a caller joins it.
struct AdmissionStateMachine<Waiter> {
    typealias Permits = PermitStateMachine<Waiter>

    /// A call that runs.
    struct Permit: Sendable {
        fileprivate let begun: Duration
        /// The number of calls that ran when it began, including itself.
        fileprivate let running: Int
    }

    enum Answer {
        case admitted(Permit)
        /// The caller must park, and then call `begin`.
        case line(Permits.ID)
        case refused(retryAfter: Duration?)
    }

    /// The information of a call about the service.
    enum Measure: Hashable, CaseIterable {
        /// The duration of the call counts.
        case sample
        /// The call ended at its time limit.
        case drop
        case none
    }

    struct Change {
        /// The waiters that have permits now.
        var granted: [Waiter] = []
        /// `nil`: the limit has not changed.
        var limit: Int?
    }

    private var permits: Permits
    private var limits: AdaptiveLimitStateMachine

    init(_ configuration: AdaptiveLimitStateMachine.Configuration) {
        limits = AdaptiveLimitStateMachine(configuration)
        permits = Permits(size: limits.limit)
    }

    var limit: Int { permits.size }
    /// The number of running calls. After the limit has fallen, it may be above the limit.
    var running: Int { permits.size - permits.available }
    var waiterCount: Int { permits.waiterCount }

    /// Admits a call if a permit is there, and no caller waits.
    ///
    /// - Complexity: O(1).
    mutating func admitAtOnce(at now: Duration) -> Permit? {
        permits.tryAcquire(1) ? begin(at: now) : nil
    }

    /// Admits a call, gives it a place in line, or refuses it.
    ///
    /// - Parameters:
    ///   - remaining: The time until the deadline of the caller; `nil` without a deadline.
    ///   - draw: A number from 0 up to 1, without 1: which calls are refused while the line is long, but not full.
    /// - Complexity: O(1).
    mutating func admit(at now: Duration, within remaining: Duration?, draw: Double) -> Answer {
        if let permit = admitAtOnce(at: now) { return .admitted(permit) }
        let wait = expectedWait
        // From twice the limit on, as in failsafe-go.
        let excess = Double(waiterCount) / Double(limit) - 2
        if draw < excess { return .refused(retryAfter: wait) }
        if let remaining, remaining <= wait ?? .zero { return .refused(retryAfter: wait) }
        return permits.acquire(1).map { .line($0) } ?? .admitted(begin(at: now))
    }

    /// The time until the callers in line and one more have begun, if calls continue to take as long; `nil` if that is not known.
    private var expectedWait: Duration? {
        limits.latestMean.map { .seconds($0 * Double(waiterCount + 1) / Double(limit)) }
    }

    /// - Returns: The result with which the waiter must be resumed at once.
    mutating func park(_ id: Permits.ID, _ waiter: Waiter) -> WaitOutcome? { permits.park(id, waiter) }

    /// Leaves the line. Has no effect for a caller that has a permit.
    ///
    /// - Returns: The waiter that has left, if it was parked. The callers behind it need the same permit as it did, so none of them is granted one.
    mutating func leave(_ id: Permits.ID) -> Waiter? { permits.leave(id).waiter }

    /// A call begins, with a permit that it has taken.
    func begin(at now: Duration) -> Permit { Permit(begun: now, running: running) }

    /// Ends a call, which releases its permit.
    ///
    /// - Complexity: O(1), and O(*n*) in the number of callers that have permits now.
    mutating func end(_ permit: Permit, _ measure: Measure, at now: Duration) -> Change {
        let duration = max(.zero, now - permit.begun)
        switch measure {
        case .sample: limits.record(duration, running: permit.running, at: now)
        case .drop: limits.drop(duration, running: permit.running, at: now)
        case .none: return Change(granted: giveBack())
        }
        let limit = limits.limit
        guard limit != self.limit else { return Change(granted: giveBack()) }
        // First the size, so that a permit which is no longer there is not granted.
        return Change(granted: permits.resize(to: limit) + giveBack(), limit: limit)
    }

    /// Releases a permit with which no call was made.
    ///
    /// - Returns: The waiters that have permits now.
    mutating func giveBack() -> [Waiter] {
        switch permits.release(1) {
        case .done: []
        case .granted(let granted): granted
        case .refuse: preconditionFailure("a call releases the permit that it has")
        }
    }
}

extension AdmissionStateMachine {
    /// Traps if an invariant does not hold.
    func checkInvariants() {
        permits.checkInvariants()
        limits.checkInvariants()
        precondition(permits.size == limits.limit, "there are as many permits as the limit")
        precondition(running >= 0, "a permit is released once")
    }
}
