/// A queue that runs the operations of `Task(on:)` on an actor: ``ActorQueue``, or a ``CancellableQueue`` over one.
///
/// The protocol is for functions that accept either. Do not call its requirements, and do not conform your own types to
/// it: only the queues of this library can conform.
public protocol ActorTaskQueue<ActorType>: Sendable {
    /// The type of the actor that the operations run on.
    associatedtype ActorType: Actor

    /// The ``ActorQueue`` that runs the operations on its actor.
    var _queue: ActorQueue<ActorType> { get }

    /// Takes the last place in the queue for a task that is about to be created. Traps if
    /// ``ActorQueue/adoptExecutionContext(of:)`` was not called before.
    ///
    /// - Parameter level: The raw value of the task's priority; 0 for the priority of the caller.
    /// - Returns: The place, and the actor that the task runs on; `nil` if the actor has been deallocated.
    func _turn(level: UInt8) -> (turn: _Turn, actor: ActorType)?
}
