/// The handling of a task's errors; a type, so that tasks without a handler, which are most tasks, store none.
protocol ErrorHandling: Sendable {
    /// - Returns: Whether the error was received.
    nonisolated(nonsending) func handle(_ error: any Error) async -> Bool
}

/// For a task without a handler.
struct NoErrorHandling: ErrorHandling {
    nonisolated(nonsending) func handle(_ error: any Error) async -> Bool { false }
}
