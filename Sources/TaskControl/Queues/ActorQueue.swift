/// A queue that sends tasks to an actor from any context, synchronously and in order: the tasks begin on the actor in
/// the order of the calls.
///
/// ```swift
/// actor Log {
///     private var lines: [String] = []
///     private let queue = ActorQueue<Log>()
///
///     init() { queue.adoptExecutionContext(of: self) }
///
///     nonisolated func write(_ line: String) {
///         queue.addTask { myself in myself.lines.append(line) }
///     }
/// }
/// ```
///
/// Without a queue, `Task { await log.append(line) }` keeps no order. With this queue, each task starts directly on the
/// actor, without running elsewhere first, and runs up to its first suspension. Then the next task may begin, as usual
/// for actors. So a task may await other tasks of its own queue.
///
/// The operation runs isolated to the actor, although its closure is written outside the actor. For this reason it
/// receives the actor as its argument. `await queue.addTask { _ in }.value` returns when all tasks that were sent
/// before have begun.
///
/// Safe to use from any thread and any isolation.
///
/// Tasks leave the queue when they begin, so it has no `drain()`. To wait until its tasks have ended, send them through
/// a ``CancellableQueue`` that was created with this queue.
///
/// Related types: ``FIFOQueue`` lets a task *end* before the next one begins. `Task(isolatedTo: actor)` needs no queue,
/// and keeps the order among tasks of equal priority.
///
/// ## Ordering
/// Tasks take their places in the order of the calls that create them, even if their priorities differ or the actor is
/// busy with other work. Up to its first suspension, a task runs before any later task begins. Calls from several
/// threads that overlap have no defined order.
///
/// ## Priorities
/// Tasks that have not begun and are ahead of a task with a higher priority are raised to that priority, where the
/// system supports it (<doc:Ordering#Priorities>).
///
/// ## Cancellation
/// Cancellation works in the same way as for ``FIFOQueue``: a *throwing* task that has not begun ends immediately with
/// `CancellationError`, and a task that cannot throw still runs.
public final class ActorQueue<ActorType: Actor>: ActorTaskQueue {
    /// The name shown in messages and diagnostics; `nil` if the queue has none.
    public let name: String?

    let _turns: _TurnStorage
    private let adoption = Locked(Adoption())

    private struct Adoption {
        weak var actor: ActorType?
        var hasHappened = false
    }

    /// Creates a queue without an actor.
    ///
    /// Call ``adoptExecutionContext(of:)`` before a task is sent to the queue: sending a task earlier traps.
    ///
    /// - Parameter name: The name shown in messages and diagnostics; `nil` for none.
    public convenience init(name: String? = nil) {
        self.init(name: name, emitsCreation: true)
    }

    init(name: String?, emitsCreation: Bool) {
        self.name = name
        _turns = _TurnStorage(.actorQueue, name: name, capacity: nil, emitsCreation: emitsCreation)
    }

    /// Sets the actor that the tasks of this queue run on. Must be called exactly once, best by the `init` of an actor
    /// that stores the queue in a property.
    ///
    /// The queue does not retain the actor. A task that was sent to the queue retains the actor until the task has
    /// ended. A second call traps.
    ///
    /// - Parameter actor: The actor that the tasks run on.
    public func adoptExecutionContext(of actor: ActorType) {
        let isFirst = adoption.withLock { adoption in
            if adoption.hasHappened { return false }
            adoption.hasHappened = true
            adoption.actor = actor
            return true
        }
        insist(isFirst, "\(label) has adopted an actor already. Create a queue for each actor.")
    }

    /// Returns the queue itself, as ``ActorTaskQueue`` requires.
    @export(implementation)
    public static func _queue(of queue: ActorQueue) -> ActorQueue { queue }

    /// Takes the last place in the queue for a task that is about to be created. Traps if
    /// ``adoptExecutionContext(of:)`` was not called before.
    ///
    /// - Parameters:
    ///   - queue: The queue.
    ///   - level: The raw value of the task's priority; 0 for the priority of the caller.
    /// - Returns: The place, and the actor that the task runs on; `nil` if the actor has been deallocated.
    public static func _turn(in queue: ActorQueue, level: UInt8) -> (turn: _Turn, actor: ActorType)? {
        queue.turn(level: level, group: nil)
    }

    /// Takes the last place in the queue for a task that is about to be created. Traps if
    /// ``adoptExecutionContext(of:)`` was not called before.
    ///
    /// - Parameters:
    ///   - level: The raw value of the task's priority; 0 for the priority of the caller.
    ///   - group: The registry of the ``CancellableQueue`` through which the task is sent; `nil` for none.
    /// - Returns: The place, and the actor that the task runs on; `nil` if the actor has been deallocated.
    func turn(level: UInt8, group: TaskRegistry?) -> (turn: _Turn, actor: ActorType)? {
        let (actor, hasHappened) = adoption.withLock { ($0.actor, $0.hasHappened) }
        insist(
            hasHappened,
            "\(label) was sent a task before it adopted an actor. Call adoptExecutionContext(of: self) in the actor's init."
        )
        guard let actor else { return nil }
        return (_Turn(in: _turns, level: level, group: group), actor)
    }

    /// Stops the program, because a task that cannot throw was sent to this queue after the actor was deallocated.
    @usableFromInline
    func _trapWithoutActor() -> Never {
        fatalError(
            "\(label) was sent a task that cannot throw after its actor was deallocated, so the task cannot run. "
                + "Keep the actor alive, or send an operation that throws: its task then throws CancellationError."
        )
    }

    private var label: String { "ActorQueue<\(ActorType.self)>\(name.map { " \"\($0)\"" } ?? "")" }
}
