// The cancellable handles that callback APIs of Foundation return: `withCancellableContinuation` accepts them.

extension Progress: Cancellable {}

/// On Linux, Foundation cancels by a `sync` to the session's own work queue: a task must not be cancelled there.
extension URLSessionTask: Cancellable {}

/// Work that has begun continues when it is cancelled: it has to check `isCancelled` itself. Work that never begins
/// never calls back; its continuation is dropped with its block.
extension DispatchWorkItem: Cancellable {}
