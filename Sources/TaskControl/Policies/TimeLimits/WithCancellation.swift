/// Runs an operation that other code can cancel with a cause before the operation has ended. The operation has always ended
/// when this function returns.
///
/// Works like ``withTimeout(_:clock:operation:)`` with a call in place of the clock: for limits that are not a time, such as
/// the loss of a lease.
///
/// ## Cancellation
/// A caller that is cancelled cancels the operation, and waits for its end.
///
/// - Parameters:
///   - register: Receives, before the operation begins, a closure that cancels the operation with a cause. It can be
///     called from any task, also in `register` and after the operation has ended. When it returns, the operation is
///     cancelled, or does not begin: the result is then a `CancellationError`. If the caller is cancelled, the operation has
///     the cause of the caller's cancellation.
///   - operation: Runs in the caller's isolation, in a child task that has the caller's task name. Does not begin if
///     the caller is cancelled: the result is then a `CancellationError`.
/// - Returns: The result of the operation, whether or not it was cancelled.
package nonisolated(nonsending) func withCancellation<Value>(
    by register: @escaping @Sendable (_ cancel: @escaping @Sendable (CancellationCause) -> Void) -> Void,
    operation: nonisolated(nonsending) () async throws -> Value
) async -> Result<Value, any Error> {
    // The operation is used only while its caller waits, and only here: see `borrowing(_:)`.
    await borrowing(LentResultRun<_CancelRegistration, Value>(run: _TimeLimit.run)).run(register, operation)
}

/// Runs an operation with a time limit, which other code can also cancel with a cause: ``withTimeout(_:clock:operation:)``
/// and `withCancellation(by:operation:)` with one child task for the operation.
///
/// - Throws: The errors of ``withTimeout(_:clock:operation:)``; the cause if other code has cancelled the operation.
package nonisolated(nonsending) func withTimeout<Value, C: Clock>(
    _ duration: Duration,
    clock: C,
    cancelledBy register: @escaping @Sendable (_ cancel: @escaping @Sendable (CancellationCause) -> Void) -> Void,
    operation: nonisolated(nonsending) () async throws -> Value
) async throws -> Value where C.Duration == Duration {
    // The operation is used only while its caller waits, and only here: see `borrowing(_:)`.
    try await borrowing(_LentRun<Value>(run: _TimeLimit.run)).run(duration, Stopwatch(clock), register, operation)
}

extension _TimeLimit {
    nonisolated(nonsending) static func run<Value>(
        _ register: @escaping _CancelRegistration,
        _ operation: nonisolated(nonsending) @Sendable () async throws -> Value
    ) async -> Result<Value, any Error> {
        await withoutActuallyEscaping(operation) { operation in
            let race = Race(operation)
            let (isolation, name) = (#isolation, callersName)
            register(race.phase.expire)
            await withTaskGroup(of: Void.self) { group in
                group.addTask(name: name) { await race.run(isolation: isolation) }
                await group.next()
            }
            guard let result = race.result else { preconditionFailure("The operation has ended.") }
            return result
        }
    }
}
