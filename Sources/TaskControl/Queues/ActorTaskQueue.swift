/// A queue that runs its operations on an actor: ``ActorQueue``, or a ``CancellableQueue`` over one.
///
/// The protocol is for functions that accept either. Do not call its requirements, and do not conform your own types to
/// it: only the queues of this library can conform. The requirements are static, so that completion does not offer them
/// for a queue.
public protocol ActorTaskQueue<ActorType>: Sendable {
    /// The type of the actor that the operations run on.
    associatedtype ActorType: Actor

    /// Returns the ``ActorQueue`` that runs the operations on its actor.
    static func _queue(of queue: Self) -> ActorQueue<ActorType>

    /// Takes the last place in the queue for a task that is about to be created. Traps if
    /// ``ActorQueue/adoptExecutionContext(of:)`` was not called before.
    ///
    /// - Parameters:
    ///   - queue: The queue.
    ///   - level: The raw value of the task's priority; 0 for the priority of the caller.
    /// - Returns: The place, and the actor that the task runs on; `nil` if the actor has been deallocated.
    static func _turn(in queue: Self, level: UInt8) -> (turn: _Turn, actor: ActorType)?
}
