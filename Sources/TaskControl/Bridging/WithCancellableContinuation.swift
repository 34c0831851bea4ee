/// Calls a callback API that can be cancelled, and waits for its callback.
///
/// ```swift
/// let image = try await withCancellableContinuation { continuation in
///     let request = loader.load(url) { result in continuation.resume(with: result) }
///     return { request.cancel() }
/// }
/// ```
///
/// Without this function, the code needs a continuation, a cancellation handler, and a locked variable for the request. It must also handle a
/// cancellation that comes while `load` runs, before the request is stored.
///
/// A callback may come from any thread, and while `body` runs. Its result counts, unless the caller was cancelled and
/// has stopped waiting. A second callback is ignored, and reported to diagnostics, unless the API calls back repeatedly by
/// design, such as a handler of state changes:
///
/// ```swift
/// try await withCancellableContinuation(reportsRepeatedCallbacks: false) { continuation in
///     connection.start { state in
///         if state == .ready { continuation.resume() }
///     }
///     return { connection.cancel() }
/// }
/// ```
///
/// If the API releases its callback without calling it, the caller throws ``ContinuationDroppedError`` instead of
/// waiting forever. Such a release cannot happen while the handle (the closure that `body` returns) retains the
/// callback, for example through a request that retains its completion handler: the caller then waits until it is
/// cancelled.
///
/// Related APIs: `withCheckedThrowingContinuation` is for work that can't be cancelled. `Task.cancellableValue` awaits
/// a task, and cancels the task if the caller is cancelled.
///
/// ## Cancellation
/// A caller that was cancelled before the call throws `CancellationError` without calling the API. If the caller is
/// cancelled while it waits, the handle is called, once, on the thread that cancels the caller. If the caller is
/// cancelled while `body` runs, the handle is called as soon as `body` has returned, unless the callback has come by
/// then. The caller then throws immediately, or waits for the callback: see ``CancelledContinuationBehavior``. If the
/// callback has come before the cancellation, the handle is not called, and a value that the callback has passed is
/// returned.
///
/// The handle runs inside the cancellation handler of the caller's task. It must not wait for another task. It must not
/// resume or cancel the parent of the caller, or a task that awaits or cancels the caller; do that in a `Task { }`.
///
/// ## Ordering
/// The handle is released before the caller continues. If the callback has come before `body` returns the handle, the
/// handle is not called. If the callback has come, and `body` then throws, the result of the callback counts, and the
/// error of `body` is reported to diagnostics.
///
/// - Parameters:
///   - type: The type of the value, where it can't be inferred.
///   - behavior: The rule for a caller that is cancelled while it waits.
///   - reportsRepeatedCallbacks: Whether a callback after the first one is reported as a mistake. If not, it is an event for
///     observers only, such as a callback after a cancellation. It is ignored in both cases.
///   - fileID: The file of the call, shown in diagnostics and errors.
///   - line: The line of the call, shown in diagnostics and errors.
///   - body: Calls the API, and returns the handle, a closure that cancels the call. Runs in the caller's task and
///     isolation, so that it may use an actor's state, and does not escape. The handle that it returns is called from
///     any thread, and never while a lock of this library is held.
/// - Returns: The value that the continuation was resumed with.
/// - Throws: The error that the continuation was resumed with, or that `body` throws. ``ContinuationDroppedError`` if
///   the API releases its callback without calling it. `CancellationError` if the caller is cancelled, in place of
///   these errors. A `CancellationError` that the API passes although the caller was not cancelled is thrown like any
///   other error.
/// - Complexity: O(1).
@export(implementation)
public nonisolated(nonsending) func withCancellableContinuation<Value>(
    of type: Value.Type = Value.self,
    whenCancelled behavior: CancelledContinuationBehavior = .throwImmediately,
    reportsRepeatedCallbacks: Bool = true,
    fileID: StaticString = #fileID,
    line: Int = #line,
    _ body: (CancellableContinuation<Value>) throws -> @Sendable () -> Void
) async throws -> sending Value {
    // Work of a cancelled caller does not begin.
    try Task.checkCancellation()
    let place = _BridgePlace(fileID: fileID, line: line, reportsRepetition: reportsRepeatedCallbacks)
    let bridge = _Bridge(place)
    // In an expression of its own: what waits below keeps neither the continuation nor the handle.
    let early: _BridgeToken?
    do {
        early = bridge.begin(try body(CancellableContinuation(_TypedBridgeToken(bridge, place))))
    } catch {
        early = try bridge.fail(error)
    }
    let token = if let early { early } else { try await bridge.wait(whenCancelled: behavior, place) }
    return try unsafeDowncast(token, to: _TypedBridgeToken<Value>.self).take()
}

/// Calls a callback API that returns a cancellable handle, and waits for its callback.
///
/// ```swift
/// let image = try await withCancellableContinuation { continuation in
///     loader.load(url) { result in continuation.resume(with: result) }      // returns its request, which is `Cancellable`
/// }
/// ```
///
/// Cancellation and ordering are the same as for the overload whose `body` returns a closure: where that closure is
/// called, `cancel()` of the handle is called.
///
/// - Parameters:
///   - type: The type of the value, where it can't be inferred.
///   - behavior: The rule for a caller that is cancelled while it waits.
///   - reportsRepeatedCallbacks: Whether a callback after the first one is reported as a mistake. If not, it is an event for
///     observers only, such as a callback after a cancellation. It is ignored in both cases.
///   - fileID: The file of the call, shown in diagnostics and errors.
///   - line: The line of the call, shown in diagnostics and errors.
///   - body: Calls the API, and returns the handle that cancels it. The handle need not be Sendable, but `body` must
///     not keep it elsewhere if it isn't.
/// - Returns: The value that the continuation was resumed with.
/// - Throws: The error that the continuation was resumed with, or that `body` throws. ``ContinuationDroppedError`` if
///   the API releases its callback without calling it. `CancellationError` if the caller is cancelled, in place of
///   these errors.
/// - Complexity: O(1).
@export(implementation)
public nonisolated(nonsending) func withCancellableContinuation<Value, Handle: Cancellable>(
    of type: Value.Type = Value.self,
    whenCancelled behavior: CancelledContinuationBehavior = .throwImmediately,
    reportsRepeatedCallbacks: Bool = true,
    fileID: StaticString = #fileID,
    line: Int = #line,
    _ body: (CancellableContinuation<Value>) throws -> sending Handle
) async throws -> sending Value {
    try await withCancellableContinuation(
        of: type,
        whenCancelled: behavior,
        reportsRepeatedCallbacks: reportsRepeatedCallbacks,
        fileID: fileID,
        line: line
    ) { continuation in
        // The handle was sent here, and is used only once more, by the thread that cancels.
        nonisolated(unsafe) let handle = try body(continuation)
        return { handle.cancel() }
    }
}
