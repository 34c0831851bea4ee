// The one way to wait: a continuation that parks, leaves when its task is cancelled, and passes the priority of its task on. Each form is
// inlined: a task that waits must fit into the memory that every task has, and each function that it waits in is a frame of that. The closures of
// cancellation handlers capture the isolation: otherwise they leave the caller's actor before they wait, which takes a job there and one back.

/// Suspends the caller until its continuation is resumed with an outcome.
///
/// - Parameter park: Stores the continuation, or returns the outcome with which the caller must be resumed at once.
@inlinable
@inline(__always)
package nonisolated(nonsending) func suspend<Outcome: Sendable>(
    parking park: (UnsafeContinuation<Outcome, Never>) -> Outcome?
) async -> Outcome {
    await withUnsafeContinuation { waiter in
        if let outcome = park(waiter) { waiter.resume(returning: outcome) }
    }
}

/// Suspends the caller until its continuation is resumed with an outcome, also by its cancellation handler.
///
/// - Parameters:
///   - park: Stores the continuation, or returns the outcome with which the caller must be resumed at once.
///   - leave: Called by the cancellation handler, which may resume the caller and no other task. May be called before `park` is, and more than once.
@inlinable
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

/// Suspends the caller until its continuation is resumed with an outcome, and reports the priority of the caller meanwhile.
///
/// - Parameters:
///   - park: Stores the continuation, or returns the outcome with which the caller must be resumed at once.
///   - raise: Receives the priority of the caller, at the start and whenever it rises: see `raising(_:with:)`.
@inlinable
@inline(__always)
package nonisolated(nonsending) func suspend<Outcome: Sendable>(
    parking park: (UnsafeContinuation<Outcome, Never>) -> Outcome?,
    raising raise: @escaping @Sendable (TaskPriority) -> Void
) async -> Outcome {
    await raising({ await suspend(parking: park) }, with: raise)
}

/// Suspends the caller until its continuation is resumed with an outcome, also by its cancellation handler, and reports the priority of the caller
/// meanwhile.
///
/// - Parameters:
///   - park: Stores the continuation, or returns the outcome with which the caller must be resumed at once.
///   - leave: Called by the cancellation handler, which may resume the caller and no other task. May be called before `park` is, and more than once.
///   - raise: Receives the priority of the caller, at the start and whenever it rises: see `raising(_:with:)`.
@inlinable
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
