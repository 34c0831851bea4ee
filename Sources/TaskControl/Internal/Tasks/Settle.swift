/// Passes an error that the work of an unstructured task threw to the handler of the task, or reports it to
/// diagnostics.
///
/// A cancelled task often fails with an error of the API that it called, such as `URLError.cancelled`, which must not cause an alert. So no handler
/// is called in a cancelled task, and an error other than an interruption is only emitted as an event. An interruption of a task that was
/// not cancelled is treated like any other error.
///
/// - Parameters:
///   - error: The error.
///   - origin: The call that started the task, for diagnostics.
///   - isCancelled: Whether the work was cancelled, even if the current task was not. If so, the error is not reported
///     as unhandled.
///   - handler: Called in the task; returns `received`, `ownerReleased` or `unhandled`. `nil` if the task has no handler.
/// - Returns: The receiver of the error, or the reason why it has none.
@discardableResult
@inline(never)
package nonisolated(nonsending) func settle(
    _ error: any Error,
    in origin: TaskOrigin,
    isCancelled: Bool = Task.isCancelled,
    handler: (() async -> Settlement)?
) async -> Settlement {
    if origin.isForOwner {
        Diagnostics.emit(isInside: true, TaskEvent(origin.primitive, .workFailed, error: error, detail: origin.name))
    }
    if !Task.isCancelled, let handler, case let settlement = await handler(), settlement != .unhandled {
        return settlement
    }
    if !isCancelled, !Task.isCancelled {
        origin.reportUnhandled(error)
        return .unhandled
    }
    if !isInterruption(error) {
        // Nearly always the error of an API that was cancelled, so it is not reported as a mistake.
        Diagnostics.emit(
            isInside: true,
            TaskEvent(origin.primitive, .errorAfterCancellation, error: error, detail: origin.name)
        )
    }
    return .partOfCancellation
}

/// Passes an error that the work of an unstructured task threw to the `onError` closure of the task, unless the task is
/// cancelled. Without a closure, reports the error to diagnostics.
@inline(never)
nonisolated(nonsending) func settle(
    _ error: any Error,
    in origin: TaskOrigin,
    _ onError: (@isolated(any) @Sendable (any Error) async -> Void)?
) async {
    await settle(error, in: origin) {
        guard let onError else { return .unhandled }
        return await hand(error, to: onError, isolation: onError.isolation) ? .received : .unhandled
    }
}

/// Calls a closure with an error, unless the task is cancelled. Checks for cancellation in the isolation of the
/// closure, so a cancellation by code in that isolation is never missed.
///
/// - Parameters:
///   - onError: The closure.
///   - isolation: The actor that the closure is isolated to; `nil` if there is none.
/// - Returns: Whether the closure was called.
private func hand(
    _ error: any Error,
    to onError: @isolated(any) @Sendable (any Error) async -> Void,
    isolation: isolated (any Actor)?
) async -> Bool {
    guard !Task.isCancelled else { return false }
    await onError(error)
    return true
}

/// The receiver of an error that the work of an unstructured task threw, or the reason why no handler received it.
package enum Settlement {
    /// The handler of the task has received the error.
    case received
    /// No handler has received the error, so it was reported to diagnostics.
    case unhandled
    /// The task was cancelled, so the error was not passed to a handler.
    case partOfCancellation
    /// The object to which the handler passes errors was deallocated: the error is not reported.
    case ownerReleased
}

/// An error that is caused by a mistake in the program, so that a retry cannot succeed.
package protocol ProgrammingMistake: Error {}
