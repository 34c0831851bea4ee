/// A closure that receives the errors of a task.
struct ErrorHandler: ErrorHandling {
    let onError: @isolated(any) @Sendable (any Error) async -> Void

    nonisolated(nonsending) func handle(_ error: any Error) async -> Bool {
        await Self.hand(error, to: onError, isolation: onError.isolation)
    }

    /// Checks for cancellation in the isolation of the handler: a cancellation that comes there before the handler counts.
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
