/// Implements all forms of `retry`.
///
/// The first attempt is made here, inlined, so that a call that succeeds at once costs almost nothing: the state that
/// is needed after a failed attempt is created then, as a ``_RetryRun``. The cost of a failure is small compared with
/// the delay that follows.
@export(implementation)
@inline(__always)
nonisolated(nonsending) func retrying<Value, C: Clock>(
    attempts: Int,
    backoff: RetryBackoff,
    shouldRetry: (any Error) -> Bool,
    budget: RetryBudget?,
    maxElapsed: Duration?,
    clock: C,
    hint: (any Error) -> Duration? = _retryAfter(of:),
    onRetry: (RetryEvent) -> Void,
    operation: nonisolated(nonsending) (_ attempt: Int) async throws -> Value
) async throws -> Value where C.Duration == Duration {
    if attempts < 1 { throw _noAttempts(attempts) }
    var failure: (any Error)?
    // With a limit, `_RetryRun` reads the clock first, and then makes the first attempt too. Without a limit, no
    // instant is stored: an instant of a generic clock costs time to store.
    if maxElapsed == nil {
        try Task.checkCancellation()
        do {
            let value = try await operation(1)
            budget?._give(1)
            return value
        } catch {
            failure = error
        }
    }
    var run = _RetryRun(attempts: attempts, backoff: backoff, budget: budget, maxElapsed: maxElapsed, clock: clock)
    return try await run.run(
        after: failure,
        shouldRetry: shouldRetry,
        hint: hint,
        onRetry: onRetry,
        operation: operation
    )
}

/// Implements the attempts of a policy for other modules of this package.
///
/// - Parameters:
///   - policy: The policy. Its `shouldRetry` is ignored.
///   - failure: The error of the first attempt; `nil` if the first attempt has not been made.
///   - clock: Measures the delays.
///   - shouldRetry: Returns whether another attempt may follow an error. Called only if the policy allows one.
///   - hint: Returns how long an error asks to wait; `nil` if it does not ask. Called right after `shouldRetry`.
///   - operation: Makes an attempt.
/// - Returns: The value of the first attempt that succeeds.
/// - Throws: The error of the last attempt; `CancellationError` if the caller is cancelled; the error of the clock, if
///   it cannot sleep.
@usableFromInline
package nonisolated(nonsending) func _retry<Value>(
    _ policy: RetryPolicy,
    after failure: (any Error)?,
    clock: some Clock<Duration>,
    shouldRetry: (any Error) -> Bool,
    hint: (any Error) -> Duration? = _retryAfter(of:),
    operation: nonisolated(nonsending) () async throws -> Value
) async throws -> Value {
    var run = _RetryRun(
        attempts: max(1, policy.attempts),
        backoff: policy.backoff,
        budget: policy.budget,
        maxElapsed: policy.maxElapsed,
        clock: clock
    )
    return try await run.run(after: failure, shouldRetry: shouldRetry, hint: hint, onRetry: { _ in }) { _ in
        try await operation()
    }
}

/// Returns the hint of an error that conforms to ``RetryAfterProviding``; `nil` if there is none.
@usableFromInline
func _retryAfter(of error: any Error) -> Duration? { (error as? any RetryAfterProviding)?.retryAfter }

/// The state of one call of `retry` between its attempts. Decides whether a failed attempt is followed by another one.
@usableFromInline
struct _RetryRun<C: Clock> where C.Duration == Duration {
    /// The number of the attempt that runs, or that follows the delay, counted from 1.
    private var attempt = 1
    private let attempts: Int
    private var schedule: RetrySchedule
    private let budget: RetryBudget?
    /// The number of tokens that the last retry has taken from the budget; `nil` before the first retry, or without a
    /// budget.
    private var cost: Int?
    private let maxElapsed: Duration?
    private let clock: C
    /// The instant at which the call of `retry` began; `nil` if the call has no `maxElapsed`.
    private let start: C.Instant?
    /// The events of the call of `retry`, from its first failure on; `nil` before that, or if no observer was
    /// registered then. A call that succeeds at once has no events.
    private var events: CallEvents?
    private var loop = FairLoop()

    @usableFromInline
    init(attempts: Int, backoff: RetryBackoff, budget: RetryBudget?, maxElapsed: Duration?, clock: C) {
        self.attempts = attempts
        self.budget = budget
        self.maxElapsed = maxElapsed
        self.clock = clock
        schedule = RetrySchedule(backoff)
        start = maxElapsed == nil ? nil : clock.now
    }

    /// Makes the remaining attempts of a call of `retry`, with the closures that were passed to `retry`.
    ///
    /// - Parameters:
    ///   - failure: The error of the first attempt; `nil` if the first attempt has not been made.
    ///   - hint: Returns how long the error asks to wait before the next attempt; `nil` if it does not ask.
    /// - Returns: The value of the first attempt that succeeds.
    /// - Throws: The error that the caller of `retry` receives.
    @usableFromInline
    nonisolated(nonsending) mutating func run<Value>(
        after failure: (any Error)?,
        shouldRetry: (any Error) -> Bool,
        hint: (any Error) -> Duration?,
        onRetry: (RetryEvent) -> Void,
        operation: nonisolated(nonsending) (_ attempt: Int) async throws -> Value
    ) async throws -> Value {
        var failure = failure
        if failure == nil { try Task.checkCancellation() }
        while true {
            if let failure {
                emitFailure(failure)
                do {
                    try await prepareRetry(after: failure, shouldRetry: shouldRetry, hint: hint, onRetry: onRetry)
                } catch {
                    events?.end(.gaveUp, .failed, error: error, attempt: attempt)
                    throw error
                }
            }
            do {
                let value = try await operation(attempt)
                budget?._give(cost ?? 1)
                events?.end(.succeeded, .completed, attempt: attempt)
                return value
            } catch {
                failure = error
            }
        }
    }

    /// Decides whether another attempt follows the one that failed with `error`, and if so, waits for the delay. The
    /// closures are those that were passed to `retry`.
    ///
    /// - Throws: The error that the caller of `retry` receives, if there is no further attempt.
    private nonisolated(nonsending) mutating func prepareRetry(
        after error: any Error,
        shouldRetry: (any Error) -> Bool,
        hint: (any Error) -> Duration?,
        onRetry: (RetryEvent) -> Void
    ) async throws {
        try Task.checkCancellation()
        guard
            attempt < attempts, !CancellationCauses.hasEndedAttempts(.running), shouldRetry(error),
            case let hint = hint(error),
            let delay = schedule.delay(afterAttempt: attempt, error: error, hint: hint), isInTime(delay),
            isPaid(after: error, isThrottled: hint != nil)
        else {
            // The closures above are the caller's: the task may have been cancelled while they ran.
            try Task.checkCancellation()
            throw error
        }
        onRetry(RetryEvent(attempt: attempt, error: error, delay: delay))
        events?.emit(.waiting, .entered(.waiting), attempt: attempt, delay: delay)
        do {
            if delay > .zero {
                try await sleep(for: delay, on: clock)
            } else if loop.mustYield() {
                await Task.yield()
            }
            // Checked also if there was no delay, or if the clock ignores the cancellation.
            try Task.checkCancellation()
            // The owner of the task may have begun its shutdown during the delay.
            if CancellationCauses.hasEndedAttempts(.running) { throw error }
        } catch {
            // The retry is not made, so its tokens are put back.
            if let budget, let cost { budget._give(cost) }
            try Task.checkCancellation()
            throw error
        }
        attempt += 1
        events?.emit(.retrying, .entered(.running), attempt: attempt)
    }

    private mutating func emitFailure(_ error: any Error) {
        if let events {
            events.emit(.failed, error: error, attempt: attempt)
        } else {
            events = CallEvents.begin(.retry, .failed, .running, error: error, attempt: attempt)
        }
    }

    /// Returns whether a delay would end by `maxElapsed` and before the deadline of the current task.
    private func isInTime(_ delay: Duration) -> Bool {
        if let deadline = Deadline.current, deadline.remaining <= delay { return false }
        guard let start, let maxElapsed else { return true }
        return start.duration(to: clock.now).saturatingAdding(delay) <= maxElapsed
    }

    private mutating func isPaid(after error: any Error, isThrottled: Bool) -> Bool {
        cost = nil
        guard let budget, !isInterruption(error) else { return true }
        cost = budget.take(isThrottled: isThrottled)
        return cost != nil
    }
}

/// Returns the error of a call of `retry` that allows no attempt: `CancellationError` if its caller is cancelled.
@usableFromInline
func _noAttempts(_ attempts: Int) -> any Error {
    Task.isCancelled ? CancellationError() : NoAttemptError(attempts: attempts)
}
