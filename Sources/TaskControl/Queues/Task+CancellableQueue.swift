extension Task where Failure == Never {
    /// Sends an operation to a queue, which runs it when it is its turn.
    ///
    /// ## Cancellation
    /// A task that is cancelled before its turn still runs, with `Task.isCancelled` true: it owes a value.
    ///
    /// - Parameters:
    ///   - name: Shown by debuggers and diagnostics.
    ///   - priority: `nil`: the queue's, else the caller's.
    ///   - queue: Decides when the operation begins: see ``FIFOQueue``. ``CancellableQueue/cancelTasks()`` cancels it.
    ///   - operation: Its isolation and task-locals are those of the code that sends it.
    /// - Complexity: O(1), and O(*n*) in the number of tasks that are raised to its priority.
    @discardableResult
    @inlinable
    public init(
        name: String? = nil,
        priority: TaskPriority? = nil,
        on queue: CancellableQueue<FIFOQueue>,
        @_inheritActorContext @_implicitSelfCapture operation: sending @escaping @isolated(any) () async -> Success
    ) {
        let work = PlainWork(received(operation))
        let priority = priority ?? queue.underlyingQueue.priority
        self = TurnBody.start(
            queue.turn(name: name, priority: priority),
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
    ///   - queue: Decides when the operation begins: see ``FIFOQueue``. ``CancellableQueue/cancelTasks()`` cancels it.
    ///   - isolatedActor: Kept alive until the task has ended.
    ///   - operation: Runs on the actor, which it is handed. Task-locals are the caller's.
    /// - Complexity: As without an actor.
    @discardableResult
    @inlinable
    public init<ActorType: Actor>(
        name: String? = nil,
        priority: TaskPriority? = nil,
        on queue: CancellableQueue<FIFOQueue>,
        isolatedTo isolatedActor: ActorType,
        operation: @escaping @Sendable (isolated ActorType) async -> Success
    ) {
        let work = ActorWork(isolatedActor, operation)
        let priority = priority ?? queue.underlyingQueue.priority
        self = TurnBody.start(
            queue.turn(name: name, priority: priority),
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
    ///   - queue: Decides when the operation begins: see ``FIFOQueue``. ``CancellableQueue/cancelTasks()`` cancels it.
    ///   - operation: Its isolation and task-locals are those of the code that sends it.
    /// - Complexity: O(1), and O(*n*) in the number of tasks that are raised to its priority.
    @discardableResult
    @inlinable
    public init(
        name: String? = nil,
        priority: TaskPriority? = nil,
        on queue: CancellableQueue<FIFOQueue>,
        @_inheritActorContext @_implicitSelfCapture
        operation: sending @escaping @isolated(any) () async throws -> Success
    ) {
        let work = PlainThrowingWork(received(operation))
        let priority = priority ?? queue.underlyingQueue.priority
        self = TurnBody.start(
            queue.turn(name: name, priority: priority),
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
    ///   - queue: Decides when the operation begins: see ``FIFOQueue``. ``CancellableQueue/cancelTasks()`` cancels it.
    ///   - isolatedActor: Kept alive until the task has ended.
    ///   - operation: Runs on the actor, which it is handed. Task-locals are the caller's.
    /// - Complexity: As without an actor.
    @discardableResult
    @inlinable
    public init<ActorType: Actor>(
        name: String? = nil,
        priority: TaskPriority? = nil,
        on queue: CancellableQueue<FIFOQueue>,
        isolatedTo isolatedActor: ActorType,
        operation: @escaping @Sendable (isolated ActorType) async throws -> Success
    ) {
        let work = ActorThrowingWork(isolatedActor, operation)
        let priority = priority ?? queue.underlyingQueue.priority
        self = TurnBody.start(
            queue.turn(name: name, priority: priority),
            work,
            isolatedTo: isolatedActor,
            name: name,
            priority: priority
        )
    }
}

extension Task where Failure == Never {
    /// Sends an operation to an actor, through its queue.
    ///
    /// Traps if the queue's actor is gone: the task owes a value, and has nowhere to run. One that may throw is told with an error.
    ///
    /// ## Cancellation
    /// A task that is cancelled before it has begun still runs, with `Task.isCancelled` true: it owes a value.
    ///
    /// - Parameters:
    ///   - name: Shown by debuggers and diagnostics.
    ///   - priority: `nil`: the caller's.
    ///   - queue: Has adopted an actor, which is kept alive until the task has ended. See ``ActorQueue`` and ``CancellableQueue``.
    ///   - operation: Runs on the actor, which it is handed. Task-locals are the caller's.
    /// - Complexity: O(1), and O(*n*) in the number of tasks that are raised to its priority.
    @discardableResult
    @inlinable
    public init<ActorType: Actor>(
        name: String? = nil,
        priority: TaskPriority? = nil,
        on queue: CancellableQueue<ActorQueue<ActorType>>,
        operation: @escaping @Sendable (isolated ActorType) async -> Success
    ) {
        let (turn, actor) = queue.turnOrTrap(name: name, priority: priority)
        self = TurnBody.start(turn, ActorWork(actor, operation), isolatedTo: actor, name: name, priority: priority)
    }

    /// Sends an operation to the main actor, through its queue.
    ///
    /// ## Cancellation
    /// A task that is cancelled before it has begun still runs, with `Task.isCancelled` true: it owes a value.
    ///
    /// - Parameters:
    ///   - name: Shown by debuggers and diagnostics.
    ///   - priority: `nil`: the caller's.
    ///   - queue: A ``CancellableQueue`` over `MainActor.queue`.
    ///   - operation: Runs on the main actor. Task-locals are the caller's.
    /// - Complexity: As for other actors.
    @discardableResult
    @inlinable
    public init(
        name: String? = nil,
        priority: TaskPriority? = nil,
        on queue: CancellableQueue<ActorQueue<MainActor>>,
        @_implicitSelfCapture operation: sending @escaping @MainActor () async -> Success
    ) {
        let work = PlainWork(received(operation))
        let (turn, actor) = queue.turnOrTrap(name: name, priority: priority)
        self = TurnBody.start(turn, work, isolatedTo: actor, name: name, priority: priority)
    }
}

extension Task where Failure == any Error {
    /// Sends an operation that may fail to an actor, through its queue.
    ///
    /// ## Cancellation
    /// A task that is cancelled before it has begun leaves at once with `CancellationError`; its operation never runs.
    ///
    /// - Parameters:
    ///   - name: Shown by debuggers and diagnostics.
    ///   - priority: `nil`: the caller's.
    ///   - queue: Has adopted an actor, which is kept alive until the task has ended. If it is gone already, the task throws
    ///     `CancellationError`. See ``ActorQueue`` and ``CancellableQueue``.
    ///   - operation: Runs on the actor, which it is handed. Task-locals are the caller's.
    /// - Complexity: O(1), and O(*n*) in the number of tasks that are raised to its priority.
    @discardableResult
    @inlinable
    public init<ActorType: Actor>(
        name: String? = nil,
        priority: TaskPriority? = nil,
        on queue: CancellableQueue<ActorQueue<ActorType>>,
        operation: @escaping @Sendable (isolated ActorType) async throws -> Success
    ) {
        guard let (turn, actor) = queue.turn(name: name, priority: priority) else {
            self = Task(name: name, priority: priority) { throw _Concurrency.CancellationError() }
            return
        }
        let work = ActorThrowingWork(actor, operation)
        self = TurnBody.start(turn, work, isolatedTo: actor, name: name, priority: priority)
    }

    /// Sends an operation that may fail to the main actor, through its queue.
    ///
    /// ## Cancellation
    /// A task that is cancelled before it has begun leaves at once with `CancellationError`; its operation never runs.
    ///
    /// - Parameters:
    ///   - name: Shown by debuggers and diagnostics.
    ///   - priority: `nil`: the caller's.
    ///   - queue: A ``CancellableQueue`` over `MainActor.queue`.
    ///   - operation: Runs on the main actor. Task-locals are the caller's.
    /// - Complexity: As for other actors.
    @discardableResult
    @inlinable
    public init(
        name: String? = nil,
        priority: TaskPriority? = nil,
        on queue: CancellableQueue<ActorQueue<MainActor>>,
        @_implicitSelfCapture operation: sending @escaping @MainActor () async throws -> Success
    ) {
        let work = PlainThrowingWork(received(operation))
        let (turn, actor) = queue.turnOrTrap(name: name, priority: priority)
        self = TurnBody.start(turn, work, isolatedTo: actor, name: name, priority: priority)
    }
}
