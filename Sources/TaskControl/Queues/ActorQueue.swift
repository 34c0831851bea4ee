/// Sends tasks to an actor from anywhere, synchronously, and in order: they begin there in the order of the calls.
///
/// ```swift
/// actor Log {
///     private var lines: [String] = []
///     private let queue = ActorQueue<Log>()
///
///     init() { queue.adoptExecutionContext(of: self) }
///
///     nonisolated func write(_ line: String) {
///         Task(on: queue) { myself in myself.lines.append(line) }
///     }
/// }
/// ```
///
/// A bare `Task { await log.append(line) }` keeps no order. Here each task starts on the actor at once, without a hop, up to its first
/// suspension; then the next one may begin, as actors are used to. So a task may await others of its own queue.
///
/// The operation is handed the actor, since it is the actor's code although it was written outside it. `await Task(on: queue) { _ in }.value`
/// returns when all that was sent before has begun.
///
/// Safe to use from any thread and any isolation.
///
/// What has begun has left the queue, which so can't be drained: a ``CancellableQueue`` over it can.
///
/// Siblings: ``FIFOQueue`` lets a task *end* before the next one begins. `Task(isolatedTo: actor)` needs no queue, and keeps the order among tasks of
/// equal priority.
///
/// ## Ordering
/// The place of a task is that of the call that makes it, also when priorities differ, and when the actor is busy with other work. Up to
/// its first suspension it runs before any later one begins. Calls from several threads that overlap take place in one order or the other.
///
/// ## Priorities
/// What has not begun yet and is before a task with a higher priority is raised to it, where the system can (macOS 26, Linux).
///
/// ## Cancellation
/// As for ``FIFOQueue``: a *throwing* task that has not begun leaves at once with `CancellationError`, the others run.
public final class ActorQueue<ActorType: Actor>: ActorTaskQueue {
    /// What messages and diagnostics know it by.
    public let name: String?

    let _turns: _TurnStorage
    private let adoption = Locked(Adoption())

    private struct Adoption {
        weak var actor: ActorType?
        var hasHappened = false
    }

    /// Creates a queue. It is to adopt an actor before anything is sent to it.
    ///
    /// - Parameter name: Shown by messages and diagnostics.
    public convenience init(name: String? = nil) {
        self.init(name: name, emitsCreation: true)
    }

    init(name: String?, emitsCreation: Bool) {
        self.name = name
        _turns = _TurnStorage(.actorQueue, name: name, capacity: nil, emitsCreation: emitsCreation)
    }

    /// Says on which actor the tasks of this queue run: once, best in the actor's `init`, with the queue a `private let` of the actor.
    ///
    /// The queue does not keep the actor alive; tasks that were sent do. Adopting a second time is a mistake, and traps.
    public func adoptExecutionContext(of actor: ActorType) {
        let isFirst = adoption.withLock { adoption in
            if adoption.hasHappened { return false }
            adoption.hasHappened = true
            adoption.actor = actor
            return true
        }
        insist(isFirst, "\(label) has adopted an actor already. Make a queue for each actor.")
    }

    /// The queue that has adopted the actor.
    @inlinable public var _queue: ActorQueue { self }

    /// Takes the last place in the queue for a task that is about to be made.
    ///
    /// - Returns: `nil` if the actor has been deallocated.
    public func _turn(name: String?, priority: TaskPriority?) -> (turn: _Turn, actor: ActorType)? {
        turn(name: name, priority: priority, group: nil)
    }

    /// - Returns: `nil` if the actor is gone.
    func turn(name: String?, priority: TaskPriority?, group: TaskRegistry?) -> (turn: _Turn, actor: ActorType)? {
        let (actor, hasHappened) = adoption.withLock { ($0.actor, $0.hasHappened) }
        insist(
            hasHappened,
            "\(label) was sent a task before it adopted an actor. Call adoptExecutionContext(of: self) in the actor's init."
        )
        guard let actor else { return nil }
        return (_Turn(in: _turns, name: name, priority: priority, group: group), actor)
    }

    /// The actor was deallocated before a task was sent that cannot throw.
    @usableFromInline
    func _trapWithoutActor() -> Never {
        fatalError(
            "\(label) was sent a task that cannot throw when its actor was gone already: it has nowhere to run. "
                + "Keep the actor alive, or send an operation that throws: its task then throws CancellationError."
        )
    }

    private var label: String { "ActorQueue<\(ActorType.self)>\(name.map { " \"\($0)\"" } ?? "")" }
}
