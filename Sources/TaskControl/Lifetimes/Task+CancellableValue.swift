extension Task where Failure == Never {
    /// The task's value. Cancelling the caller that awaits this value also cancels the task.
    ///
    /// If another imported module, such as swift-concurrency-extras, has a property with this name, the compiler
    /// chooses that property.
    ///
    /// ```swift
    /// .task { await model.load().cancellableValue }     // the load is cancelled when the view disappears
    /// ```
    ///
    /// ## Cancellation
    /// The task is cancelled soon after the caller, on another thread. The caller still waits for the task to end, so
    /// it continues soon only if the task responds to its cancellation. `value`, by contrast, does not cancel the task.
    @_disfavoredOverload
    public var cancellableValue: Success {
        get async {
            await withTaskCancellationHandler {
                await value
            } onCancel: {
                performOutsideHandler { cancel() }
            }
        }
    }
}

extension Task {
    /// The task's value. Cancelling the caller that awaits this value also cancels the task.
    ///
    /// ## Cancellation
    /// The task is cancelled soon after the caller, on another thread. The caller still waits for the task to end, and
    /// receives its value if the task returns one in spite of its cancellation. `value`, by contrast, does not cancel
    /// the task.
    ///
    /// - Throws: The error that the task throws. If the caller was cancelled, `CancellationError` is thrown in place of
    ///   that error.
    @_disfavoredOverload
    public var cancellableValue: Success {
        get async throws {
            do {
                return try await withTaskCancellationHandler {
                    try await value
                } onCancel: {
                    performOutsideHandler { cancel() }
                }
            } catch {
                // A cancelled caller receives CancellationError, whatever was thrown.
                try Task<Never, Never>.checkCancellation()
                throw error
            }
        }
    }
}
