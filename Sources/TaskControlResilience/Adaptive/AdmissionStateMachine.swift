internal import TaskControl

/// The running calls of an ``AdaptiveLimiter``, and the callers that wait for permits in a bounded FIFO queue (the
/// line). Pure: a value without a lock, task or closure.
///
///     admit ──▶ admitted ──end──▶ (gone)        a permit is there, and no caller waits
///       ├──▶ refused                            the line is long, or the deadline is near
///       └──▶ line ──permit──▶ granted ──begin──▶ admitted     the waiter is returned with the permit
///              └──leave──▶ (gone)
///
/// The permits are those of `AsyncSemaphore`, whose number follows the limit.
///
/// Invariants, checked by `checkInvariants()` after each step of the tests:
/// 1. There are as many permits as the limit.
/// 2. A caller begins to wait only if fewer callers than three times the limit already wait.
struct AdmissionStateMachine<Waiter> {
    typealias Permits = PermitStateMachine<Waiter>

    /// The admission of a call, which must be passed to `end(_:_:at:)` when the call ends.
    struct Permit: Sendable {
        fileprivate let begun: Duration
        /// The number of calls that ran when the call began, including itself.
        fileprivate let running: Int
    }

    enum Answer {
        case admitted(Permit)
        /// The caller must wait: it passes its continuation to `park(_:_:)`, and calls `begin(at:)` when it is resumed
        /// with `.reached`.
        case line(Permits.ID)
        case refused(retryAfter: Duration?)
    }

    /// The information that an ended call gives about the service.
    enum Measure: Hashable, CaseIterable {
        /// The duration of the call counts.
        case sample
        /// The call ended at its time limit.
        case drop
        case none
    }

    struct Change {
        /// The waiting callers that have permits now; they must be resumed.
        var granted: [Waiter] = []
        /// The new limit; `nil` if the limit has not changed.
        var limit: Int?
    }

    private var permits: Permits
    private var limits: AdaptiveLimitStateMachine

    init(_ configuration: AdaptiveLimitStateMachine.Configuration) {
        limits = AdaptiveLimitStateMachine(configuration)
        permits = Permits(size: limits.limit)
    }

    var limit: Int { permits.size }
    /// The number of running calls. It can be more than the limit after the limit has fallen.
    var running: Int { permits.size - permits.available }
    var waiterCount: Int { permits.waiterCount }

    /// Admits a call if the limit allows it and no caller waits.
    ///
    /// - Parameter now: The current time, counted from the creation of the limiter.
    /// - Returns: The admission; `nil` if the call is not admitted.
    /// - Complexity: O(1).
    mutating func admitAtOnce(at now: Duration) -> Permit? {
        permits.tryAcquire(1) ? begin(at: now) : nil
    }

    /// Admits a call, gives its caller a place in the line of waiting callers, or refuses the call.
    ///
    /// - Parameters:
    ///   - now: The current time, counted from the creation of the limiter.
    ///   - remaining: The time until the deadline of the caller; `nil` without a deadline.
    ///   - draw: A random number from 0 to 1, excluding 1. It decides whether the call is refused if twice to three
    ///     times as many callers wait as the limit admits.
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

    /// The estimated time until the waiting callers and one more have begun; `nil` if the duration of a call is not
    /// known yet.
    private var expectedWait: Duration? {
        limits.latestMean.map { .seconds($0 * Double(waiterCount + 1) / Double(limit)) }
    }

    /// Stores the continuation (`waiter`) of the caller that has the place `id` in the line.
    ///
    /// - Returns: The outcome with which the caller must be resumed at once; `nil` if it must wait.
    mutating func park(_ id: Permits.ID, _ waiter: Waiter) -> WaitOutcome? { permits.park(id, waiter) }

    /// Removes the cancelled caller with the place `id` from the line. Has no effect for a caller that has a permit.
    ///
    /// - Returns: The caller, which must be resumed, if its continuation was stored; otherwise `nil`. The callers
    ///   behind it need one permit each as well, so none of them receives one.
    mutating func leave(_ id: Permits.ID) -> Waiter? { permits.leave(id).waiter }

    /// Returns the admission of a call that already has its permit, and begins now.
    func begin(at now: Duration) -> Permit { Permit(begun: now, running: running) }

    /// Ends a call, and releases its permit.
    ///
    /// - Parameter measure: The information that the call gives about the service.
    /// - Returns: The waiting callers that have permits now, and the new limit if it has changed.
    /// - Complexity: O(1), and O(*n*) in the number of these callers.
    mutating func end(_ permit: Permit, _ measure: Measure, at now: Duration) -> Change {
        let duration = max(.zero, now - permit.begun)
        switch measure {
        case .sample: limits.record(duration, running: permit.running, at: now)
        case .drop: limits.drop(duration, running: permit.running, at: now)
        case .none: return Change(granted: giveBack())
        }
        let limit = limits.limit
        guard limit != self.limit else { return Change(granted: giveBack()) }
        // The size changes before the permit is released: otherwise a permit that no longer exists could be granted.
        return Change(granted: permits.resize(to: limit) + giveBack(), limit: limit)
    }

    /// Releases the permit of a call without recording information about the service.
    ///
    /// - Returns: The waiting callers that have permits now; they must be resumed.
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
