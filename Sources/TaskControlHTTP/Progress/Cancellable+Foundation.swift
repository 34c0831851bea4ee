// The cancellable handles that callback APIs of Foundation return: `withCancellableContinuation` accepts them.

extension Progress: Cancellable {}

/// On Linux, Foundation cancels by a `sync` to the session's own work queue: a task is not to be cancelled there.
extension URLSessionTask: Cancellable {}

/// Work that has begun goes on when it is cancelled: it has to look at `isCancelled` itself. Work that never begins
/// never calls back; its continuation is dropped with its block.
extension DispatchWorkItem: Cancellable {}
