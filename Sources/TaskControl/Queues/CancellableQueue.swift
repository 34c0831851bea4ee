/// A queue that sends its tasks to another queue, the underlying queue, and can cancel all of them together, both
/// running and waiting ones.
///
/// ```swift
/// let uploads = CancellableQueue(underlyingQueue: FIFOQueue())
/// for photo in photos {
///     uploads.addTask { await upload(photo) }
/// }
/// uploads.cancelAll()
/// ```
///
/// Only the tasks that were sent through this object are cancelled. Tasks that are sent to the underlying queue
/// directly, or through another `CancellableQueue`, wait in the same order and are not affected.
///
/// Safe to use from any thread and any isolation. Releasing this object cancels nothing: tasks that were sent still
/// run.
///
/// ## Ordering
/// Tasks run in the order of the underlying queue.
///
/// ## Cancellation
/// ``TaskOwner/cancelAll()`` cancels each task in the same way as the task's own handle does. By default, a *throwing*
/// operation that has not begun never begins: its task throws `CancellationError`. An operation that does not throw
/// must return a value: it runs when its turn comes, with `Task.isCancelled` true. `addTask(whenCancelledWaiting:)` can
/// change both rules.
///
/// After ``TaskOwner/close()``, new tasks are cancelled at once, with the same effects, and are neither counted nor
/// waited for.
public final class CancellableQueue<UnderlyingQueue: Sendable>: TaskOwner, RegistryOwner {
    /// The registry of the tasks that were sent through this queue. It has the name of the underlying queue.
    ///
    /// The first stored property, so that generic code can read it without the size of the underlying queue.
    let registry: TaskRegistry
    /// The engine of the underlying queue.
    let turns: _TurnStorage
    @usableFromInline let _underlyingQueue: UnderlyingQueue

    /// Creates a queue that can cancel the tasks that are added through it to a ``FIFOQueue``.
    public init(underlyingQueue: FIFOQueue) where UnderlyingQueue == FIFOQueue {
        turns = underlyingQueue._turns
        _underlyingQueue = underlyingQueue
        registry = TaskRegistry(.cancellableQueue, name: underlyingQueue.name)
    }

    /// Creates a queue that can cancel the tasks that are added through it to a ``ConcurrentQueue``.
    public init(underlyingQueue: ConcurrentQueue) where UnderlyingQueue == ConcurrentQueue {
        turns = underlyingQueue._turns
        _underlyingQueue = underlyingQueue
        registry = TaskRegistry(.cancellableQueue, name: underlyingQueue.name)
    }

    /// Creates a queue that can cancel the tasks that are added through it to an ``ActorQueue``, which must adopt its
    /// actor before the first task is added.
    public init<ActorType: Actor>(
        underlyingQueue: ActorQueue<ActorType>
    ) where UnderlyingQueue == ActorQueue<ActorType> {
        turns = underlyingQueue._turns
        _underlyingQueue = underlyingQueue
        registry = TaskRegistry(.cancellableQueue, name: underlyingQueue.name)
    }

    deinit {
        registry.source.emit(.deallocated)
    }

    // A cancelled task whose operation must run at its turn would otherwise wait for the end of a pause.

    /// Refuses later tasks, cancels the present ones, and ends a pause of the underlying queue.
    public func close() {
        registry.close()
        turns.resume()
    }

    package func cutOff(for cause: CancellationCause, within limit: CancellationLimit?) async -> ShutdownReport {
        await registry.cutOff(because: cause, within: limit) { turns.resume() }
    }
}

extension CancellableQueue: TaskQueue where UnderlyingQueue: TaskQueue {
    /// Returns the raw value of the priority of tasks that are added without a priority; 0 if they have the priority of
    /// their caller.
    @export(implementation)
    public static func _level(of queue: CancellableQueue) -> UInt8 {
        UnderlyingQueue._level(of: queue._underlyingQueue)
    }

    /// Takes the last place in the queue for a task that is about to be created.
    ///
    /// - Parameters:
    ///   - queue: The queue.
    ///   - level: The raw value of the task's priority; 0 for the priority of the caller.
    /// - Returns: The place.
    @export(implementation)
    public static func _turn(in queue: CancellableQueue, level: UInt8) -> _Turn {
        queue._grouped(UnderlyingQueue._turn(in: queue._underlyingQueue, level: level))
    }
}

extension CancellableQueue: ActorTaskQueue where UnderlyingQueue: ActorTaskQueue {
    /// The type of the actor that the operations run on.
    public typealias ActorType = UnderlyingQueue.ActorType

    /// Returns the ``ActorQueue`` that runs the operations on its actor.
    @export(implementation)
    public static func _queue(of queue: CancellableQueue) -> ActorQueue<ActorType> {
        UnderlyingQueue._queue(of: queue._underlyingQueue)
    }

    /// Takes the last place in the queue for a task that is about to be created. Traps if
    /// ``ActorQueue/adoptExecutionContext(of:)`` was not called before.
    ///
    /// - Parameters:
    ///   - queue: The queue.
    ///   - level: The raw value of the task's priority; 0 for the priority of the caller.
    /// - Returns: The place, and the actor that the task runs on; `nil` if the actor has been deallocated.
    @export(implementation)
    public static func _turn(in queue: CancellableQueue, level: UInt8) -> (turn: _Turn, actor: ActorType)? {
        queue._turn(through: _queue(of: queue), level: level)
    }
}

extension CancellableQueue {
    /// Adds the task of `turn`, a place in the underlying queue, to the tasks that this queue can cancel.
    ///
    /// - Returns: The place, which records that its task belongs to this queue.
    @usableFromInline
    func _grouped(_ turn: _Turn) -> _Turn { turn.joining(registry) }

    // The parameter has the concrete type of the queue, so that the code of a client can be specialized down to this
    // call.
    @usableFromInline
    func _turn<A: Actor>(through queue: ActorQueue<A>, level: UInt8) -> (turn: _Turn, actor: A)? {
        queue.turn(level: level, group: registry)
    }
}
