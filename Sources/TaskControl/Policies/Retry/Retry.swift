/// Calls an operation again when it fails, after a delay, up to a number of attempts.
///
/// ```swift
/// let feed = try await retry(attempts: 3, backoff: .exponential(base: .milliseconds(50)).jittered(.full)) {
///     try await fetchFeed()
/// }
/// ```
///
/// It runs in the caller's isolation and task: inside an actor the operation touches the actor's state, and what it returns need not be Sendable. The
/// operation must bear being repeated. To limit the time of an attempt, do it inside; to share the work with others who ask for the same,
/// put the `retry` into the shared work.
///
/// What to try again is best said: by default every error is, also one that will be the same tomorrow.
///
/// ```swift
/// let feed = try await retry(attempts: 5, backoff: .fixed(.seconds(1)), maxElapsed: .seconds(10)) {
///     try await fetchFeed()
/// } shouldRetry: { error in
///     error is ConnectionLost
/// }
/// ```
///
/// ## Ordering
/// Attempts follow one another. After one that failed, this is asked in turn, and the first *no* ends it: is the caller not cancelled; are
/// attempts left; does `shouldRetry` want it; does the `backoff` have a delay, and does the error's hint, if it has one, end by its cap; would the delay be over by `maxElapsed`;
/// can the `budget` pay for it. Then `onRetry` is called, and the delay begins. Without a delay the next attempt begins at once, and the clock does not sleep.
///
/// ## Cancellation
/// A caller that was cancelled before does not begin. One that is cancelled during an attempt leaves when that has failed, and during a
/// delay at once; it gets `CancellationError`, whatever the operation threw. A value that an attempt returned is returned.
/// A `CancellationError` of the operation's own, in a caller that is not cancelled, is an error like others.
///
/// - Parameters:
///   - attempts: How many there may be, the first included: 1 or more, or it traps.
///   - backoff: How long the delays are. None by default: nothing waits unless the call says so. For what is on a network, say
///     `.exponential(base: .milliseconds(50)).capped(at: .seconds(20)).jittered(.full)`, as the AWS SDKs do.
///   - shouldRetry: Whether an error is worth another attempt. Not asked about the last attempt's. By default, every one is.
///   - budget: What pays for retries, shared with other calls.
///   - maxElapsed: From the call on, in the time of `clock`. A retry whose delay would end later is not begun. No attempt is cut short
///     by it. `nil`: no limit. Zero allows retries only while no time has passed, less than zero none.
///   - clock: What the delays and `maxElapsed` are measured by.
///   - onRetry: Told of each failure that will be followed by another attempt, before the delay.
///   - operation: What is to succeed.
/// - Returns: What the first attempt that succeeds returns.
/// - Throws: The error of the last attempt, as it is; `CancellationError` if the caller is cancelled; what the clock throws, if it cannot sleep.
/// - Complexity: O(1). A call without `maxElapsed` that succeeds at once allocates nothing.
@inlinable
public nonisolated(nonsending) func retry<Value, C: Clock>(
    attempts: Int,
    backoff: RetryBackoff = .none,
    shouldRetry: (any Error) -> Bool = { _ in true },
    budget: RetryBudget? = nil,
    maxElapsed: Duration? = nil,
    clock: C = ContinuousClock(),
    onRetry: (RetryEvent) -> Void = { _ in },
    operation: nonisolated(nonsending) () async throws -> Value
) async throws -> Value where C.Duration == Duration {
    try await retrying(
        attempts: attempts,
        backoff: backoff,
        shouldRetry: shouldRetry,
        budget: budget,
        maxElapsed: maxElapsed,
        clock: clock,
        onRetry: onRetry
    ) { _ in try await operation() }
}

/// Calls an operation again when it fails, which is told the number of the attempt, counted from 1. Otherwise as the form without it,
/// cancellation included.
///
/// ```swift
/// let page = try await retry(attempts: 3) { attempt in
///     try await fetch(page, from: mirrors[attempt - 1])
/// }
/// ```
@inlinable
public nonisolated(nonsending) func retry<Value, C: Clock>(
    attempts: Int,
    backoff: RetryBackoff = .none,
    shouldRetry: (any Error) -> Bool = { _ in true },
    budget: RetryBudget? = nil,
    maxElapsed: Duration? = nil,
    clock: C = ContinuousClock(),
    onRetry: (RetryEvent) -> Void = { _ in },
    operation: nonisolated(nonsending) (_ attempt: Int) async throws -> Value
) async throws -> Value where C.Duration == Duration {
    try await retrying(
        attempts: attempts,
        backoff: backoff,
        shouldRetry: shouldRetry,
        budget: budget,
        maxElapsed: maxElapsed,
        clock: clock,
        onRetry: onRetry,
        operation: operation
    )
}

/// Calls an operation again when it fails with an error that is worth it: with `shouldRetry` behind the operation. Otherwise as the form
/// that has it in front, cancellation included.
///
/// ```swift
/// let receipt = try await retry(attempts: 3, backoff: .exponential(base: .seconds(1))) {
///     try await send(order)
/// } shouldRetry: { error in
///     error is ConnectionLost
/// }
/// ```
@inlinable
public nonisolated(nonsending) func retry<Value, C: Clock>(
    attempts: Int,
    backoff: RetryBackoff = .none,
    budget: RetryBudget? = nil,
    maxElapsed: Duration? = nil,
    clock: C = ContinuousClock(),
    onRetry: (RetryEvent) -> Void = { _ in },
    operation: nonisolated(nonsending) () async throws -> Value,
    shouldRetry: (any Error) -> Bool
) async throws -> Value where C.Duration == Duration {
    try await retrying(
        attempts: attempts,
        backoff: backoff,
        shouldRetry: shouldRetry,
        budget: budget,
        maxElapsed: maxElapsed,
        clock: clock,
        onRetry: onRetry
    ) { _ in try await operation() }
}

/// Calls an operation again when it fails with an error that is worth it: with the number of the attempt, and `shouldRetry` behind the
/// operation. Otherwise as the form with neither, cancellation included.
///
/// ```swift
/// let page = try await retry(attempts: 3) { attempt in
///     try await fetch(page, from: mirrors[attempt - 1])
/// } shouldRetry: { error in
///     error is ConnectionLost
/// }
/// ```
@inlinable
public nonisolated(nonsending) func retry<Value, C: Clock>(
    attempts: Int,
    backoff: RetryBackoff = .none,
    budget: RetryBudget? = nil,
    maxElapsed: Duration? = nil,
    clock: C = ContinuousClock(),
    onRetry: (RetryEvent) -> Void = { _ in },
    operation: nonisolated(nonsending) (_ attempt: Int) async throws -> Value,
    shouldRetry: (any Error) -> Bool
) async throws -> Value where C.Duration == Duration {
    try await retrying(
        attempts: attempts,
        backoff: backoff,
        shouldRetry: shouldRetry,
        budget: budget,
        maxElapsed: maxElapsed,
        clock: clock,
        onRetry: onRetry,
        operation: operation
    )
}

/// Retries an operation whose caller knows the hint that an error does not carry. Otherwise as the public forms.
///
/// - Parameter hint: Returns how long to wait before the next attempt, in place of ``RetryAfterProviding/retryAfter``. Called once per
///   failure that `shouldRetry` accepts, right after it.
package nonisolated(nonsending) func retry<Value, C: Clock>(
    attempts: Int,
    backoff: RetryBackoff,
    budget: RetryBudget?,
    maxElapsed: Duration?,
    clock: C,
    hint: (any Error) -> Duration?,
    operation: nonisolated(nonsending) () async throws -> Value,
    shouldRetry: (any Error) -> Bool
) async throws -> Value where C.Duration == Duration {
    try await retrying(
        attempts: attempts,
        backoff: backoff,
        shouldRetry: shouldRetry,
        budget: budget,
        maxElapsed: maxElapsed,
        clock: clock,
        hint: hint,
        onRetry: { _ in }
    ) { _ in try await operation() }
}
