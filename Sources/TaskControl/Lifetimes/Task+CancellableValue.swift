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
    /// its cancellation does soon. `value`, by contrast, lets the task go on.
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
    /// The task is cancelled soon after the caller, on another thread. The caller still waits for the task to end, and gets what it ends with: a value, if it has one in spite of its cancellation.
    /// `value`, by contrast, lets the task go on.
    ///
    /// - Throws: What the task throws; `CancellationError` if the caller is cancelled, in whatever words the task failed.
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
