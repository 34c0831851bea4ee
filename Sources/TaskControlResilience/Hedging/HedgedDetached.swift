public import TaskControl

/// Calls an operation, calls it again if the first call has not ended after a given time, and returns at the first
/// success, even if other attempts have not ended.
///
/// This function is ``hedged(after:maxHedges:budget:clock:operation:shouldHedge:)-(_,_,_,_,(Int)->Value,_)`` for
/// operations that can ignore their cancellation.
///
/// ```swift
/// let answer = try await hedgedDetached(after: .fixed(.seconds(1)), budget: budget, name: "legacy lookup") { _ in
///     await legacy.lookup(name)        // blocks, polls, never looks at Task.isCancelled
/// }
/// ```
///
/// Each attempt runs in a task of its own. When the call is decided, the tasks of the other attempts are cancelled and
/// no longer awaited: they possibly continue to run and to hold their resources. When such an attempt ends, its end is
/// reported to diagnostics, with its name and its error. If an operation respects its cancellation, prefer `hedged`,
/// which returns when all attempts have ended.
///
/// ## Cancellation
/// If the caller was cancelled before the call, no attempt begins. A caller that is cancelled receives `CancellationError` at once; all attempts are
/// cancelled and abandoned.
///
/// - Parameters:
///   - delay: The time without a result after which another attempt begins, counted from the beginning of the previous
///     attempt.
///   - maxHedges: The largest number of attempts after the first. Less than 1 counts as 0. By default 1, as in
///     failsafe-go.
///   - budget: Pays for the attempts after the first. A call that succeeds returns 1 token, regardless of its number of attempts.
///   - name: The name of the tasks of the attempts in diagnostics. `nil` for that of the caller's task.
///   - clock: Measures the time.
///   - operation: Receives the number of the attempt, counted from 1. Runs in tasks of its own, in the isolation in which it is written.
///   - shouldHedge: Returns whether another attempt can succeed after an error. If not, the error ends the call. By default
///     `RetryPolicy.isWorthRetrying(_:)`.
/// - Returns: The value of the first attempt that succeeds.
/// - Throws: The error that ended the call, or the error of the attempt that failed last; `CancellationError` if the
///   caller is cancelled; the error of the clock, if its `sleep` fails while no attempt runs.
public nonisolated(nonsending) func hedgedDetached<Value: Sendable>(
    after delay: HedgeDelay,
    maxHedges: Int = 1,
    budget: RetryBudget,
    name: String? = nil,
    clock: some Clock<Duration> = ContinuousClock(),
    operation: @escaping @Sendable (_ attempt: Int) async throws -> Value,
    shouldHedge: @Sendable (any Error) -> Bool = RetryPolicy.isWorthRetrying
) async throws -> Value {
    try await hedged(
        after: delay,
        maxHedges: maxHedges,
        budget: budget,
        clock: clock,
        operation: { attempt in
            try await abandonable.run(name: name) { try await operation(attempt) }
        },
        shouldHedge: shouldHedge
    )
}

/// The attempts of all calls of `hedgedDetached`. An attempt can continue after its call has returned.
private let abandonable = AbandonableWork(TaskOrigin("hedgedDetached", .hedged))
