public import Dispatch
public import Foundation

// The cancellable handles that callback APIs of Foundation return: `withCancellableContinuation` accepts them.

extension Progress: Cancellable {}

/// Lets `withCancellableContinuation` cancel a task of a `URLSession`.
///
/// On Linux, do not call `cancel()` on the session's internal work queue, for example in a delegate method that
/// Foundation calls there: `cancel()` waits for that queue with `sync`, so it would wait for itself.
extension URLSessionTask: Cancellable {}

/// Lets `withCancellableContinuation` cancel a work item.
///
/// A work item that has begun continues when it is cancelled, unless it checks `isCancelled` itself. A work item that
/// never begins calls nothing back: the caller then receives `ContinuationDroppedError` when the item is released.
extension DispatchWorkItem: Cancellable {}
