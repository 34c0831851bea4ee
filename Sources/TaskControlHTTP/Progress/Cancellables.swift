// What callback APIs of Foundation give back: `withCancellableContinuation` takes it as it is.

extension Progress: Cancellable {}

extension URLSessionTask: Cancellable {}

/// Work that has begun goes on when it is cancelled: it has to look at `isCancelled` itself. Work that never begins never calls back; its
/// continuation is dropped with its block.
extension DispatchWorkItem: Cancellable {}
