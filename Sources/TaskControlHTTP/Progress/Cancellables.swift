// What callback APIs of Foundation give back: `withCancellableContinuation` takes it as it is.

extension Progress: Cancellable {}

/// On Linux, Foundation cancels by a `sync` to the session's own work queue: a task is not to be cancelled there.
extension URLSessionTask: Cancellable {}

/// Work that has begun goes on when it is cancelled: it has to look at `isCancelled` itself. Work that never begins never calls back; its
/// continuation is dropped with its block.
extension DispatchWorkItem: Cancellable {}
