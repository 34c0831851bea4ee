/// The behavior of `withCancellableContinuation` when its caller is cancelled while it waits. In both cases the call of
/// the API is cancelled too, with the handle that the closure passed to the function has returned.
@nonexhaustive
public enum CancelledContinuationBehavior: Hashable, Sendable {
    /// The caller throws `CancellationError` immediately. A callback that comes later is ignored.
    case throwImmediately

    /// The caller waits until the API has called back or has released its callback. Use it for an API that must have
    /// stopped before the caller continues, such as one that writes into a buffer of the caller. If the callback passes
    /// a value in spite of the cancellation, the caller returns that value. If the callback passes an error, or is
    /// released without being called, the caller throws `CancellationError`.
    ///
    /// If the API never calls back after a cancellation, the caller waits for as long as the API keeps the callback.
    case waitForCallback
}
