/// A queue that runs tasks one after the other, in the order in which they were added: each task begins when the task
/// before it has ended.
///
/// ```swift
/// final class Document: Sendable {
///     private let saves = FIFOQueue()
///
///     func save(_ text: String) {
///         saves.addTask { await write(text) }          // never overlaps another save, never overtaken by one
///     }
///
///     func export() async throws -> File {
///         try await saves.run { try await render() }   // takes a turn in the task of the caller
///     }
/// }
/// ```
///
/// Each operation runs in a `Task` of its own, which `addTask` returns, to await or to cancel it. The queue itself
/// needs no task.
///
/// Safe to use from any thread and any isolation.
///
/// Related types: ``ConcurrentQueue`` runs more than one task at once. ``ActorQueue`` keeps only the order in which
/// tasks *begin*, on an actor; it lets the next task begin when the running task suspends. ``CancellableQueue`` can
/// cancel all tasks that were sent through it. ``KeyedFIFOQueue`` has a queue for each key.
///
/// ## Ordering
/// Tasks take their places in the order of the calls that create them, regardless of their priorities; the same applies
/// to ``run(_:)``. Calls from several threads that overlap have no defined order. The turn of a task, or of a call of
/// ``run(_:)``, lasts from its beginning to its end.
///
/// A task that awaits the value of a later task of its own queue waits forever: add the later task without awaiting it,
/// or use an ``ActorQueue``. (A call of ``run(_:)`` or ``drain()`` from inside a turn of the queue, which would also
/// wait forever, throws ``ReentrancyError`` instead.)
///
/// ## Priorities
/// A task of the queue that is ahead of a task with a higher priority is escalated to that priority while the later
/// task waits, where the system supports it (<doc:Ordering#Priorities>). A caller of ``run(_:)`` escalates the tasks ahead of it.
/// Its own task is not escalated, since it does not belong to the queue.
///
/// ## Cancellation
/// Each task is cancelled through its own handle, the `Task`. A *throwing* task that has not begun ends immediately: it
/// throws `CancellationError`, its operation never runs, its place is free, and the other tasks keep their order. If
/// its operation is isolated to a busy actor, the task ends when the actor is free, since Swift notifies no task of a
/// cancellation before its first instruction. A task that cannot throw must return a value: it runs at its turn, with
/// `Task.isCancelled` true. `addTask(whenCancelledWaiting:)` can change this for both kinds of task. Releasing the
/// queue cancels nothing: tasks that were sent still run.
public final class FIFOQueue: TaskQueue {
    /// The name shown in errors and diagnostics; `nil` if the queue has none.
    public let name: String?

    @usableFromInline let _turns: _TurnStorage
    @usableFromInline let _level: UInt8

    /// Creates a queue without tasks.
    ///
    /// - Parameters:
    ///   - name: The name shown in errors and diagnostics; `nil` for none.
    ///   - priority: The priority of the tasks that are added without one; `nil` for that of their caller.
    public init(name: String? = nil, priority: TaskPriority? = nil) {
        self.name = name
        _level = priority?.rawValue ?? 0
        _turns = _TurnStorage(.fifoQueue, name: name, capacity: 1)
    }

    /// The number of tasks and of calls of ``run(_:)`` that run or wait for their turn. It may have changed by the time
    /// the caller uses it.
    public var count: Int { _turns.count }

    /// Whether no task or call of ``run(_:)`` runs or waits.
    public var isIdle: Bool { count == 0 }

    /// Waits for a turn, runs `body` in the caller's task, and ends the turn: like `addTask`, without a new task.
    ///
    /// ```swift
    /// let balance = try await ledger.run {
    ///     try await withdraw(amount)      // nothing else of this queue runs meanwhile, even if this suspends
    ///     return try await fetchBalance()
    /// }
    /// ```
    ///
    /// ## Ordering
    /// The call takes its place when it begins. With `Task { try await queue.run { … } }` or `async let`, it begins
    /// only when that task runs, so its place is behind all tasks that were added until then. A task that is added
    /// with `addTask` has its place immediately.
    ///
    /// ## Cancellation
    /// A caller that is cancelled before its turn stops waiting immediately, without running `body`. Once `body` runs,
    /// only `body` responds to a cancellation.
    ///
    /// ## Priorities
    /// The tasks of the queue that are ahead of the caller are escalated to its priority, where the system supports it
    /// (<doc:Ordering#Priorities>). The caller's own task is not escalated: the queue escalates only tasks that it created.
    ///
    /// - Parameter body: Runs in the caller's isolation.
    /// - Returns: The value that `body` returns.
    /// - Throws: The error that `body` throws; `CancellationError` if the caller was cancelled before its turn;
    ///   ``ReentrancyError`` if the caller is inside a turn of this queue: the call would wait forever for the end
    ///   of that turn. Child tasks, unstructured tasks created during the turn (while it lasts), and turns of other
    ///   queues inside it all count as inside. Also if the turn that runs waits for the caller, through flights or turns
    ///   of other queues.
    /// - Complexity: O(1). From inside a flight or a turn of another queue, O(*n*) in the number of calls that wait inside
    ///   the turn that runs, and inside the flights and turns that these calls wait for.
    @export(implementation)
    public nonisolated(nonsending) func run<Value>(
        _ body: nonisolated(nonsending) () async throws -> Value
    ) async throws -> Value {
        try await _turns.run(body)
    }

    /// Waits until all tasks and calls of ``run(_:)`` that run or wait at the time of the call have ended. It does not
    /// wait for tasks that are added later.
    ///
    /// The tasks in the queue are raised to the caller's priority, where the system supports it (<doc:Ordering#Priorities>).
    ///
    /// ## Cancellation
    /// A cancelled caller stops waiting immediately. The queue continues.
    ///
    /// - Throws: `CancellationError` if the caller is cancelled; ``ReentrancyError`` if the caller is inside a
    ///   turn of this queue, as for ``run(_:)``.
    public nonisolated(nonsending) func drain() async throws { try await _turns.drain() }

    /// Returns the raw value of the priority of tasks that are added without a priority; 0 if they have the priority of
    /// their caller.
    @export(implementation)
    public static func _level(of queue: FIFOQueue) -> UInt8 { queue._level }

    /// Takes the last place in the queue for a task that is about to be created.
    ///
    /// - Parameters:
    ///   - queue: The queue.
    ///   - level: The raw value of the task's priority; 0 for the priority of the caller.
    /// - Returns: The place.
    public static func _turn(in queue: FIFOQueue, level: UInt8) -> _Turn { _Turn(in: queue._turns, level: level) }
}
