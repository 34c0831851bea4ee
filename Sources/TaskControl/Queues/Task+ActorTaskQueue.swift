extension Task where Failure == Never {
    /// Creates a task that runs an operation on an actor, in the order of `queue`.
    ///
    /// Traps if the queue has no actor yet (see ``ActorQueue/adoptExecutionContext(of:)``), and also if the actor has
    /// been deallocated: the task must return a value, but the actor that its operation needs is gone. (With an
    /// operation that may throw, the task then throws `CancellationError` instead.)
    ///
    /// ## Cancellation
    /// If the task is cancelled before it has begun, the operation still runs, with `Task.isCancelled` true: it must
    /// return a value.
    ///
    /// - Parameters:
    ///   - name: The name shown in debuggers and diagnostics.
    ///   - priority: The priority; `nil` for that of the caller.
    ///   - queue: The queue, whose actor is retained until the task has ended. See ``ActorQueue`` and
    ///     ``CancellableQueue``.
    ///   - operation: Runs on the actor, which it receives as its argument, with the task-locals of the caller.
    /// - Complexity: O(1), and O(*n*) in the number of earlier tasks that are raised to the priority of the new task.
    @discardableResult
    @inlinable
    public init<ActorType: Actor>(
        name: String? = nil,
        priority: TaskPriority? = nil,
        on queue: some ActorTaskQueue<ActorType>,
        operation: @escaping @Sendable (isolated ActorType) async -> Success
    ) {
        let level = priority?.rawValue ?? 0
        guard let (turn, actor) = queue._turn(level: level) else { queue._queue._trapWithoutActor() }
        self = _TurnBody.start(turn, _ActorWork(actor, operation), isolatedTo: actor, name: name, level: level)
    }

    /// Creates a task that runs an operation on the main actor, in the order of `queue`.
    ///
    /// Traps if the queue has no actor yet (see ``ActorQueue/adoptExecutionContext(of:)``). `MainActor.queue` always
    /// has its actor.
    ///
    /// ## Cancellation
    /// If the task is cancelled before it has begun, the operation still runs, with `Task.isCancelled` true: it must
    /// return a value.
    ///
    /// - Parameters:
    ///   - name: The name shown in debuggers and diagnostics.
    ///   - priority: The priority; `nil` for that of the caller.
    ///   - queue: `MainActor.queue`, or a ``CancellableQueue`` over it.
    ///   - operation: Runs on the main actor, with the task-locals of the caller.
    /// - Complexity: O(1), and O(*n*) in the number of earlier tasks that are raised to the priority of the new task.
    @discardableResult
    @inlinable
    public init(
        name: String? = nil,
        priority: TaskPriority? = nil,
        on queue: some ActorTaskQueue<MainActor>,
        @_implicitSelfCapture operation: sending @escaping @MainActor () async -> Success
    ) {
        let work = _PlainWork(received(operation))
        let level = priority?.rawValue ?? 0
        guard let (turn, actor) = queue._turn(level: level) else { queue._queue._trapWithoutActor() }
        self = _TurnBody.start(turn, work, isolatedTo: actor, name: name, level: level)
    }
}

extension Task where Failure == any Error {
    /// Creates a task that runs a throwing operation on an actor, in the order of `queue`.
    ///
    /// The task holds the error of the operation: the compiler warns if the task is not used.
    ///
    /// Traps if the queue has no actor yet (see ``ActorQueue/adoptExecutionContext(of:)``).
    ///
    /// ## Cancellation
    /// A task that is cancelled before it has begun ends immediately with `CancellationError`; its operation never
    /// runs.
    ///
    /// - Parameters:
    ///   - name: The name shown in debuggers and diagnostics.
    ///   - priority: The priority; `nil` for that of the caller.
    ///   - queue: The queue, whose actor is retained until the task has ended. If the actor has been deallocated, the
    ///     task throws `CancellationError`. See ``ActorQueue`` and ``CancellableQueue``.
    ///   - operation: Runs on the actor, which it receives as its argument, with the task-locals of the caller.
    /// - Complexity: O(1), and O(*n*) in the number of earlier tasks that are raised to the priority of the new task.
    @inlinable
    public init<ActorType: Actor>(
        name: String? = nil,
        priority: TaskPriority? = nil,
        on queue: some ActorTaskQueue<ActorType>,
        operation: @escaping @Sendable (isolated ActorType) async throws -> Success
    ) {
        let level = priority?.rawValue ?? 0
        guard let (turn, actor) = queue._turn(level: level) else {
            self = Task(name: name, priority: priority) { throw _Concurrency.CancellationError() }
            return
        }
        let work = _ActorThrowingWork(actor, operation)
        self = _TurnBody.start(turn, work, isolatedTo: actor, name: name, level: level)
    }

    /// Creates a task that runs a throwing operation on the main actor, in the order of `queue`.
    ///
    /// The task holds the error of the operation: the compiler warns if the task is not used.
    ///
    /// Traps if the queue has no actor yet (see ``ActorQueue/adoptExecutionContext(of:)``). `MainActor.queue` always
    /// has its actor.
    ///
    /// ## Cancellation
    /// A task that is cancelled before it has begun ends immediately with `CancellationError`; its operation never
    /// runs.
    ///
    /// - Parameters:
    ///   - name: The name shown in debuggers and diagnostics.
    ///   - priority: The priority; `nil` for that of the caller.
    ///   - queue: `MainActor.queue`, or a ``CancellableQueue`` over it.
    ///   - operation: Runs on the main actor, with the task-locals of the caller.
    /// - Complexity: O(1), and O(*n*) in the number of earlier tasks that are raised to the priority of the new task.
    @inlinable
    public init(
        name: String? = nil,
        priority: TaskPriority? = nil,
        on queue: some ActorTaskQueue<MainActor>,
        @_implicitSelfCapture operation: sending @escaping @MainActor () async throws -> Success
    ) {
        let work = _PlainThrowingWork(received(operation))
        let level = priority?.rawValue ?? 0
        guard let (turn, actor) = queue._turn(level: level) else { queue._queue._trapWithoutActor() }
        self = _TurnBody.start(turn, work, isolatedTo: actor, name: name, level: level)
    }
}
