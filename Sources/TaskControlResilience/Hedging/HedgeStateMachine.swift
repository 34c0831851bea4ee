/// The beginnings of the attempts of a hedged call, and its end. Pure: no lock, task or closure.
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
        /// Ask whether another attempt is paid for, and answer with `start` or `refuse`.
        case ask
        /// Sleep, and then call `timerFired`.
        case sleep(Duration, timer: Int)
        /// Wait for an attempt or a timer.
        case wait
        /// The call has failed with the error of this attempt.
        case fail
    }

    struct Start: Hashable, Sendable {
        let attempt: Int
        /// The timer of the next attempt; `nil`: there is no next attempt.
        let timer: Int?
    }

    /// A hint that is longer than this ends the attempts, as it ends the retries of `retry`.
    private static var longestHint: Duration { .seconds(60) }

    private let maxAttempts: Int
    private var started = 0
    private(set) var running = 0
    private var timer = 0
    private var isTimerPending = false
    /// Whether the current timer is that of an error's hint: no attempt begins before it fires.
    private var isHintPending = false
    /// Nothing pays for another attempt.
    private var isSpent = false
    private(set) var isDecided = false

    init(maxAttempts: Int) {
        precondition(maxAttempts >= 1, "There is a first attempt.")
        self.maxAttempts = maxAttempts
    }

    private var canStart: Bool { !isDecided && !isSpent && started < maxAttempts }

    /// An attempt begins: the first one, or one that is paid for.
    ///
    /// - Parameter isTimed: Whether a timer begins with it, if there can be another attempt.
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

    /// Nothing pays for the attempt that was asked for, nor for another one.
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

    /// The clock of a timer cannot sleep.
    mutating func timerFailed(_ number: Int) -> Next {
        guard number == timer, isTimerPending else { return .wait }
        (isTimerPending, isHintPending) = (false, false)
        return waitOrFail()
    }

    /// - Returns: Whether the value of this attempt is that of the call.
    mutating func succeeded() -> Bool {
        running -= 1
        guard !isDecided else { return false }
        isDecided = true
        return true
    }

    /// - Parameters:
    ///   - isFinal: Whether the error ends the call.
    ///   - hint: The time that the error asks to wait.
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

    /// The caller was cancelled: no other attempt begins.
    mutating func cancel() { isSpent = true }
}

extension HedgeStateMachine {
    /// Traps if an invariant does not hold. Not between `ask` and its answer.
    func checkInvariants() {
        precondition((0...maxAttempts).contains(started), "no more attempts begin than are allowed")
        precondition((0...started).contains(running), "attempts that have begun run")
        precondition(isDecided || running > 0 || isTimerPending, "something is waited for until the decision")
    }
}
