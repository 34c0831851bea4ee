/// Calls an operation again when it fails, after a delay, up to a number of attempts.
///
/// ```swift
/// let feed = try await retry(attempts: 5) { try await fetchFeed() }
/// ```
///
/// The operation runs in the caller's isolation and task: inside an actor it can use the actor's state, and its value
/// need not be Sendable. The operation must be safe to repeat. To limit the time of an attempt, use
/// ``withTimeout(_:clock:operation:)`` inside the operation. To share the work with other callers, call `retry` inside
/// the shared operation, for example that of a ``SingleFlight``.
///
/// The delays, and which errors are retried, are those of ``RetryPolicy/default`` unless the call states others. There is no
/// budget unless the call passes one: a number of attempts that is written at a call is the number of attempts.
///
/// ```swift
/// let feed = try await retry(
///     attempts: 5, backoff: .fixed(.seconds(1)), shouldRetry: { $0 is ConnectionLost }, maxElapsed: .seconds(10)
/// ) {
///     try await fetchFeed()
/// }
/// ```
///
/// A call that fails because the network is gone, or because no user is signed in, can wait for that instead of a time:
///
/// ```swift
/// let feed = try await retry(attempts: 5, waitingFor: { reachability.isAvailable }) { try await fetchFeed() }
/// ```
///
/// Here `isAvailable` returns an `AsyncStream<Bool>`. The first attempt does not wait: only its failure shows that the
/// condition matters.
///
/// ## Ordering
/// Attempts run one after the other. After a failed attempt, these conditions are checked in this order, and the first
/// one that does not hold ends the retries:
/// - The caller is not cancelled.
/// - The number of attempts is not used up.
/// - The owner of the task is not being shut down with ``WaitingWorkBehavior/cancel``. This is checked again after the delay.
/// - `shouldRetry` accepts the error.
/// - The `backoff` returns a delay. If the error has a hint that is longer than this delay, the hint is not longer than
///   the cap of the backoff (one minute if it has none): see ``RetryAdvising``.
/// - The delay would end by `maxElapsed`, and before the ``Deadline`` of the task, if the task has one.
/// - The `budget` has enough tokens.
///
/// Then `onRetry` is called, and the delay begins, which a condition can end early or prolong: see `waitingFor`. Without a delay the next attempt begins at once, and the clock does
/// not sleep.
///
/// ## Cancellation
/// If the caller was cancelled before the call, the call makes no attempt and throws `CancellationError`. If the caller
/// is cancelled during an attempt that then fails, or during a delay, the call makes no further attempt and throws
/// `CancellationError`, regardless of the operation's error; a delay ends immediately. If an attempt returns a value,
/// the call returns the value, even if the caller was cancelled during the attempt. A `CancellationError` that the
/// operation throws in a caller that is not cancelled is treated like any other error.
///
/// - Parameters:
///   - attempts: The number of attempts that are allowed, the first included. If it is less than 1, such as the number
///     of elements of an empty list, the call makes no attempt and throws ``NoAttemptError``.
///   - backoff: The delays between the attempts. By default those of ``RetryPolicy/default``.
///   - shouldRetry: Returns whether another attempt may follow an error; if `false`, the call throws the error. Not
///     called after the last attempt that is allowed. By default ``RetryPolicy/isWorthRetrying(_:)``.
///   - budget: The budget that limits the retries of several calls together. `nil`, the default: no such limit.
///   - maxElapsed: The time after the call of `retry`, measured by `clock`, in which further attempts may begin. If the
///     delay before an attempt would end later, the attempt is not made, and the call throws the last error without
///     waiting. A running attempt is not ended. `nil`: no limit. With zero, an attempt is repeated only if no time has
///     passed and there is no delay; a negative time allows no repetition.
///   - condition: Returns the reports of a condition, such as whether the network can be reached: first its state, and then each
///     change. Called after each failure that another attempt follows. While the last report is `false`, and before the
///     first report, no attempt begins, also after the delay; a `true` after a `false` ends the delay. A stream that ends
///     holds up nothing. `maxElapsed` and the ``Deadline`` of the task count meanwhile. `nil`, the default: no condition.
///   - clock: Measures the delays and `maxElapsed`.
///   - onRetry: Receives each failure after which another attempt is planned, before the delay begins.
///   - operation: The work to repeat until it succeeds.
/// - Returns: The value of the first attempt that succeeds.
/// - Throws: `CancellationError` if the caller is cancelled and no value is returned; otherwise the error of the last
///   attempt, unchanged; ``NoAttemptError`` if no attempt is allowed; the error of the clock, if the clock cannot sleep.
/// - Complexity: O(1). A call without `maxElapsed` that succeeds at once allocates nothing.
@export(implementation)
public nonisolated(nonsending) func retry<Value, C: Clock>(
    attempts: Int,
    backoff: RetryBackoff = RetryPolicy.default.backoff,
    shouldRetry: (any Error) -> Bool = RetryPolicy.isWorthRetrying,
    budget: RetryBudget? = nil,
    maxElapsed: Duration? = nil,
    waitingFor condition: (@Sendable () async -> AsyncStream<Bool>)? = nil,
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
        condition: condition,
        clock: clock,
        onRetry: onRetry
    ) { _ in try await operation() }
}

/// Calls an operation again when it fails, and passes the number of the attempt, counted from 1, to the operation.
///
/// Behaves otherwise, also on cancellation, like
/// ``retry(attempts:backoff:shouldRetry:budget:maxElapsed:waitingFor:clock:onRetry:operation:)-(_,_,_,_,_,_,_,_,()->Value)``, whose
/// operation has no parameter.
///
/// ```swift
/// let index = try await retry(attempts: mirrors.count) { attempt in
///     try await fetchIndex(from: mirrors[attempt - 1])
/// }
/// ```
@export(implementation)
public nonisolated(nonsending) func retry<Value, C: Clock>(
    attempts: Int,
    backoff: RetryBackoff = RetryPolicy.default.backoff,
    shouldRetry: (any Error) -> Bool = RetryPolicy.isWorthRetrying,
    budget: RetryBudget? = nil,
    maxElapsed: Duration? = nil,
    waitingFor condition: (@Sendable () async -> AsyncStream<Bool>)? = nil,
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
        condition: condition,
        clock: clock,
        onRetry: onRetry,
        operation: operation
    )
}
