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
///   - cause: The cause of the cancellation. If the caller is cancelled, the operation has the cause of the caller's
///     cancellation.
///   - register: Receives, before the operation begins, a closure that cancels the operation with the cause. It can be
///     called from any task, also in `register` and after the operation has ended. When it returns, the operation is
///     cancelled, or does not begin: the result is then a `CancellationError`.
///   - operation: Runs in the caller's isolation, in a child task that has the caller's task name. Does not begin if
///     the caller is cancelled: the result is then a `CancellationError`.
/// - Returns: The result of the operation, whether or not it was cancelled.
package nonisolated(nonsending) func withCancellation<Value>(
    because cause: CancellationCause,
    by register: @Sendable (_ cancel: @escaping @Sendable () -> Void) -> Void,
    operation: nonisolated(nonsending) () async throws -> Value
) async -> Result<Value, any Error> {
    // The operation is used only while its caller waits, and only here: see `borrowing(_:)`.
    await borrowing(LentCancellableRun<Value, CancellationCause>(run: _TimeLimit.run)).run(cause, register, operation)
}

extension _TimeLimit {
    nonisolated(nonsending) static func run<Value>(
        _ cause: CancellationCause,
        _ register: @Sendable (_ cancel: @escaping @Sendable () -> Void) -> Void,
        _ operation: nonisolated(nonsending) @Sendable () async throws -> Value
    ) async -> Result<Value, any Error> {
        await withoutActuallyEscaping(operation) { operation in
            let race = Race(operation)
            let (isolation, name, phase) = (#isolation, callersName, race.phase)
            register { phase.expire(cause) }
            await withTaskGroup(of: Void.self) { group in
                group.addTask(name: name) { await race.run(isolation: isolation) }
                await group.next()
            }
            guard let result = race.result else { preconditionFailure("The operation has ended.") }
            return result
        }
    }
}
