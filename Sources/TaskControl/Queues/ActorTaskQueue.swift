/// A queue that runs the operations of `Task(on:)` on an actor: ``ActorQueue``, or a ``CancellableQueue`` over one.
///
/// The protocol is for functions that accept either. Do not call its requirements: only the queues of this library can
/// conform.
public protocol ActorTaskQueue<ActorType>: Sendable {
    /// The type of the actor that the operations run on.
    associatedtype ActorType: Actor

    /// The ``ActorQueue`` that runs the operations on its actor.
    var _queue: ActorQueue<ActorType> { get }

    /// Takes the last place in the queue for a task that is about to be created. Traps if the queue has not adopted an
    /// actor.
    ///
    /// - Parameter level: The raw priority of the task; 0 for that of the caller.
    /// - Returns: The place, and the actor of the queue; `nil` if the actor has been deallocated.
    func _turn(level: UInt8) -> (turn: _Turn, actor: ActorType)?
}
