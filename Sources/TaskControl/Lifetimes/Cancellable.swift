/// A handle that can be cancelled: the value that a callback API returns so that its work can be stopped, such as a request, a subscription or a
/// task.
///
/// ```swift
/// extension Upload: Cancellable {}     // `Upload` has a `cancel()`; `withCancellableContinuation` now accepts it
/// ```
///
/// Combine has a protocol of the same name. In a file that imports both modules, `Cancellable` alone is an error ("'Cancellable' is
/// ambiguous for type lookup in this context"): write `TaskControl.Cancellable` or `Combine.Cancellable`. A type can conform to both, and
/// Combine's `AnyCancellable` does.
///
/// ## Cancellation
/// `cancel()` requests the cancellation, and does not wait for the work to end. An implementation must accept calls at
/// any time and from any thread, even after the work has ended.
public protocol Cancellable: SendableMetatype {
    /// Requests the cancellation of the work that this handle represents.
    func cancel()
}

extension Task: Cancellable {}
