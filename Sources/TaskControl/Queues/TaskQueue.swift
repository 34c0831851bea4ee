/// A queue that runs each operation of `Task(on:)` in the isolation that the operation was formed in: ``FIFOQueue``, ``ConcurrentQueue``, or a
/// ``CancellableQueue`` over one of them.
///
/// The protocol is for functions that accept either. Its requirements are not for use: only the queues of this library can conform.
public protocol TaskQueue: Sendable {
    /// The priority of the tasks that are sent without one; `nil`: that of their caller.
    var _priority: TaskPriority? { get }

    /// Takes the last place in the queue for a task that is about to be made.
    func _turn(name: String?, priority: TaskPriority?) -> _Turn
}
