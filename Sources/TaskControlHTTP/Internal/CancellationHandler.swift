/// `withTaskCancellationHandler`, with an operation that runs in the caller's isolation. The standard library's own (Swift 6.3) takes one
/// that leaves it, and whatever the caller's closures touch with it.
///
/// - Parameter onCancel: Called soon after the cancellation, outside the runtime's handler: it may resume another task than the caller.
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
