extension Task where Failure == Never {
    /// Awaits the task's value, and cancels the task if its caller is cancelled.
    ///
    /// Beside a property of this name in another module, such as that of swift-concurrency-extras, the other one is used.
    ///
    /// ```swift
    /// .task { await model.load().cancellableValue }     // the view goes, and the load with it
    /// ```
    ///
    /// ## Cancellation
    /// The task is cancelled soon after the caller, on another thread. The caller still waits for the task to end, which a task that respects
    /// its cancellation does soon. `value`, by contrast, does not cancel the task.
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

extension Task where Failure == any Error {
    /// Awaits the task's value, and cancels the task if its caller is cancelled.
    ///
    /// ## Cancellation
    /// The task is cancelled soon after the caller, on another thread. The caller still waits for the task to end, and receives its result: a
    /// value, if the task returns one in spite of its cancellation. `value`, by contrast, does not cancel the task.
    ///
    /// - Throws: The error of the task; `CancellationError` if the caller is cancelled, regardless of the error of the task.
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
