/// The handling of an error that a task's operation throws. A protocol instead of an optional closure, so that tasks without a handler, which are
/// most tasks, store none.
protocol ErrorHandling: Sendable {
    /// Handles an error.
    ///
    /// - Returns: Whether a handler has received the error. If not, it is reported to diagnostics.
    nonisolated(nonsending) func handle(_ error: any Error) async -> Bool
}

/// The error handling of a task without an `onError` closure: no error is received.
struct NoErrorHandling: ErrorHandling {
    nonisolated(nonsending) func handle(_ error: any Error) async -> Bool { false }
}
