/// The rule for an operation whose task is cancelled while it waits in a queue.
@nonexhaustive
public enum CancelledTurnBehavior: Sendable {
    /// The operation never runs, and its place in the queue is free immediately. The task ends: it throws
    /// `CancellationError` if its operation may throw; otherwise it returns without an error, and has no value
    /// (`Void`).
    case skip
    /// The operation runs when its turn comes, with `Task.isCancelled` true.
    case run
}
