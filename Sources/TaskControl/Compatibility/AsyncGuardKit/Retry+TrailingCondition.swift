/// Calls an operation again when it fails with an error that `shouldRetry` accepts.
///
/// - Note: A spelling of AsyncGuardKit: see <doc:MovingFromAsyncGuardKit>.
///
/// `shouldRetry` is the last argument, so that it can be a trailing closure. Behaves otherwise, also on cancellation,
/// like ``retry(attempts:backoff:shouldRetry:budget:maxElapsed:waitingFor:clock:onRetry:operation:)-(_,_,_,_,_,_,_,_,()->Value)``.
///
/// ```swift
/// let receipt = try await retry(attempts: 3, backoff: .exponential(base: .seconds(1))) {
///     try await send(order)
/// } shouldRetry: { error in
///     error is ConnectionLost
/// }
/// ```
@export(implementation)
public nonisolated(nonsending) func retry<Value, C: Clock>(
    attempts: Int,
    backoff: RetryBackoff = RetryPolicy.default.backoff,
    budget: RetryBudget? = nil,
    maxElapsed: Duration? = nil,
    clock: C = ContinuousClock(),
    onRetry: (RetryEvent) -> Void = { _ in },
    operation: nonisolated(nonsending) () async throws -> Value,
    shouldRetry: (any Error) -> Bool
) async throws -> Value where C.Duration == Duration {
    try await retry(
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
