internal import TaskControl

/// The bucket of tokens of a ``RateLimiter``, and the callers that wait for tokens. Implements the generic cell rate
/// algorithm (ITU-T I.371). Pure: a value without a lock, task or closure.
///
///     acquire ──▶ taken                                  there are tokens, and no caller waits
///        ├──▶ refused                                    the wait would be too long
///        ├──▶ first ──time──▶ taken                      it sleeps until its tokens are there
///        └──▶ line ──the first takes or leaves──▶ first  the waiter is returned
///
/// The bucket is full at first and is refilled at a constant rate. In place of the tokens the machine keeps the time at
/// which the bucket will be full (the *theoretical arrival time*), so nothing needs to be done as time passes.
///
/// The callers wait in the order of their calls. Only the first of them sleeps on the clock; the others are in the
/// *line*. The wait of a caller in line is known from the costs of the callers before it, and becomes less when one of
/// them leaves.
///
/// Invariants, checked by `checkInvariants()` after each step of the tests:
/// 1. If a caller waits in the line, there is a first caller.
/// 2. No costs are owed if there is no first caller.
struct RateLimiterStateMachine {
    typealias Waiter = Word
    typealias Line = WaiterTable

    enum Answer {
        case taken
        case refused(retryAfter: Duration)
        /// The caller is the first that waits: it must call `takeFirst(_:at:)`, and sleep as long as the answer says.
        case first
        /// The caller must wait: it passes its continuation to `park(_:_:)`. When it is resumed with `.reached`, it is
        /// the first that waits, and must call `takeFirst(_:at:)`.
        case line(Line.ID)
    }

    enum FirstAnswer {
        case wait(until: Duration)
        /// The caller has taken its tokens. The given waiter is now the first, and must be resumed; `nil` if there is
        /// no other caller, or the next caller has not stored its continuation yet.
        case taken(next: Waiter?)
    }

    /// The time in which one token is refilled.
    private let interval: Duration
    /// The number of tokens in a full bucket.
    private let burst: Int
    /// The time in which an empty bucket is refilled.
    private let capacity: Duration
    /// The time at which the bucket will be full if no more tokens are taken.
    private var fullTime = Duration.zero
    private var line = Line()
    /// Whether a caller is the first that waits.
    private var hasFirst = false
    /// The time in which the tokens for all waiting callers are refilled.
    private var owed = Duration.zero

    init(interval: Duration, burst: Int) {
        precondition(interval > .zero && burst > 0, "There are tokens, and their refill takes time.")
        self.interval = interval
        self.burst = burst
        capacity = interval.saturatingMultiplied(exactlyBy: burst)
    }

    /// Returns the cost of `weight` tokens: the time in which they are refilled.
    ///
    /// If the bucket cannot hold that many tokens, the caller waits until the bucket is full, and the rest is refilled
    /// afterwards.
    private func cost(of weight: Int) -> Duration {
        weight == 1 ? interval : interval.saturatingMultiplied(exactlyBy: max(0, weight))
    }

    /// Returns the time at which tokens can be taken.
    ///
    /// - Parameters:
    ///   - cost: The time in which the tokens are refilled.
    ///   - owed: The sum of these times for the callers that take their tokens earlier.
    ///   - now: The current time, counted from the creation of the limiter, like the returned time.
    private func due(_ cost: Duration, after owed: Duration, at now: Duration) -> Duration {
        max(fullTime, now) + owed + min(cost, capacity) - capacity
    }

    private mutating func take(_ cost: Duration, at now: Duration) { fullTime = max(fullTime, now) + cost }

    /// Returns the number of available tokens in the bucket.
    func available(at now: Duration) -> Int {
        let missing = max(.zero, fullTime - now)
        guard missing < capacity else { return 0 }
        // The quotient of two durations is rounded, perhaps to a little less than a whole number.
        let tokens = (capacity - missing) / interval + 1e-9
        return tokens >= Double(burst) ? burst : Int(tokens)
    }

    /// Returns whether the bucket is not full, or callers wait.
    func hasHistory(at now: Duration) -> Bool { fullTime > now || hasFirst }

    /// Takes `weight` tokens if they are available and no caller waits for tokens.
    ///
    /// - Returns: Whether the tokens were taken.
    /// - Complexity: O(1).
    mutating func tryAcquire(_ weight: Int, at now: Duration) -> Bool {
        let cost = cost(of: weight)
        guard !hasFirst, due(cost, after: .zero, at: now) <= now else { return false }
        take(cost, at: now)
        return true
    }

    /// Takes tokens if they are available and no caller waits. Otherwise gives the caller a place among the waiting
    /// callers, or refuses it.
    ///
    /// - Parameters:
    ///   - weight: The number of tokens to take.
    ///   - limit: The longest wait; `nil` for no limit.
    ///   - now: The current time, counted from the creation of the limiter.
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

    /// Stores the continuation (`waiter`) of the caller that has the place `id` in the line.
    ///
    /// - Returns: The outcome with which the caller must be resumed at once; `nil` if it must wait.
    mutating func park(_ id: Line.ID, _ waiter: Waiter) -> WaitOutcome? { line.park(id, waiter) }

    /// Takes `weight` tokens for the first caller that waits, if they are available.
    ///
    /// - Returns: Whether the tokens were taken, and if not, the time until which the caller must sleep.
    mutating func takeFirst(_ weight: Int, at now: Duration) -> FirstAnswer {
        let cost = cost(of: weight)
        let due = due(cost, after: .zero, at: now)
        if due > now { return .wait(until: due) }
        take(cost, at: now)
        return .taken(next: leaveFirst(weight))
    }

    /// Records that the first caller no longer waits for its `weight` tokens, because it has taken them, was cancelled,
    /// or could not sleep.
    ///
    /// - Returns: The waiter that is now the first, and must be resumed; `nil` if there is none, or its continuation is
    ///   not stored yet.
    mutating func leaveFirst(_ weight: Int) -> Waiter? {
        owed -= cost(of: weight)
        hasFirst = line.hasWaiting
        return hasFirst ? line.wakeFirst(with: .reached) : nil
    }

    /// Removes the cancelled caller with the place `id` from the line, where it waited for `weight` tokens. Has no
    /// effect if the caller has become the first that waits.
    ///
    /// - Returns: The caller, which must be resumed; `nil` if it does not wait in the line, or its continuation is not
    ///   stored yet.
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
