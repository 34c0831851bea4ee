extension CancellableQueue {
    /// Cancels every task that was sent through this queue and has not ended: another name of
    /// ``TaskOwner/cancelAll()``.
    ///
    /// - Note: A spelling of swift-async-queue: see <doc:MovingFromSwiftAsyncQueue>.
    public func cancelTasks() { cancelAll() }
}

extension Task where Failure == Never {
    /// Creates a task that runs an operation when its turn in a queue comes.
    ///
    /// - Note: A spelling of swift-async-queue: see <doc:MovingFromSwiftAsyncQueue>.
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
    @export(implementation)
    public init(
        name: String? = nil,
        priority: TaskPriority? = nil,
        on queue: some TaskQueue,
        @_inheritActorContext @_implicitSelfCapture operation: sending @escaping @isolated(any) () async -> Success
    ) {
        self = queue.addTask(name: name, priority: priority, operation: operation)
    }

    /// Creates a task that runs an operation on an actor when its turn in a queue comes.
    ///
    /// - Note: A spelling of swift-async-queue: see <doc:MovingFromSwiftAsyncQueue>.
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
    @export(implementation)
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
            queue._takeTurn(level: level),
            work,
            isolatedTo: isolatedActor,
            name: name,
            level: level
        )
    }

    /// Creates a task that runs an operation on an actor, in the order of `queue`.
    ///
    /// - Note: A spelling of swift-async-queue: see <doc:MovingFromSwiftAsyncQueue>.
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
    @export(implementation)
    public init<ActorType: Actor>(
        name: String? = nil,
        priority: TaskPriority? = nil,
        on queue: some ActorTaskQueue<ActorType>,
        operation: @escaping @Sendable (isolated ActorType) async -> Success
    ) {
        self = queue.addTask(name: name, priority: priority, operation: operation)
    }

    /// Creates a task that runs an operation on the main actor, in the order of `queue`.

    ///
    /// - Note: A spelling of swift-async-queue: see <doc:MovingFromSwiftAsyncQueue>.
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
    @export(implementation)
    public init(
        name: String? = nil,
        priority: TaskPriority? = nil,
        on queue: some ActorTaskQueue<MainActor>,
        @_implicitSelfCapture operation: sending @escaping @MainActor () async -> Success
    ) {
        self = queue.addTask(name: name, priority: priority, operation: operation)
    }
}

extension Task where Failure == any Error {
    /// Creates a task that runs a throwing operation when its turn in a queue comes.
    ///
    /// - Note: A spelling of swift-async-queue: see <doc:MovingFromSwiftAsyncQueue>.
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
    @export(implementation)
    public init(
        name: String? = nil,
        priority: TaskPriority? = nil,
        on queue: some TaskQueue,
        @_inheritActorContext @_implicitSelfCapture
        operation: sending @escaping @isolated(any) () async throws -> Success
    ) {
        self = queue.addTask(name: name, priority: priority, operation: operation)
    }

    /// Creates a task that runs a throwing operation on an actor when its turn in a queue comes.
    ///
    /// - Note: A spelling of swift-async-queue: see <doc:MovingFromSwiftAsyncQueue>.
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
    @export(implementation)
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
            queue._takeTurn(level: level),
            work,
            isolatedTo: isolatedActor,
            name: name,
            level: level
        )
    }

    /// Creates a task that runs a throwing operation on an actor, in the order of `queue`.
    ///
    /// - Note: A spelling of swift-async-queue: see <doc:MovingFromSwiftAsyncQueue>.
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
    @export(implementation)
    public init<ActorType: Actor>(
        name: String? = nil,
        priority: TaskPriority? = nil,
        on queue: some ActorTaskQueue<ActorType>,
        operation: @escaping @Sendable (isolated ActorType) async throws -> Success
    ) {
        self = queue.addTask(name: name, priority: priority, operation: operation)
    }

    /// Creates a task that runs a throwing operation on the main actor, in the order of `queue`.

    ///
    /// - Note: A spelling of swift-async-queue: see <doc:MovingFromSwiftAsyncQueue>.
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
    @export(implementation)
    public init(
        name: String? = nil,
        priority: TaskPriority? = nil,
        on queue: some ActorTaskQueue<MainActor>,
        @_implicitSelfCapture operation: sending @escaping @MainActor () async throws -> Success
    ) {
        self = queue.addTask(name: name, priority: priority, operation: operation)
    }
}
