/// The outcome of work for an owner: the value of the task that `run(for:)` and `forEach(_:for:)` return.
///
/// ```swift
/// let loading = lifetime.run(for: model) { [api] in
///     try await api.fetchFeed()
/// } deliver: { model, items in
///     model.items = items
/// }
/// if case .delivered = await loading.value { scroll() }
/// ```
///
/// An error counts as received when `onError` was called with it. Otherwise it goes to diagnostics, also if a caller reads it here: a task does not
/// know whether its value is read. If you read the outcome, pass `onError: { _, _ in }`.
@nonexhaustive
public enum DeliveryOutcome: Sendable {
    /// The owner has received the value: `deliver` has returned. For a sequence: it has ended, and the owner has received each element.
    case delivered

    /// The work has thrown an error, or the sequence has, and the task was not cancelled before the error was received or reported. `onError` has
    /// returned, if there is one and the owner existed.
    case failed(any Error)

    /// The task was cancelled before the value, an element or the error was delivered, or before the work began. An owner that is closed, or that is
    /// deallocated together with its lifetime or store, cancels the task.
    case cancelled

    /// The owner was deallocated before it could receive the value, or an element, and the task was not cancelled.
    case ownerReleased

    /// The work did not run, because its key had a task that `addTask` created, and ``TaskStoreDuplicateKeyBehavior/preferPrevious-type.property``
    /// prefers the present task. That task has ended.
    case duplicate
}

extension DeliveryOutcome {
    var isDelivered: Bool {
        if case .delivered = self { true } else { false }
    }
}
