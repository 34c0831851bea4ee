/// The outcome of work for an owner: the value of the task that `run(for:)` and `forEach(_:for:)` return.
///
/// ```swift
/// let loading = lifetime.run(for: model) { [api] in
///     try await api.fetchFeed()
/// } deliver: { model, items in
///     model.show(items)
/// }
/// if case .delivered = await loading.value { scroll() }
/// ```
///
/// Unless the task was cancelled, an error of the work that no `onError` closure receives is reported to diagnostics,
/// even if your code reads the outcome: a task does not know whether its value is read. If you handle the error of the
/// outcome, pass `onError: { _, _ in }` so that the error is not reported too.
@nonexhaustive
public enum DeliveryOutcome: Sendable {
    /// The owner has received the value: `deliver` has returned. For a sequence: the sequence has ended, and the owner
    /// has received each element.
    case delivered

    /// The work or the sequence threw an error, and the task was not cancelled before the error was handled: `onError`
    /// has received the error and has returned; or, if there is no `onError`, the error was reported to diagnostics; or
    /// the owner that `onError` would have received was deallocated.
    case failed(any Error)

    /// The task was cancelled before the work began, before it has returned, or before an element was delivered. An
    /// ``AsyncLifetime``, ``TaskStore`` or ``TaskSlot`` cancels its tasks when it is closed or deallocated, for example
    /// because the object that stores it is deallocated. The cause is that of `Task.cancellationCause`; for a task that a
    /// closed owner refuses, it is ``CancellationCause/shutdown(name:)``.
    indirect case cancelled(CancellationCause)

    /// The work has returned a value, and the task was cancelled before `deliver` began: what the work has done, such as an
    /// upload, is done, but its owner has not received the value. This is also the outcome of work that ignores its
    /// cancellation, or returns early because of it instead of throwing an error. The cause is that of
    /// `Task.cancellationCause`.
    indirect case undelivered(CancellationCause)

    /// The owner was deallocated before it could receive the value or an element, and the task was not cancelled.
    case ownerReleased

    /// The work was added to a ``TaskStore`` or ``TaskSlot`` with the behavior
    /// ``TaskStoreDuplicateKeyBehavior/preferPrevious-type.property``, and did not run, because the key or the slot
    /// already had a task that `addTask` had created. The task that has this outcome waited for the end of that task.
    /// For an existing task that `run` had created, its outcome is returned instead of this one.
    ///
    /// This is also the outcome in a rare case in which `run` has created the existing task: another thread was still
    /// adding that task, and the task ended before its outcome could be read.
    case duplicate
}

extension DeliveryOutcome {
    /// The outcome of the current task, which is cancelled.
    @usableFromInline static var cancelledNow: DeliveryOutcome { .cancelled(Task.cancellationCause ?? .unknown) }

    /// The outcome of work that has returned, if this is the outcome of handing its value to the owner.
    @export(implementation)
    @inline(__always)
    var ofReturnedWork: DeliveryOutcome { if case .cancelled(let cause) = self { .undelivered(cause) } else { self } }
}

extension Settlement {
    /// Creates the answer of a handler that has passed an error to an owner.
    ///
    /// - Parameter outcome: The outcome of the delivery.
    init(_ outcome: DeliveryOutcome) {
        switch outcome {
        case .delivered: self = .received
        case .ownerReleased: self = .ownerReleased
        case .failed, .cancelled, .undelivered, .duplicate: self = .unhandled
        }
    }
}
