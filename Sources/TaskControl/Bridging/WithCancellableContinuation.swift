/// Calls a callback API that can be cancelled, and waits for its callback.
///
/// ```swift
/// let image = try await withCancellableContinuation { continuation in
///     let request = loader.load(url) { result in continuation.resume(with: result) }
///     return { request.cancel() }
/// }
/// ```
///
/// By hand that takes a continuation, a cancellation handler, and a box with a lock for the request; and still a cancellation that comes
/// while `load` runs finds the box empty, and is lost.
///
/// A callback may come from any thread, and while `body` runs. Only the first counts: what a second one brings is ignored, and reported to
/// diagnostics. An API that lets go of its callback without calling it does not hang the caller, who gets ``ContinuationDroppedError``.
/// While the handle keeps the callback, as a request keeps its completion handler, it has not let go of it.
///
/// Siblings: `withCheckedThrowingContinuation` is for what can't be cancelled. `Task.cancellableValue` awaits a task, and cancels it.
///
/// ## Cancellation
/// A caller that is cancelled beforehand calls nothing. Later the handle is cancelled, once at most, by the thread that cancels the caller; if
/// that was while `body` ran, then as soon as it has returned. It runs inside the cancellation handler of the caller's task: it must not wait
/// for another task, nor resume or cancel a task that awaits or cancels the caller, or is its parent; do that in a `Task { }`. The caller then leaves at once, or waits for the callback:
/// see ``CancelledContinuationBehavior``. In a tie between a callback and a cancellation the first to come wins: a value stays a value.
///
/// ## Ordering
/// The handle is let go before the caller goes on. One that is returned when the callback has come is only let go.
///
/// - Parameters:
///   - type: The type of the value, where it can't be inferred.
///   - behavior: What the caller does when it is cancelled.
///   - fileID: Stands in the reports.
///   - line: Stands in the reports.
///   - body: Calls the API, and returns what cancels it. Runs in the caller's task and isolation, so that it may use an actor's state, and
///     does not escape. What it returns is called from any thread, and never under a lock.
/// - Returns: What the continuation was resumed with.
/// - Throws: What the continuation was resumed with, or what `body` throws; if the caller is cancelled, `CancellationError` in its place. A
///   `CancellationError` of the API's own, without a cancellation, is an error like others. ``ContinuationDroppedError``.
/// - Complexity: O(1).
@inlinable
public nonisolated(nonsending) func withCancellableContinuation<Value>(
    of type: Value.Type = Value.self,
    whenCancelled behavior: CancelledContinuationBehavior = .throwImmediately,
    fileID: StaticString = #fileID,
    line: Int = #line,
    _ body: (CancellableContinuation<Value>) throws -> @Sendable () -> Void
) async throws -> sending Value {
    // Work of a cancelled caller does not begin.
    try Task.checkCancellation()
    let place = _BridgePlace(fileID: fileID, line: line)
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

/// Calls a callback API that gives back what can be cancelled, and waits for its callback.
///
/// ```swift
/// let image = try await withCancellableContinuation { continuation in
///     loader.load(url) { result in continuation.resume(with: result) }      // returns its request, which is `Cancellable`
/// }
/// ```
///
/// All else is as for `withCancellableContinuation` with a closure as its handle, cancellation and order included.
///
/// - Parameters:
///   - type: The type of the value, where it can't be inferred.
///   - behavior: What the caller does when it is cancelled.
///   - fileID: Stands in the reports.
///   - line: Stands in the reports.
///   - body: Calls the API, and returns what cancels it. That need not be Sendable, if `body` keeps no part of it.
/// - Returns: What the continuation was resumed with.
/// - Throws: What the continuation was resumed with, or what `body` throws; if the caller is cancelled, `CancellationError` in its place.
///   ``ContinuationDroppedError``.
/// - Complexity: O(1).
@inlinable
public nonisolated(nonsending) func withCancellableContinuation<Value, Handle: Cancellable>(
    of type: Value.Type = Value.self,
    whenCancelled behavior: CancelledContinuationBehavior = .throwImmediately,
    fileID: StaticString = #fileID,
    line: Int = #line,
    _ body: (CancellableContinuation<Value>) throws -> sending Handle
) async throws -> sending Value {
    try await withCancellableContinuation(of: type, whenCancelled: behavior, fileID: fileID, line: line) {
        continuation in
        // It was sent here, and is used once more, by whoever cancels.
        nonisolated(unsafe) let handle = try body(continuation)
        return { handle.cancel() }
    }
}
