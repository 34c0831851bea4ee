extension Task where Failure == Never {
    /// Creates a task that runs an operation when its turn in a queue comes.
    ///
    /// ## Cancellation
    /// A task that is cancelled before its turn still runs, with `Task.isCancelled` true: it must return a value.
    ///
    /// - Parameters:
    ///   - name: The name shown in debuggers and diagnostics.
    ///   - priority: The priority; `nil` for that of the queue, or else that of the caller.
    ///   - queue: The queue that decides when the operation begins: see ``FIFOQueue``, ``ConcurrentQueue`` and
    ///     ``CancellableQueue``.
    ///   - operation: Runs in the isolation and with the task-locals of the code that creates the task.
    /// - Complexity: O(1), and O(*n*) in the number of earlier tasks that are raised to the priority of the new task.
    @discardableResult
    @inlinable
    public init(
        name: String? = nil,
        priority: TaskPriority? = nil,
        on queue: some TaskQueue,
        @_inheritActorContext @_implicitSelfCapture operation: sending @escaping @isolated(any) () async -> Success
    ) {
        let work = _PlainWork(received(operation))
        let level = queue._level(of: consume priority)
        self = _TurnBody.start(
            queue._turn(level: level),
            work,
            isolatedTo: work.operation.isolation,
            name: name,
            level: level
        )
    }

    /// Creates a task that runs an operation on an actor when its turn in a queue comes.
    ///
    /// ## Cancellation
    /// A task that is cancelled before its turn still runs, with `Task.isCancelled` true: it must return a value.
    ///
    /// - Parameters:
    ///   - name: The name shown in debuggers and diagnostics.
    ///   - priority: The priority; `nil` for that of the queue, or else that of the caller.
    ///   - queue: The queue that decides when the operation begins: see ``FIFOQueue``, ``ConcurrentQueue`` and
    ///     ``CancellableQueue``.
    ///   - isolatedActor: The actor to run on, which is retained until the task has ended.
    ///   - operation: Runs on the actor, which it receives as its argument, with the task-locals of the caller.
    /// - Complexity: O(1), and O(*n*) in the number of earlier tasks that are raised to the priority of the new task.
    @discardableResult
    @inlinable
    public init<ActorType: Actor>(
        name: String? = nil,
        priority: TaskPriority? = nil,
        on queue: some TaskQueue,
        isolatedTo isolatedActor: ActorType,
        operation: @escaping @Sendable (isolated ActorType) async -> Success
    ) {
        let work = _ActorWork(isolatedActor, operation)
        let level = queue._level(of: consume priority)
        self = _TurnBody.start(
            queue._turn(level: level),
            work,
            isolatedTo: isolatedActor,
            name: name,
            level: level
        )
    }
}

extension Task where Failure == any Error {
    /// Creates a task that runs a throwing operation when its turn in a queue comes.
    ///
    /// The task holds the error of the operation: the compiler warns if the task is not used.
    ///
    /// ## Cancellation
    /// A task that is cancelled before its turn ends immediately with `CancellationError`; its operation never runs.
    ///
    /// - Parameters:
    ///   - name: The name shown in debuggers and diagnostics.
    ///   - priority: The priority; `nil` for that of the queue, or else that of the caller.
    ///   - queue: The queue that decides when the operation begins: see ``FIFOQueue``, ``ConcurrentQueue`` and
    ///     ``CancellableQueue``.
    ///   - operation: Runs in the isolation and with the task-locals of the code that creates the task.
    /// - Complexity: O(1), and O(*n*) in the number of earlier tasks that are raised to the priority of the new task.
    @inlinable
    public init(
        name: String? = nil,
        priority: TaskPriority? = nil,
        on queue: some TaskQueue,
        @_inheritActorContext @_implicitSelfCapture
        operation: sending @escaping @isolated(any) () async throws -> Success
    ) {
        let work = _PlainThrowingWork(received(operation))
        let level = queue._level(of: consume priority)
        self = _TurnBody.start(
            queue._turn(level: level),
            work,
            isolatedTo: work.operation.isolation,
            name: name,
            level: level
        )
    }

    /// Creates a task that runs a throwing operation on an actor when its turn in a queue comes.
    ///
    /// The task holds the error of the operation: the compiler warns if the task is not used.
    ///
    /// ## Cancellation
    /// A task that is cancelled before its turn ends immediately with `CancellationError`; its operation never runs.
    ///
    /// - Parameters:
    ///   - name: The name shown in debuggers and diagnostics.
    ///   - priority: The priority; `nil` for that of the queue, or else that of the caller.
    ///   - queue: The queue that decides when the operation begins: see ``FIFOQueue``, ``ConcurrentQueue`` and
    ///     ``CancellableQueue``.
    ///   - isolatedActor: The actor to run on, which is retained until the task has ended.
    ///   - operation: Runs on the actor, which it receives as its argument, with the task-locals of the caller.
    /// - Complexity: O(1), and O(*n*) in the number of earlier tasks that are raised to the priority of the new task.
    @inlinable
    public init<ActorType: Actor>(
        name: String? = nil,
        priority: TaskPriority? = nil,
        on queue: some TaskQueue,
        isolatedTo isolatedActor: ActorType,
        operation: @escaping @Sendable (isolated ActorType) async throws -> Success
    ) {
        let work = _ActorThrowingWork(isolatedActor, operation)
        let level = queue._level(of: consume priority)
        self = _TurnBody.start(
            queue._turn(level: level),
            work,
            isolatedTo: isolatedActor,
            name: name,
            level: level
        )
    }
}
