/// Something that can be cancelled: what a callback API gives back so that its work can be stopped, as a request, a subscription or a task.
///
/// ```swift
/// extension Upload: Cancellable {}     // it has a `cancel()`: now `withCancellableContinuation` takes it
/// ```
///
/// Not to be confused with Combine's protocol of that name, to which a type may conform as well. A file that imports both, and writes the
/// name, says which: `TaskControl.Cancellable`. Combine's `AnyCancellable` conforms to this one too.
///
/// ## Cancellation
/// `cancel()` requests, and does not wait. It may be called at any moment, from any thread, and for what has ended already.
public protocol Cancellable: SendableMetatype {
    /// Asks for the end of what this stands for.
    func cancel()
}

extension Task: Cancellable {}

extension AsyncTask: Cancellable {}
