public import TaskControl

/// The state of one call of `withHedging`. Used only by the task that called `withHedging`.
@usableFromInline
struct _HedgeRace: Sendable {
    private var machine: HedgeStateMachine
    private let delay: HedgeDelay
    private let budget: RetryBudget
    private let time: Stopwatch
    /// The times at which the attempts began, the first attempt first.
    private var begun: [Duration] = []
    /// The number of the latest timer that measures the delay requested by an error (`RetryAdvising`); `nil` if
    /// there was none. For the attempt after this timer, the budget pays its `throttledCost`.
    private var hintTimer: Int?
    private let events: CallEvents?

    @usableFromInline
    init(_ delay: HedgeDelay, maxHedges: Int, budget: RetryBudget, _ clock: some Clock<Duration>) {
        let hedges = ComputedNumber.count(maxHedges, atLeast: 0, "withHedging(maxHedges:)", .withHedging)
        machine = HedgeStateMachine(maxAttempts: hedges == .max ? .max : hedges + 1)
        self.delay = delay
        self.budget = budget
        time = Stopwatch(clock)
        events = CallEvents.begin(.withHedging, .started, .running)
    }

    @usableFromInline var taskName: String? { Diagnostics.currentTaskName }

    @usableFromInline var isDecided: Bool { machine.isDecided }

    @usableFromInline
    mutating func begin() -> _HedgeStep { start() }

    private mutating func start() -> _HedgeStep {
        let (now, delay) = (time.now, delay.duration)
        let start = machine.start(isTimed: delay != nil)
        begun.append(now)
        if start.attempt > 1 { events?.emit(.hedging, attempt: start.attempt) }
        return _HedgeStep(attempt: start.attempt, timer: timer(start.timer, delay, from: now))
    }

    private func timer(_ number: Int?, _ delay: Duration?, from now: Duration) -> _HedgeTimer? {
        guard let number, let delay else { return nil }
        return _HedgeTimer(number: number, end: now.saturatingAdding(delay), time: time)
    }

    @usableFromInline
    mutating func succeeded(_ attempt: Int) -> _HedgeStep {
        record(attempt, isCensored: false)
        return _HedgeStep(isLast: machine.succeeded())
    }

    @usableFromInline
    mutating func failed(_ attempt: Int, _ error: any Error, isFinal: Bool) -> _HedgeStep {
        leaveIfCancelled()
        if isDecided || Task.isCancelled {
            // The attempt was cancelled: it would have taken longer.
            record(attempt, isCensored: true)
        } else {
            events?.emit(.failed, error: error, attempt: attempt)
        }
        let isInterrupted = isInterruption(error)
        // The error shows nothing about the service, so the attempts that run may still succeed.
        let othersContinue = isFinal && (error is CallRefusedError || isInterrupted) && machine.running > 1
        let hint = othersContinue ? .longestWait : (error as? any RetryAdvising)?.retryAfter
        // No caller waits for an attempt that would begin after the deadline: such a hint ends the attempts, like a hint that is too long.
        let wait = hint.map { isInTime(after: $0) ? $0 : .longestWait }
        return step(
            machine.failed(isFinal: isFinal && !othersContinue, hint: wait),
            isThrottled: hint != nil,
            isFree: isInterrupted
        )
    }

    @usableFromInline
    mutating func timerEnded(_ number: Int, _ error: (any Error)?) -> _HedgeStep {
        leaveIfCancelled()
        return step(
            error == nil ? machine.timerFired(number) : machine.timerFailed(number),
            isThrottled: number == hintTimer
        )
    }

    /// Records that no further attempt begins, if the caller was cancelled. Its cancellation also cancels the attempts.
    private mutating func leaveIfCancelled() {
        if Task.isCancelled { machine.cancel() }
    }

    /// Returns what follows from an answer of the machine.
    ///
    /// - Parameters:
    ///   - isThrottled: Whether an error has requested a delay before the next attempt.
    ///   - isFree: Whether the budget need not pay for the next attempt: it replaces one that was interrupted.
    private mutating func step(
        _ next: HedgeStateMachine.Next,
        isThrottled: Bool,
        isFree: Bool = false
    ) -> _HedgeStep {
        switch next {
        case .wait: return _HedgeStep()
        case .fail: return _HedgeStep(isLast: true)
        case .sleep(let hint, let number):
            hintTimer = number
            return _HedgeStep(timer: timer(number, hint, from: time.now))
        case .ask:
            if isInTime(after: .zero), isFree || budget.take(isThrottled: isThrottled) != nil { return start() }
            return step(machine.refuse(), isThrottled: isThrottled)
        }
    }

    /// Returns whether an attempt after a delay would begin before the deadline of the current task.
    private func isInTime(after delay: Duration) -> Bool { remainingTime().map { delay < $0 } ?? true }

    private func record(_ attempt: Int, isCensored: Bool) {
        guard let history = delay.history else { return }
        history.record(time.now - begun[attempt - 1], isCensored: isCensored)
    }

    /// Ends the call when all attempts have ended: returns a token to the budget if the call has succeeded, and emits
    /// the event of the end of the call.
    ///
    /// - Parameters:
    ///   - isSuccess: Whether an attempt has succeeded.
    ///   - error: The error of the call; `nil` if it has succeeded.
    @usableFromInline
    func end(_ isSuccess: Bool, _ error: (any Error)?) {
        if isSuccess { budget._give(1) }
        events?.end(
            isSuccess ? .completed : .failed,
            isSuccess ? .completed : Task.isCancelled ? .cancelled : .failed,
            error: isSuccess ? nil : error,
            attempt: begun.count
        )
    }
}
