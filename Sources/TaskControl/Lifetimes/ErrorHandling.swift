/// How a task handles an error; a type, so that the tasks without a handler, which are most of them, store none.
protocol ErrorHandling: Sendable {
    /// - Returns: Whether the error was received.
    nonisolated(nonsending) func handle(_ error: any Error) async -> Bool
}

/// For a task without a handler.
struct NoErrorHandling: ErrorHandling {
    nonisolated(nonsending) func handle(_ error: any Error) async -> Bool { false }
}
