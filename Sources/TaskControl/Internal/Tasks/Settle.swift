/// Passes an error that an unstructured task's work threw to the task's handler, or to diagnostics.
///
/// A cancellation has one error: a cancelled task fails with the error of the API that it was waiting for, such as `URLError.cancelled`.
/// Such an error must not cause an alert, so in a cancelled task no handler is called, and only observers receive another error than
/// `CancellationError`. A `CancellationError` that comes without a cancellation is an error like others.
///
/// - Parameters:
///   - isCancelled: Whether the work was cancelled.
///   - handler: Called from inside the task; returns whether it has received the error.
/// - Returns: The receiver of the error.
@discardableResult
package nonisolated(nonsending) func settle(
    _ error: any Error,
    in origin: TaskOrigin,
    isCancelled: Bool = Task.isCancelled,
    handler: (() async -> Bool)?
) async -> Settlement {
    if origin.isForOwner {
        Diagnostics.emit(isInside: true, TaskEvent(origin.primitive, .workFailed, error: error, detail: origin.name))
    }
    if !Task.isCancelled, let handler, await handler() { return .received }
    if !isCancelled, !Task.isCancelled {
        origin.reportUnhandled(error)
        return .unhandled
    }
    if !(error is CancellationError) {
        // Nearly always the error of an API that was cancelled, so it is no mistake.
        Diagnostics.emit(
            isInside: true,
            TaskEvent(origin.primitive, .errorAfterCancellation, error: error, detail: origin.name)
        )
    }
    return .partOfCancellation
}

/// The receiver of an error.
package enum Settlement {
    /// Its handler has received it.
    case received
    /// No handler has received it: it is reported.
    case unhandled
    /// The task was cancelled.
    case partOfCancellation
}
