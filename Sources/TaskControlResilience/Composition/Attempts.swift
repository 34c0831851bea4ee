package import TaskControl

/// Makes the attempts of one call, until one succeeds or none may follow.
///
/// A failed attempt is followed by another one at once if `isRepeated` says so, for example with a new credential: this
/// one is not counted, and not paid for. Otherwise `policy` decides, and may wait first.
///
/// - Parameters:
///   - policy: The number of attempts and the delays; `nil`: no attempt is made again after a delay.
///   - failure: The error of the first attempt, if it was made already.
///   - budget: The budget that pays for attempts after a delay, in place of the policy's; `nil` for no limit.
///   - clock: Measures the delays.
///   - isRepeated: Returns whether another attempt follows at once. Called for each error.
///   - shouldRetry: Returns whether another attempt may follow after a delay. Called only if the policy has another.
///   - hint: Returns how long the error asks to wait; `nil` if it does not ask.
///   - attempt: Makes an attempt.
/// - Throws: The error of the last attempt; `CancellationError` if the caller is cancelled; the error of the clock.
package nonisolated(nonsending) func _attempts<Value>(
    _ policy: RetryPolicy?,
    after failure: (any Error)? = nil,
    budget: RetryBudget?,
    clock: some Clock<Duration>,
    isRepeated: (any Error) -> Bool = { _ in false },
    shouldRetry: (any Error) -> Bool,
    hint: (any Error) -> Duration? = { ($0 as? any RetryAfterProviding)?.retryAfter },
    attempt: nonisolated(nonsending) () async throws -> Value
) async throws -> Value {
    // Without a capture list: a closure that has one loses its caller's isolation (Swift 6.3).
    nonisolated(nonsending) func repeating() async throws -> Value {
        while true {
            do {
                return try await attempt()
            } catch {
                guard isRepeated(error) else { throw error }
            }
        }
    }
    guard let policy else {
        if let failure { throw failure }
        return try await repeating()
    }
    return try await _retry(
        policy,
        after: failure,
        budget: budget,
        clock: clock,
        shouldRetry: shouldRetry,
        hint: hint,
        operation: repeating
    )
}

extension ResiliencePolicy {
    /// Makes one attempt: enters its parts, runs it, and leaves the parts.
    ///
    /// - Parameters:
    ///   - outcome: Returns the outcome of the attempt for the parts. Receives the error of the attempt; `nil` if it has
    ///     none.
    ///   - operation: Runs when the attempt has entered its parts.
    package nonisolated(nonsending) func _attempt<Value>(
        outcome: ((any Error)?) -> PolicyOutcome = { $0.map(PolicyOutcome.init(of:)) ?? .healthy },
        _ operation: nonisolated(nonsending) () async throws -> Value
    ) async throws -> Value {
        guard parts.hasAttemptParts else { return try await operation() }
        var (passes, time) = (AttemptOrder.noPasses, PolicyTime())
        do {
            try Task.checkCancellation()
            if try !parts.attempts.enter(&passes, at: &time) { try await parts.attempts.waitToEnter(&passes) }
        } catch {
            time = PolicyTime()
            parts.attempts.leave(&passes, with: .unknown, at: &time)
            throw error
        }
        do {
            let value = try await operation()
            time = PolicyTime()
            parts.attempts.leave(&passes, with: outcome(nil), at: &time)
            return value
        } catch {
            let outcome = outcome(error)
            time = PolicyTime()
            parts.attempts.leave(&passes, with: outcome, at: &time)
            throw error
        }
    }
}
