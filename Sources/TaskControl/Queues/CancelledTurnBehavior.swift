/// The rule for an operation whose task is cancelled while it waits in a queue.
@nonexhaustive
public enum CancelledTurnBehavior: Sendable {
    /// The operation never runs, and its place in the queue is free at once. If the operation may throw, its task throws `CancellationError`.
    case skip
    /// The operation runs in its turn, with `Task.isCancelled` true.
    case run
}
