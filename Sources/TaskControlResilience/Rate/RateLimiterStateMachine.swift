internal import TaskControl

/// The times at which calls may be made at a rate, by the generic cell rate algorithm (ITU-T I.371). Pure: no lock, task or closure.
///
///     acquire ──▶ taken                                  there are tokens, and no caller waits
///        ├──▶ refused                                    the wait would be too long
///        ├──▶ first ──time──▶ taken                      it sleeps until its tokens are there
///        └──▶ line ──the first takes or leaves──▶ first  the waiter is returned
///
/// A bucket of tokens, which is full at first and is refilled at a constant rate. In place of the tokens the machine keeps the time at which the
/// bucket will be full (the *theoretical arrival time*), so nothing needs to be done as time passes.
///
/// Only the first caller in line sleeps on the clock. The wait of a caller in line is known from the costs of the callers before it, and
/// becomes less when one of them leaves.
///
/// Invariants, checked by `checkInvariants()` after each step of the tests:
/// 1. If a caller waits in line, there is a first.
/// 2. No costs are owed when there is no first.
struct RateLimiterStateMachine<Waiter> {
    typealias Line = WaiterTable<Waiter, WaitOutcome>

    enum Answer {
        case taken
        case refused(retryAfter: Duration)
        /// The caller must sleep, and then call `takeFirst`.
        case first
        /// The caller must park, and is the first when it is woken.
        case line(Line.ID)
    }

    enum FirstAnswer {
        case wait(until: Duration)
        /// The caller has its tokens; the next one is the first, if there is one.
        case taken(next: Waiter?)
    }

    /// The time in which one token is refilled.
    private let interval: Duration
    /// The number of tokens in a full bucket.
    private let burst: Int
    /// The time in which an empty bucket is refilled.
    private let capacity: Duration
    /// The time at which the bucket is full, if no tokens are taken.
    private var fullTime = Duration.zero
    private var line = Line()
    private var hasFirst = false
    /// The costs of the waiting callers.
    private var owed = Duration.zero

    init(interval: Duration, burst: Int) {
        precondition(interval > .zero && burst > 0, "There are tokens, and their refill takes time.")
        self.interval = interval
        self.burst = burst
        capacity = interval.saturatingMultiplied(exactlyBy: burst)
    }

    /// The cost of a number of tokens, as the time in which they are refilled.
    ///
    /// More tokens than the bucket holds are taken from a full bucket, which owes the rest.
    private func cost(of weight: Int) -> Duration {
        weight == 1 ? interval : interval.saturatingMultiplied(exactlyBy: max(0, weight))
    }

    /// The time at which a cost can be paid, after what is owed.
    private func due(_ cost: Duration, after owed: Duration, at now: Duration) -> Duration {
        max(fullTime, now) + owed + min(cost, capacity) - capacity
    }

    private mutating func take(_ cost: Duration, at now: Duration) { fullTime = max(fullTime, now) + cost }

    /// The number of tokens in the bucket.
    func available(at now: Duration) -> Int {
        let missing = max(.zero, fullTime - now)
        guard missing < capacity else { return 0 }
        // The quotient of two durations is rounded, perhaps to a little less than a whole number.
        let tokens = (capacity - missing) / interval + 1e-9
        return tokens >= Double(burst) ? burst : Int(tokens)
    }

    /// Takes tokens if they are available and no caller waits for tokens.
    ///
    /// - Complexity: O(1).
    mutating func tryAcquire(_ weight: Int, at now: Duration) -> Bool {
        let cost = cost(of: weight)
        guard !hasFirst, due(cost, after: .zero, at: now) <= now else { return false }
        take(cost, at: now)
        return true
    }

    /// Takes tokens, or a place in line for them.
    ///
    /// - Parameter limit: The longest wait.
    /// - Complexity: O(1), amortized.
    mutating func acquire(_ weight: Int, within limit: Duration?, at now: Duration) -> Answer {
        if tryAcquire(weight, at: now) { return .taken }
        let cost = cost(of: weight)
        let wait = due(cost, after: owed, at: now) - now
        if let limit, wait > max(.zero, limit) { return .refused(retryAfter: wait) }
        owed += cost
        if hasFirst { return .line(line.enroll()) }
        hasFirst = true
        return .first
    }

    /// Parks the waiter of a caller in line.
    ///
    /// - Returns: The result with which the waiter must be resumed at once; `nil`: it waits.
    mutating func park(_ id: Line.ID, _ waiter: Waiter) -> WaitOutcome? { line.park(id, waiter) }

    /// The first caller takes its tokens, if they are available.
    mutating func takeFirst(_ weight: Int, at now: Duration) -> FirstAnswer {
        let cost = cost(of: weight)
        let due = due(cost, after: .zero, at: now)
        if due > now { return .wait(until: due) }
        take(cost, at: now)
        return .taken(next: leaveFirst(weight))
    }

    /// The first caller leaves.
    ///
    /// - Returns: The waiter that is the first now, if it is parked.
    mutating func leaveFirst(_ weight: Int) -> Waiter? {
        owed -= cost(of: weight)
        hasFirst = line.hasWaiting
        return hasFirst ? line.wakeFirst(with: .reached) : nil
    }

    /// A caller in line leaves. Has no effect if it is the first by now.
    ///
    /// - Returns: The waiter, if it is parked.
    mutating func leave(_ id: Line.ID, _ weight: Int) -> Waiter? {
        guard line.isWaiting(id) else { return nil }
        owed -= cost(of: weight)
        return line.leave(id, with: .left)
    }
}

extension RateLimiterStateMachine {
    /// Traps if an invariant does not hold.
    func checkInvariants() {
        precondition(hasFirst || !line.hasWaiting, "there is a first if a caller waits")
        precondition(hasFirst || owed == .zero, "nothing is owed if no caller waits")
        precondition(owed >= .zero, "the owed costs are not negative")
    }
}

extension RateLimiterStateMachine.Answer: Sendable where Waiter: Sendable {}
extension RateLimiterStateMachine.FirstAnswer: Sendable where Waiter: Sendable {}
