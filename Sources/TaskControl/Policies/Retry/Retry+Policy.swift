/// Calls an operation again when it fails, with the number of attempts and the delays that a policy sets.
///
/// ```swift
/// let feed = try await retry { try await fetchFeed() }
/// ```
///
/// The operation runs in the caller's isolation and task, and must be safe to repeat. Ordering and cancellation are the
/// same as for
/// ``retry(attempts:backoff:shouldRetry:budget:maxElapsed:waitingFor:clock:onRetry:operation:)-(_,_,_,_,_,_,_,_,()->Value)``, which
/// takes each setting as a parameter.
///
/// - Parameters:
///   - policy: The number of attempts, the delays, and the errors that are retried. By default ``RetryPolicy/default``.
///   - clock: Measures the delays, and the ``RetryPolicy/maxElapsed`` of the policy.
///   - onRetry: Receives each failure after which another attempt is planned, before the delay begins.
///   - operation: The operation.
/// - Returns: The value of the first attempt that succeeds.
/// - Throws: `CancellationError` if the caller is cancelled and no value is returned; otherwise the error of the last
///   attempt, unchanged; ``NoAttemptError`` if the policy allows no attempt; the error of the clock, if the clock cannot
///   sleep.
/// - Complexity: O(1). A call that succeeds at once allocates nothing if the policy has no ``RetryPolicy/maxElapsed``.
@export(implementation)
public nonisolated(nonsending) func retry<Value, C: Clock>(
    _ policy: RetryPolicy = .default,
    clock: C = ContinuousClock(),
    onRetry: (RetryEvent) -> Void = { _ in },
    operation: nonisolated(nonsending) () async throws -> Value
) async throws -> Value where C.Duration == Duration {
    try await retry(policy, clock: clock, onRetry: onRetry) { _ in try await operation() }
}

/// Calls an operation again when it fails, with the number of attempts and the delays that a policy sets, and passes
/// the number of the attempt, counted from 1, to the operation.
///
/// Behaves otherwise, also on cancellation, like ``retry(_:clock:onRetry:operation:)-(_,_,_,()->Value)``, whose
/// operation has no parameter.
///
/// ```swift
/// let feed = try await retry(.payments) { attempt in
///     try await pay(order, attempt: attempt)
/// }
/// ```
@export(implementation)
public nonisolated(nonsending) func retry<Value, C: Clock>(
    _ policy: RetryPolicy = .default,
    clock: C = ContinuousClock(),
    onRetry: (RetryEvent) -> Void = { _ in },
    operation: nonisolated(nonsending) (_ attempt: Int) async throws -> Value
) async throws -> Value where C.Duration == Duration {
    try await retrying(
        attempts: policy.attempts,
        backoff: policy.backoff,
        shouldRetry: policy.shouldRetry,
        budget: policy.budget,
        maxElapsed: policy.maxElapsed,
        condition: policy.waitingFor,
        clock: clock,
        onRetry: onRetry,
        operation: operation
    )
}
