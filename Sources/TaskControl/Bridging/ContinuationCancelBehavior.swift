/// What a caller of `withCancellableContinuation` does when it is cancelled. Either way the API's handle is cancelled.
public enum ContinuationCancelBehavior: Hashable, Sendable {
    /// It leaves at once, with `CancellationError`. What the API says afterwards is of no account.
    case resume

    /// It waits until the API has called back, or has let go of its callback: for one that must have finished its own cancellation before
    /// the caller goes on, as when it writes into a buffer of the caller's. A value that comes in spite of the cancellation is returned.
    ///
    /// An API that never calls back once it was cancelled holds the caller for as long as it holds the callback.
    case waitForCallback
}
