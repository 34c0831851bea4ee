/// The `onError` closure of a task, which receives the error that the operation of the task throws.
struct ErrorHandler: ErrorHandling {
    let onError: @isolated(any) @Sendable (any Error) async -> Void

    nonisolated(nonsending) func handle(_ error: any Error) async -> Bool {
        await Self.hand(error, to: onError, isolation: onError.isolation)
    }

    /// Calls a closure with an error, unless the task is cancelled. Checks for cancellation in the isolation of the
    /// closure, so a cancellation by code in that isolation is never missed.
    ///
    /// - Parameters:
    ///   - onError: The closure.
    ///   - isolation: The actor that the closure is isolated to; `nil` if there is none.
    /// - Returns: Whether the closure was called.
    private static func hand(
        _ error: any Error,
        to onError: @isolated(any) @Sendable (any Error) async -> Void,
        isolation: isolated (any Actor)?
    ) async -> Bool {
        guard !Task.isCancelled else { return false }
        await onError(error)
        return true
    }
}
