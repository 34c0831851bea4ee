extension Task where Failure == Never {
    /// Sends an operation to a queue, which runs it when it is its turn.
    ///
    /// ## Cancellation
    /// A task that is cancelled before its turn still runs, with `Task.isCancelled` true: it owes a value.
    ///
    /// - Parameters:
    ///   - name: Shown by debuggers and diagnostics.
    ///   - priority: `nil`: the queue's, else the caller's.
    ///   - queue: Decides when the operation begins: see ``FIFOQueue``, ``ConcurrentQueue`` and ``CancellableQueue``.
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
        let priority = priority ?? queue._priority
        self = _TurnBody.start(
            queue._turn(name: name, priority: priority),
            work,
            isolatedTo: work.operation.isolation,
            name: name,
            priority: priority
        )
    }

    /// Sends an operation to a queue, which runs it on an actor when it is its turn.
    ///
    /// ## Cancellation
    /// A task that is cancelled before its turn still runs, with `Task.isCancelled` true: it owes a value.
    ///
    /// - Parameters:
    ///   - name: Shown by debuggers and diagnostics.
    ///   - priority: `nil`: the queue's, else the caller's.
    ///   - queue: Decides when the operation begins: see ``FIFOQueue``, ``ConcurrentQueue`` and ``CancellableQueue``.
    ///   - isolatedActor: Kept alive until the task has ended.
    ///   - operation: Runs on the actor, which it is handed. Task-locals are the caller's.
    /// - Complexity: As without an actor.
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
        let priority = priority ?? queue._priority
        self = _TurnBody.start(
            queue._turn(name: name, priority: priority),
            work,
            isolatedTo: isolatedActor,
            name: name,
            priority: priority
        )
    }
}

extension Task where Failure == any Error {
    /// Sends an operation that may fail to a queue, which runs it when it is its turn.
    ///
    /// ## Cancellation
    /// A task that is cancelled before its turn leaves at once with `CancellationError`; its operation never runs.
    ///
    /// - Parameters:
    ///   - name: Shown by debuggers and diagnostics.
    ///   - priority: `nil`: the queue's, else the caller's.
    ///   - queue: Decides when the operation begins: see ``FIFOQueue``, ``ConcurrentQueue`` and ``CancellableQueue``.
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
        let priority = priority ?? queue._priority
        self = _TurnBody.start(
            queue._turn(name: name, priority: priority),
            work,
            isolatedTo: work.operation.isolation,
            name: name,
            priority: priority
        )
    }

    /// Sends an operation that may fail to a queue, which runs it on an actor when it is its turn.
    ///
    /// ## Cancellation
    /// A task that is cancelled before its turn leaves at once with `CancellationError`; its operation never runs.
    ///
    /// - Parameters:
    ///   - name: Shown by debuggers and diagnostics.
    ///   - priority: `nil`: the queue's, else the caller's.
    ///   - queue: Decides when the operation begins: see ``FIFOQueue``, ``ConcurrentQueue`` and ``CancellableQueue``.
    ///   - isolatedActor: Kept alive until the task has ended.
    ///   - operation: Runs on the actor, which it is handed. Task-locals are the caller's.
    /// - Complexity: As without an actor.
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
        let priority = priority ?? queue._priority
        self = _TurnBody.start(
            queue._turn(name: name, priority: priority),
            work,
            isolatedTo: isolatedActor,
            name: name,
            priority: priority
        )
    }
}
