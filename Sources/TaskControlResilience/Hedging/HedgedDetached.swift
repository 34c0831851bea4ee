public import TaskControl

/// Calls an operation, calls it again if the first attempt has not ended after a given time, and returns at the first
/// success, even if other attempts have not ended.
///
/// This function does the same as
/// ``hedged(after:maxHedges:budget:clock:operation:shouldHedge:)-(_,_,_,_,(Int)->Value,_)``, but does not wait for the
/// end of cancelled attempts. It is for operations that do not end soon when they are cancelled.
///
/// ```swift
/// let answer = try await hedgedDetached(after: .fixed(.seconds(1)), budget: budget, name: "legacy lookup") { _ in
///     await legacy.lookup(name)        // blocks, polls, never looks at Task.isCancelled
/// }
/// ```
///
/// Each attempt runs in a task of its own. When one attempt has succeeded, or an error ends the call, the tasks of the
/// other attempts are cancelled and abandoned, that is, no longer awaited: a task that ignores its cancellation
/// continues to run, and to hold its resources. When an abandoned attempt ends, its end is reported to diagnostics,
/// with the name of its task and its error. If an operation ends soon when it is cancelled, prefer `hedged`, which
/// returns when all attempts have ended.
///
/// ## Cancellation
/// If the caller was cancelled before the call, no attempt begins. A caller that is cancelled receives
/// `CancellationError` at once; all attempts are cancelled and abandoned.
///
/// - Parameters:
///   - delay: The time after which another attempt begins if there is no result yet, counted from the beginning of the
///     previous attempt.
///   - maxHedges: The largest number of attempts after the first. Less than 1 counts as 0. By default 1, as in
///     failsafe-go.
///   - budget: Pays for the attempts after the first. Each call of this function that succeeds gives 1 token back to
///     the budget, regardless of its number of attempts.
///   - name: The name of the tasks of the attempts, shown in diagnostics. `nil`: the name of the caller's task.
///   - clock: Measures the time.
///   - operation: Receives the number of the attempt, counted from 1. Runs in a task of its own per attempt, not in the
///     caller's isolation.
///   - shouldHedge: Returns whether another attempt can succeed after an error of an attempt. If `true`, another
///     attempt begins at once, or after the delay that the error requests (`RetryAfterProviding`), as far as
///     `maxHedges` and `budget` allow it. If `false`, the error ends the call, and the other attempts are cancelled. By
///     default `RetryPolicy.isWorthRetrying(_:)`.
/// - Returns: The value of the first attempt that succeeds.
/// - Throws: `CancellationError` if the caller is cancelled. Otherwise the error for which `shouldHedge` returned
///   `false`, or, if there was none, the error of the attempt that failed last. The error of the clock, if its `sleep`
///   fails while no attempt runs.
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
