/// Runs tasks one after the other, in the order in which they were sent, whoever sends them: each begins when the one before it has ended.
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
///         try await saves.run { try await render() }   // the same turn-taking in a task that is there already
///     }
/// }
/// ```
///
/// Each operation runs in a `Task` of its own, which `addTask` returns, to await or to cancel it. `Task(on: saves) { }` is another spelling. Nothing runs in between that could be
/// late, and an idle queue holds nothing.
///
/// Safe to use from any thread and any isolation.
///
/// Siblings: ``ConcurrentQueue`` runs more than one task at once. ``ActorQueue`` keeps only the order in which tasks *begin*, on an actor; it lets the next
/// one begin when one suspends.
/// ``CancellableQueue`` can cancel all that was sent through it. ``TaskStore`` keeps an order for each key.
///
/// ## Ordering
/// The place of a task is that of the call that makes it, whatever the priorities; so is the place of ``run(_:)``. Calls from several
/// threads that overlap take place in one order or the other.
///
/// A task that awaits the value of a later one of its own queue waits for itself, for ever: let it send that and end, or use an
/// ``ActorQueue``. (``run(_:)`` and ``drain()`` can see that, and throw.)
///
/// ## Priorities
/// A task of the queue that is before a task with a higher priority is raised to it while that waits, where the system can (macOS 26, Linux).
/// A caller of ``run(_:)`` raises, and is not raised: its task is not the queue's.
///
/// ## Cancellation
/// Each task is cancelled by its own handle. A *throwing* one that has not begun leaves at once (or, if it has not been given a thread
/// yet, when it is): its value is a `CancellationError`, its operation never runs, its place is free, and the others keep their order. One
/// that cannot throw owes a value: it runs when it is its turn, with `Task.isCancelled` true. `addTask(whenCancelledWaiting:)` says otherwise
/// for either. Releasing the queue cancels nothing: what was sent still runs.
public final class FIFOQueue: TaskQueue {
    /// What errors and diagnostics know it by.
    public let name: String?

    @usableFromInline let _turns: _TurnStorage
    /// The priority of the tasks that are sent without one; `nil`: that of their caller.
    public let _priority: TaskPriority?

    /// Creates a queue without tasks.
    ///
    /// - Parameters:
    ///   - name: The name shown in errors and diagnostics.
    ///   - priority: The priority of the tasks that are added without one; `nil` for that of their caller.
    public init(name: String? = nil, priority: TaskPriority? = nil) {
        self.name = name
        _priority = priority
        _turns = _TurnStorage(.fifoQueue, name: name, capacity: 1)
    }

    /// How many tasks run or wait for their turn, calls of ``run(_:)`` among them. It may have changed when the caller looks at it.
    public var count: Int { _turns.count }

    /// Whether nothing runs or waits.
    public var isIdle: Bool { count == 0 }

    /// Waits for its turn, runs `body` in the caller's task, and passes the turn on: what `Task(on:)` does, without a task.
    ///
    /// ```swift
    /// let balance = try await ledger.run {
    ///     try await withdraw(amount)      // nothing else of this queue runs meanwhile, also while this is suspended
    ///     return try await fetchBalance()
    /// }
    /// ```
    ///
    /// ## Ordering
    /// Its place is that of the moment when it is called: `Task { try await queue.run { … } }` and `async let` call it only when their
    /// task gets going, behind all that was sent meanwhile. `Task(on:)` takes its place at once.
    ///
    /// ## Cancellation
    /// A caller that is cancelled before its turn leaves at once, without running `body`. From then on it is up to `body`.
    ///
    /// ## Priorities
    /// The caller raises the tasks of the queue that are before it, and is itself not raised: the queue raises only tasks that it made.
    ///
    /// - Parameter body: Runs in the caller's isolation.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws; `CancellationError` if the caller was cancelled before its turn; ``QueueReentrancyError`` if the caller
    ///   is inside a turn of this queue, for which it would wait for ever. Inside is also a child task, and a new `Task` that was made inside, for as long as
    ///   that turn lasts; and so is a turn of another queue that was asked for inside.
    /// - Complexity: O(1).
    @inlinable
    public nonisolated(nonsending) func run<Value>(
        _ body: nonisolated(nonsending) () async throws -> Value
    ) async throws -> Value {
        try await _turns.run(body)
    }

    /// Waits until all that runs or waits at the time of the call has ended. What is sent later is not waited for.
    ///
    /// What is there is raised to the caller's priority, where the system can (macOS 26, Linux).
    ///
    /// ## Cancellation
    /// A caller that is cancelled leaves at once. The queue goes on.
    ///
    /// - Throws: `CancellationError` if the caller is cancelled; ``QueueReentrancyError`` if the caller is inside a turn of this queue, as for ``run(_:)``.
    public nonisolated(nonsending) func drain() async throws { try await _turns.drain() }

    /// Takes the last place in the queue for a task that is about to be made.
    public func _turn(name: String?, priority: TaskPriority?) -> _Turn {
        _Turn(in: _turns, name: name, priority: priority)
    }
}
