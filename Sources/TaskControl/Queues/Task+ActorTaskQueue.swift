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
        on queue: some ActorTaskQueue<ActorType>,
        operation: @escaping @Sendable (isolated ActorType) async -> Success
    ) {
        guard let (turn, actor) = queue._turn(name: name, priority: priority) else { queue._queue._trapWithoutActor() }
        self = _TurnBody.start(turn, _ActorWork(actor, operation), isolatedTo: actor, name: name, priority: priority)
    }

    /// Sends an operation to the main actor, through its queue.
    ///
    /// ## Cancellation
    /// A task that is cancelled before it has begun still runs, with `Task.isCancelled` true: it owes a value.
    ///
    /// - Parameters:
    ///   - name: Shown by debuggers and diagnostics.
    ///   - priority: `nil`: the caller's.
    ///   - queue: `MainActor.queue`, or a ``CancellableQueue`` over it.
    ///   - operation: Runs on the main actor. Task-locals are the caller's.
    /// - Complexity: As for other actors.
    @discardableResult
    @inlinable
    public init(
        name: String? = nil,
        priority: TaskPriority? = nil,
        on queue: some ActorTaskQueue<MainActor>,
        @_implicitSelfCapture operation: sending @escaping @MainActor () async -> Success
    ) {
        let work = _PlainWork(received(operation))
        guard let (turn, actor) = queue._turn(name: name, priority: priority) else { queue._queue._trapWithoutActor() }
        self = _TurnBody.start(turn, work, isolatedTo: actor, name: name, priority: priority)
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
        on queue: some ActorTaskQueue<ActorType>,
        operation: @escaping @Sendable (isolated ActorType) async throws -> Success
    ) {
        guard let (turn, actor) = queue._turn(name: name, priority: priority) else {
            self = Task(name: name, priority: priority) { throw _Concurrency.CancellationError() }
            return
        }
        let work = _ActorThrowingWork(actor, operation)
        self = _TurnBody.start(turn, work, isolatedTo: actor, name: name, priority: priority)
    }

    /// Sends an operation that may fail to the main actor, through its queue.
    ///
    /// ## Cancellation
    /// A task that is cancelled before it has begun leaves at once with `CancellationError`; its operation never runs.
    ///
    /// - Parameters:
    ///   - name: Shown by debuggers and diagnostics.
    ///   - priority: `nil`: the caller's.
    ///   - queue: `MainActor.queue`, or a ``CancellableQueue`` over it.
    ///   - operation: Runs on the main actor. Task-locals are the caller's.
    /// - Complexity: As for other actors.
    @discardableResult
    @inlinable
    public init(
        name: String? = nil,
        priority: TaskPriority? = nil,
        on queue: some ActorTaskQueue<MainActor>,
        @_implicitSelfCapture operation: sending @escaping @MainActor () async throws -> Success
    ) {
        let work = _PlainThrowingWork(received(operation))
        guard let (turn, actor) = queue._turn(name: name, priority: priority) else { queue._queue._trapWithoutActor() }
        self = _TurnBody.start(turn, work, isolatedTo: actor, name: name, priority: priority)
    }
}
