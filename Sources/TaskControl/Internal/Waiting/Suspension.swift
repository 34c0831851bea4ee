// All waits of this library use these functions, which store a continuation, stop waiting if the task is cancelled, and
// report the priority of the task. Each form is inlined, because each function in which a task waits needs a stack
// frame, and the frames must fit into the memory that the runtime allocates for each task. The operations of
// cancellation handlers capture the isolation: otherwise they would leave the caller's actor before they wait, which
// costs one job to leave it and one to return.

/// Suspends the caller until its continuation is resumed with an outcome.
///
/// - Parameter park: Stores the continuation and returns `nil`, or returns the outcome with which the caller must be
///   resumed at once.
@export(implementation)
@inline(__always)
package nonisolated(nonsending) func suspend<Outcome: Sendable>(
    parking park: (UnsafeContinuation<Outcome, Never>) -> Outcome?
) async -> Outcome {
    await withUnsafeContinuation { waiter in
        if let outcome = park(waiter) { waiter.resume(returning: outcome) }
    }
}

/// Suspends the caller until its continuation is resumed with an outcome. If the caller is cancelled, `leave` is
/// called, which may resume the continuation.
///
/// - Parameters:
///   - isolation: The actor that the caller is isolated to, on which `park` runs; `nil` if there is none.
///   - park: Stores the continuation and returns `nil`, or returns the outcome with which the caller must be resumed at
///     once.
///   - leave: Called by the cancellation handler, in which it may resume the caller but no other task. Can be called
///     before `park`, and more than once.
@export(implementation)
@inline(__always)
package func suspend<Outcome: Sendable>(
    isolation: isolated (any Actor)? = #isolation,
    parking park: (UnsafeContinuation<Outcome, Never>) -> Outcome?,
    onCancel leave: @Sendable () -> Void
) async -> Outcome {
    await withTaskCancellationHandler {
        _ = isolation
        return await suspend(parking: park)
    } onCancel: {
        leave()
    }
}

/// Suspends the caller until its continuation is resumed with an outcome, and passes the priority of the caller to
/// `raise` meanwhile.
///
/// - Parameters:
///   - park: Stores the continuation and returns `nil`, or returns the outcome with which the caller must be resumed at
///     once.
///   - raise: Receives the priority of the caller, at the start and whenever it rises: see `raising(_:with:)`.
@export(implementation)
@inline(__always)
package nonisolated(nonsending) func suspend<Outcome: Sendable>(
    parking park: (UnsafeContinuation<Outcome, Never>) -> Outcome?,
    raising raise: @escaping @Sendable (TaskPriority) -> Void
) async -> Outcome {
    await raising({ await suspend(parking: park) }, with: raise)
}

/// Suspends the caller until its continuation is resumed with an outcome, and passes the priority of the caller to
/// `raise` meanwhile. If the caller is cancelled, `leave` is called, which may resume the continuation.
///
/// - Parameters:
///   - isolation: The actor that the caller is isolated to, on which `park` runs; `nil` if there is none.
///   - park: Stores the continuation and returns `nil`, or returns the outcome with which the caller must be resumed at
///     once.
///   - leave: Called by the cancellation handler, in which it may resume the caller but no other task. Can be called
///     before `park`, and more than once.
///   - raise: Receives the priority of the caller, at the start and whenever it rises: see `raising(_:with:)`.
@export(implementation)
@inline(__always)
package func suspend<Outcome: Sendable>(
    isolation: isolated (any Actor)? = #isolation,
    parking park: (UnsafeContinuation<Outcome, Never>) -> Outcome?,
    onCancel leave: @Sendable () -> Void,
    raising raise: @escaping @Sendable (TaskPriority) -> Void
) async -> Outcome {
    await withTaskCancellationHandler {
        _ = isolation
        return await suspend(parking: park, raising: raise)
    } onCancel: {
        leave()
    }
}
