/// Decides when the attempts of a hedged call begin, and when the call ends. Pure: a value without a lock, task or
/// closure.
///
///     running ──an attempt succeeds──▶ decided
///        │ ├──an attempt fails, none is left──▶ decided
///        │ └──an attempt fails with an error that ends the call──▶ decided
///        └──a timer fires, or an attempt fails──▶ wants another attempt ──paid──▶ running
///
/// One timer is current at a time. A timer that is not current any longer has no effect when it fires.
///
/// Invariants, checked by `checkInvariants()` after each step of the tests:
/// 1. No more attempts begin than are allowed, and none after the decision.
/// 2. Until the decision an attempt runs, or the current timer is pending.
struct HedgeStateMachine: Sendable {
    enum Next: Hashable, Sendable {
        /// The caller must ask the budget whether it pays for another attempt, and then call `start(isTimed:)` or
        /// `refuse()`.
        case ask
        /// The caller must sleep for the given time, and then call `timerFired(_:)`.
        case sleep(Duration, timer: Int)
        /// The caller must wait until an attempt ends or a timer fires.
        case wait
        /// The call has failed: no attempt runs and none will begin, or an error ends the call.
        case fail
    }

    struct Start: Hashable, Sendable {
        let attempt: Int
        /// The number of the timer after which the next attempt begins; `nil` if no timer begins.
        let timer: Int?
    }

    /// The longest hint (the delay that an error requests: `RetryAdvising`) for which another attempt waits.
    /// After a longer hint no further attempt begins, as in `retry` with a backoff that has no cap.
    private static var longestHint: Duration { .seconds(60) }

    private let maxAttempts: Int
    private var started = 0
    private(set) var running = 0
    private var timer = 0
    private var isTimerPending = false
    /// Whether the current timer measures a hint, the delay that an error requested: no attempt begins before it fires.
    private var isHintPending = false
    /// Whether further attempts are ruled out, for example because the budget does not pay.
    private var isSpent = false
    /// Whether the result of the call is known: an attempt has succeeded, or the call has failed.
    private(set) var isDecided = false

    init(maxAttempts: Int) {
        precondition(maxAttempts >= 1, "There is a first attempt.")
        self.maxAttempts = maxAttempts
    }

    private var canStart: Bool { !isDecided && !isSpent && started < maxAttempts }

    /// Begins an attempt: the first one, or one that the budget pays for.
    ///
    /// - Parameter isTimed: Whether a timer for the next attempt begins, if a next attempt is allowed.
    /// - Returns: The number of the attempt, and the number of the timer.
    mutating func start(isTimed: Bool) -> Start {
        precondition(canStart, "An attempt begins after it was asked for.")
        started += 1
        running += 1
        return Start(attempt: started, timer: isTimed && canStart ? beginTimer() : nil)
    }

    private mutating func beginTimer() -> Int {
        timer += 1
        isTimerPending = true
        isHintPending = false
        return timer
    }

    /// Records that the budget does not pay for the next attempt: no further attempt begins. Returns what the caller
    /// must do next.
    mutating func refuse() -> Next {
        isSpent = true
        return waitOrFail()
    }

    private mutating func waitOrFail() -> Next {
        if isDecided || running > 0 { return .wait }
        isDecided = true
        return .fail
    }

    mutating func timerFired(_ number: Int) -> Next {
        guard number == timer, isTimerPending else { return .wait }
        (isTimerPending, isHintPending) = (false, false)
        return canStart ? .ask : waitOrFail()
    }

    /// Records that the clock could not sleep for a timer. No attempt begins because of that timer.
    ///
    /// - Parameter number: The number of the timer.
    /// - Returns: The next step of the caller.
    mutating func timerFailed(_ number: Int) -> Next {
        guard number == timer, isTimerPending else { return .wait }
        (isTimerPending, isHintPending) = (false, false)
        return waitOrFail()
    }

    /// Records that an attempt has succeeded.
    ///
    /// - Returns: Whether the value of this attempt is the result of the call: `false` if the call was already decided.
    mutating func succeeded() -> Bool {
        running -= 1
        guard !isDecided else { return false }
        isDecided = true
        return true
    }

    /// Records that an attempt has failed.
    ///
    /// - Parameters:
    ///   - isFinal: Whether the error ends the call.
    ///   - hint: The delay that the error requests before the next attempt; `nil` if it requests none.
    /// - Returns: The next step of the caller.
    mutating func failed(isFinal: Bool, hint: Duration?) -> Next {
        running -= 1
        if isDecided { return .wait }
        if isFinal {
            isDecided = true
            return .fail
        }
        let hint = hint ?? .zero
        guard canStart, hint <= Self.longestHint else {
            isSpent = true
            return waitOrFail()
        }
        if hint > .zero {
            let timer = beginTimer()
            isHintPending = true
            return .sleep(hint, timer: timer)
        }
        if isHintPending { return .wait }
        isTimerPending = false
        return .ask
    }

    /// Records that the caller was cancelled. No further attempt begins.
    mutating func cancel() { isSpent = true }
}

extension HedgeStateMachine {
    /// Traps if an invariant does not hold. Must not be called between the answer `ask` and the next event.
    func checkInvariants() {
        precondition((0...maxAttempts).contains(started), "no more attempts begin than are allowed")
        precondition((0...started).contains(running), "attempts that have begun run")
        precondition(isDecided || running > 0 || isTimerPending, "something is waited for until the decision")
    }
}
