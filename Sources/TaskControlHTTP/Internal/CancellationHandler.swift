/// Runs an operation in the caller's isolation, with a handler for the cancellation of the calling task. The standard
/// library's function runs its operation outside that isolation: see scripts/workarounds/cancellation-handler.swift.
///
/// If the task is cancelled already, `onCancel` is called, and the operation is not.
///
/// - Parameters:
///   - isolation: The isolation of the caller. Leave the default.
///   - operation: The operation. It is not called if the task is cancelled already.
///   - onCancel: Called soon after the cancellation, but not within the runtime's cancellation handler, so it can
///     safely resume tasks other than the calling task.
/// - Returns: The value of the operation.
/// - Throws: `CancellationError` if the task is cancelled before the operation is called; otherwise the error of the
///   operation.
func withCancellationHandler<Value>(
    isolation: isolated (any Actor)? = #isolation,
    operation: nonisolated(nonsending) () async throws -> Value,
    onCancel: @escaping @Sendable () -> Void
) async throws -> Value {
    try await withTaskCancellationHandler {
        // The capture of `isolation` isolates this closure to it.
        _ = isolation
        // `onCancel` is called some time later, even if the task is cancelled already, so the operation could begin
        // before.
        try Task.checkCancellation()
        return try await operation()
    } onCancel: {
        performOutsideHandler(onCancel)
    }
}
