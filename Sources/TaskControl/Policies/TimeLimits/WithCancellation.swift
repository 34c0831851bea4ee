/// Runs an operation, and cancels it with a cause if a signal comes before the operation has ended. The operation has
/// always ended when this function returns.
///
/// Works like ``withTimeout(_:clock:operation:)`` with a signal in place of the clock: for limits that are not a time,
/// such as the loss of a lease.
///
/// ## Cancellation
/// A caller that is cancelled cancels the operation, and waits for its end.
///
/// - Parameters:
///   - cause: The cause of the cancellation if the signal comes. If the caller is cancelled, the operation has the
///     cause of the caller's cancellation.
///   - signal: Waits for the reason to cancel the operation, in a child task, which is cancelled when the operation has
///     ended. Returns `true` if the operation must be cancelled with the cause. Must return `false` only if the wait
///     was cancelled: the operation is cancelled then too, without the cause.
///   - operation: Runs in the caller's isolation, in a child task that has the caller's task name. Does not begin if
///     the caller is cancelled: the result is then a `CancellationError`.
/// - Returns: The result of the operation, whether or not it was cancelled.
package nonisolated(nonsending) func withCancellation<Value>(
    because cause: CancellationCause,
    when signal: @Sendable () async -> Bool,
    operation: nonisolated(nonsending) () async throws -> Value
) async -> Result<Value, any Error> {
    // The operation is used only while its caller waits, and only here: see `borrowing(_:)`.
    await borrowing(LentSignalRun<Value, CancellationCause>(run: _TimeLimit.run)).run(cause, signal, operation)
}

extension _TimeLimit {
    nonisolated(nonsending) static func run<Value>(
        _ cause: CancellationCause,
        _ signal: @Sendable () async -> Bool,
        _ operation: nonisolated(nonsending) @Sendable () async throws -> Value
    ) async -> Result<Value, any Error> {
        await withoutActuallyEscaping(operation) { operation in
            await withoutActuallyEscaping(signal) { signal in
                let race = Race(operation)
                let (isolation, name) = (#isolation, callersName)
                await withTaskGroup(of: Void.self) { group in
                    group.addTask(name: name) { await race.run(isolation: isolation) }
                    group.addTask {
                        if await signal() { race.phase.expire(cause) } else { race.phase.cancel() }
                    }
                    await group.next()
                    if race.phase.hasEnded { group.cancelAll() }
                }
                guard let result = race.result else { preconditionFailure("The operation has ended.") }
                return result
            }
        }
    }
}
