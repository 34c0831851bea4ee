/// A queue that runs a limited number of tasks at once: they begin in the order of the calls, and end in any order.
///
/// ```swift
/// let uploads = ConcurrentQueue(maxConcurrentTasks: 4)
/// for photo in photos {
///     uploads.addTask { await upload(photo) }
/// }
/// try await uploads.drain()
/// ```
///
/// Each operation runs in a `Task` of its own, which `addTask` returns, to await or to cancel it.
/// A task begins when all earlier tasks have begun and fewer than
/// ``maxConcurrentTasks`` run.
///
/// Safe to use from any thread and any isolation.
///
/// Related types: ``FIFOQueue`` runs one task at a time. ``CancellableQueue`` cancels all tasks that were added through
/// it. ``AsyncSemaphore`` limits code that already runs in a task, and takes more than one permit for larger work.
///
/// ## Ordering
/// Tasks take their places in the order of the calls that add them, regardless of priorities; the same applies to
/// ``run(_:)``. Calls from several threads that overlap have no defined order. The turn of a task, or of a call of
/// ``run(_:)``, lasts from its beginning to its end.
///
/// If all running tasks of the queue await later tasks of the same queue, they wait forever. (A call of ``run(_:)`` or
/// ``drain()`` from inside a turn of the queue, which could also wait forever, throws ``ReentrancyError``
/// instead.)
///
/// ## Priorities
/// While a task waits for its turn, all tasks of the queue that are ahead of it are raised to its priority, where the
/// system supports it (<doc:Ordering#Priorities>).
///
/// ## Cancellation
/// Cancellation works in the same way as for ``FIFOQueue``: a *throwing* task that has not begun ends immediately with
/// `CancellationError`, and a task that cannot throw runs at its turn. `addTask(whenCancelledWaiting:)` can change this
/// for both kinds of task. Releasing the queue cancels nothing: tasks that were added still run.
public final class ConcurrentQueue: TaskQueue {
    /// The name shown in errors and diagnostics; `nil` if the queue has none.
    public let name: String?

    /// The number of tasks that may run at once.
    public let maxConcurrentTasks: Int

    @usableFromInline let _turns: _TurnStorage
    @usableFromInline let _level: UInt8

    /// Creates a queue without tasks.
    ///
    /// - Parameters:
    ///   - name: The name shown in errors and diagnostics; `nil` for none.
    ///   - priority: The priority of the tasks that are added without one; `nil` for that of their caller.
    ///   - maxConcurrentTasks: The number of tasks that may run at once. Less than 1 counts as 1.
    public init(name: String? = nil, priority: TaskPriority? = nil, maxConcurrentTasks: Int) {
        let width = ComputedNumber.count(
            maxConcurrentTasks,
            "ConcurrentQueue(maxConcurrentTasks:)",
            .concurrentQueue
        )
        self.name = name
        self.maxConcurrentTasks = width
        _level = priority?.rawValue ?? 0
        _turns = _TurnStorage(.concurrentQueue, name: name, capacity: width)
    }

    /// The number of tasks and of calls of ``run(_:)`` that run or wait for their turn. It may have changed by the time
    /// the caller uses it.
    public var count: Int { _turns.count }

    /// Whether no task or call of ``run(_:)`` runs or waits.
    public var isIdle: Bool { count == 0 }

    /// Waits for a turn, runs `body` in the caller's task, and ends the turn.
    ///
    /// ```swift
    /// let preview = try await downloads.run { try await fetch(url) }
    /// ```
    ///
    /// ## Ordering
    /// The call takes its place when it begins. With `Task { try await queue.run { … } }` or `async let`, it begins
    /// only when that task runs, so its place is behind all tasks that were added until then. A task that is added with
    /// `addTask` has its place immediately.
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
    ///   ``ReentrancyError`` if the caller is inside a turn of this queue: if all turns were held by such callers,
    ///   each would wait forever. Child tasks, unstructured tasks created during the turn (while it lasts), and turns
    ///   of other queues inside it all count as inside. Also if all turns wait for the caller, through flights or turns of
    ///   other queues.
    /// - Complexity: O(1). From inside a flight or a turn of another queue, O(*n*) in the number of calls that wait inside
    ///   the turns that run, and inside the flights and turns that these calls wait for.
    @export(implementation)
    public nonisolated(nonsending) func run<Value>(
        _ body: nonisolated(nonsending) () async throws -> Value
    ) async throws -> Value {
        try await _turns.run(body)
    }

    /// Waits until all tasks and calls of ``run(_:)`` that run or wait at the time of the call have ended. It does not
    /// wait for tasks that are added later.
    ///
    /// The tasks are raised to the caller's priority, where the system supports it (<doc:Ordering#Priorities>).
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
    public static func _level(of queue: ConcurrentQueue) -> UInt8 { queue._level }

    /// Takes the last place in the queue for a task that is about to be created.
    ///
    /// - Parameters:
    ///   - queue: The queue.
    ///   - level: The raw value of the task's priority; 0 for the priority of the caller.
    /// - Returns: The place.
    public static func _turn(in queue: ConcurrentQueue, level: UInt8) -> _Turn { _Turn(in: queue._turns, level: level) }
}
