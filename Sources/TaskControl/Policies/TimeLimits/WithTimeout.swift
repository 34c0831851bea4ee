/// Runs an operation with a time limit, as structured work: the operation has always ended when the call returns.
///
/// ```swift
/// let page = try await withTimeout(.seconds(10)) {
///     try await fetch(url)
/// }
/// ```
///
/// At the limit the operation is cancelled, and awaited. If the operation ignores its cancellation, the call waits
/// longer than the limit. ``withDetachedTimeout(_:name:clock:operation:)`` does not wait: it throws at the limit.
///
/// Limits can be nested: the limit that is over first cancels the work inside it, and its ``TimeoutError`` is thrown by
/// the call that set it.
///
/// ## Cancellation
/// If the caller is cancelled, the call cancels the operation, waits for its end, and throws `CancellationError`,
/// unless the operation returns a value before the limit. The operation of a caller that was cancelled before the call
/// does not begin.
///
/// ## Ordering
/// The clock decides, which is read once when the operation ends (20 to 30 ns for a `ContinuousClock`): a value or an
/// error before the limit counts, even if the limit has passed when the caller receives it; a value or an error at the
/// limit or after it does not count, even if no thread was free to cancel the operation at the limit. In a cancelled
/// caller, an error in time does not count either: the call throws `CancellationError`.
///
/// - Parameters:
///   - duration: The time limit, measured from the call. With zero or less, such as the remaining time of a deadline
///     that has passed, the operation does not begin and ``TimeoutError`` is thrown. A limit of more than 100 years
///     counts as 100 years.
///   - clock: Measures the time.
///   - operation: Runs in the caller's isolation, in a child task that has the caller's task name.
/// - Returns: The value of the operation.
/// - Throws: `CancellationError` if the caller is cancelled and no value is returned; otherwise ``TimeoutError`` at the
///   limit; the error of the operation, if the operation throws before the limit; the error of the clock, if the clock
///   cannot sleep: the operation is then cancelled and awaited, as at the limit.
@export(implementation)
public nonisolated(nonsending) func withTimeout<Value, C: Clock>(
    _ duration: Duration,
    clock: C = ContinuousClock(),
    operation: nonisolated(nonsending) () async throws -> Value
) async throws -> Value where C.Duration == Duration {
    // The operation is used only while its caller waits, and only here: see `borrowing(_:)`.
    try await borrowing(_LentRun<Value>(run: _TimeLimit.run)).run(duration, Stopwatch(clock), nil, operation)
}
