/// The rule of a shutdown for work that has not begun when the shutdown begins: tasks that wait, and further attempts of
/// `retry` and `poll`.
///
/// ```swift
/// let outbox = TaskStore<Int>(name: "outbox")
/// // log out: what is being sent has two seconds, and nothing else is sent
/// await outbox.shutdown(grace: .seconds(2), waiting: .cancel)
/// ```
@nonexhaustive
public enum WaitingWorkBehavior: Hashable, Sendable {
    /// Tasks that wait begin during the grace period when it is their turn, and `retry` and `poll` make further attempts.
    case run

    /// Tasks that have not begun are cancelled when the shutdown begins, and the tasks that run have the grace period.
    /// `retry` and `poll` in a task that runs make no further attempt: after an attempt that fails, or after the delay that has
    /// begun, they throw the error of the last attempt, which is ``PollTimeoutError`` if the value of a poll did not satisfy
    /// its condition.
    ///
    /// The exception among the tasks is one of a ``CancellableQueue`` whose operation has the rule
    /// ``CancelledTurnBehavior/run``: it is cancelled, and its operation runs when its turn comes. The exception among the
    /// attempts are those of child tasks, such as `async let`, a task group or `concurrentMap`: a call in a child task
    /// makes further attempts, since Swift does not state which task a child belongs to. The operations of time limits,
    /// deadlines and hedging belong to the calling task.
    case cancel
}
