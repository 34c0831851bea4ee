extension Task where Failure == Never {
    /// Creates a task that runs an operation when its turn in a queue comes.
    ///
    /// ## Cancellation
    /// A task that is cancelled before its turn still runs, with `Task.isCancelled` true: it must return a value.
    ///
    /// - Parameters:
    ///   - name: The name shown in debuggers and diagnostics.
    ///   - priority: The priority; `nil` for that of the queue, or else that of the caller.
    ///   - queue: The queue that decides when the operation begins: see ``FIFOQueue``, ``ConcurrentQueue`` and ``CancellableQueue``.
    ///   - operation: Its isolation and task-locals are those of the code that sends it.
    /// - Complexity: O(1), and O(*n*) in the number of tasks that are raised to its priority.
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
    ///   - queue: The queue that decides when the operation begins: see ``FIFOQueue``, ``ConcurrentQueue`` and ``CancellableQueue``.
    ///   - isolatedActor: The actor to run on, which is retained until the task has ended.
    ///   - operation: Runs on the actor, which is its argument. Task-locals are the caller's.
    /// - Complexity: O(1), and O(*n*) in the number of tasks that are raised to its priority.
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
    /// ## Cancellation
    /// A task that is cancelled before its turn ends immediately with `CancellationError`; its operation never runs.
    ///
    /// - Parameters:
    ///   - name: The name shown in debuggers and diagnostics.
    ///   - priority: The priority; `nil` for that of the queue, or else that of the caller.
    ///   - queue: The queue that decides when the operation begins: see ``FIFOQueue``, ``ConcurrentQueue`` and ``CancellableQueue``.
    ///   - operation: Its isolation and task-locals are those of the code that sends it.
    /// - Complexity: O(1), and O(*n*) in the number of tasks that are raised to its priority.
    @discardableResult
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
    /// ## Cancellation
    /// A task that is cancelled before its turn ends immediately with `CancellationError`; its operation never runs.
    ///
    /// - Parameters:
    ///   - name: The name shown in debuggers and diagnostics.
    ///   - priority: The priority; `nil` for that of the queue, or else that of the caller.
    ///   - queue: The queue that decides when the operation begins: see ``FIFOQueue``, ``ConcurrentQueue`` and ``CancellableQueue``.
    ///   - isolatedActor: The actor to run on, which is retained until the task has ended.
    ///   - operation: Runs on the actor, which is its argument. Task-locals are the caller's.
    /// - Complexity: O(1), and O(*n*) in the number of tasks that are raised to its priority.
    @discardableResult
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
