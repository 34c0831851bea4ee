/// Runs an operation in the caller's isolation, with a handler for the cancellation of the task. The standard library's `withTaskCancellationHandler`
/// (Swift 6.3) runs its operation outside that isolation.
///
/// - Parameters:
///   - operation: The operation.
///   - onCancel: Called soon after the cancellation, outside the runtime's handler, so that it may resume other tasks than the caller.
func withCancellationHandler<Value>(
    isolation: isolated (any Actor)? = #isolation,
    operation: nonisolated(nonsending) () async throws -> Value,
    onCancel: @escaping @Sendable () -> Void
) async throws -> Value {
    try await withTaskCancellationHandler {
        // Captured, it isolates this closure.
        _ = isolation
        // The handler acts a moment after a cancellation, also after one that came before.
        try Task.checkCancellation()
        return try await operation()
    } onCancel: {
        performOutsideHandler(onCancel)
    }
}
