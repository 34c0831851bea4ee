/// Takes an error that an unstructured task's work threw to whoever is to know of it: its handler, or diagnostics.
///
/// A cancellation has one error: a cancelled task fails in the words of whatever it was waiting for, `URLError.cancelled` and the like.
/// Nobody wants an alert for that, so in a cancelled task no handler is called, and only observers hear of another error than
/// `CancellationError`. A `CancellationError` that comes without a cancellation is an error like others.
///
/// - Parameters:
///   - isCancelled: Whether the work was cancelled.
///   - handler: Called from inside the task; returns whether it has received the error.
/// - Returns: Where the error went.
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
        // Nearly always what a cancellation looks like from below, so it is no mistake.
        Diagnostics.emit(
            isInside: true,
            TaskEvent(origin.primitive, .errorAfterCancellation, error: error, detail: origin.name)
        )
    }
    return .partOfCancellation
}

/// Where an error went.
package enum Settlement {
    /// Its handler has received it.
    case received
    /// Nobody has received it: it is reported.
    case unhandled
    /// The task was cancelled.
    case partOfCancellation
}
