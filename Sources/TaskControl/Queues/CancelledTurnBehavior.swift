/// The rule for an operation whose task is cancelled before its turn in a queue comes. It is a parameter of `addTask`
/// of a ``TaskQueue``.
@nonexhaustive
public enum CancelledTurnBehavior: Sendable {
    /// The operation never runs, and its place in the queue is free immediately. The task ends: it throws
    /// `CancellationError` if its operation may throw; otherwise it returns normally (its value is `Void`).
    case skip
    /// The operation runs when its turn comes, with `Task.isCancelled` true.
    case run
}
