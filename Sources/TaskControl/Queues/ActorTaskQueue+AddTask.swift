extension ActorTaskQueue {
    /// Adds a task, whose operation begins on the queue's actor in the order of the calls.
    ///
    /// ```swift
    /// entries.addTask { log in log.append(line) }
    /// ```
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
    ///   - name: The name of the task, shown in debuggers and diagnostics; `nil` for none.
    ///   - priority: The priority; `nil` for that of the caller.
    ///   - operation: Runs on the actor, which it receives, with the task-locals of the caller.
    /// - Returns: The task, to await or to cancel it.
    /// - Complexity: O(1), and O(*n*) in the number of earlier tasks that are raised to the priority of the new task.
    @discardableResult
    @export(implementation)
    public func addTask<Value: Sendable>(
        name: String? = nil,
        priority: TaskPriority? = nil,
        operation: @escaping @Sendable (isolated ActorType) async -> Value
    ) -> Task<Value, Never> {
        let level = priority?.rawValue ?? 0
        guard let (turn, actor) = Self._turn(in: self, level: level) else {
            Self._queue(of: self)._trapWithoutActor()
        }
        return _TurnBody.start(turn, _ActorWork(actor, operation), isolatedTo: actor, name: name, level: level)
    }

    /// Adds a task that may throw, whose operation begins on the queue's actor in the order of the calls.
    ///
    /// Traps if the queue has no actor yet (see ``ActorQueue/adoptExecutionContext(of:)``).
    ///
    /// ## Cancellation
    /// If the task is cancelled before it has begun, it ends immediately with `CancellationError`, and its operation
    /// never runs.
    ///
    /// - Parameters:
    ///   - name: The name of the task, shown in debuggers and diagnostics; `nil` for none.
    ///   - priority: The priority; `nil` for that of the caller.
    ///   - operation: Runs on the actor, which it receives, with the task-locals of the caller.
    /// - Returns: The task, which holds the error of the operation: the compiler warns if the task is not used. If the
    ///   actor has been deallocated, the task throws `CancellationError`.
    /// - Complexity: O(1), and O(*n*) in the number of earlier tasks that are raised to the priority of the new task.
    @export(implementation)
    public func addTask<Value: Sendable>(
        name: String? = nil,
        priority: TaskPriority? = nil,
        operation: @escaping @Sendable (isolated ActorType) async throws -> Value
    ) -> Task<Value, any Error> {
        let level = priority?.rawValue ?? 0
        guard let (turn, actor) = Self._turn(in: self, level: level) else {
            return Task(name: name, priority: priority) { throw _Concurrency.CancellationError() }
        }
        return _TurnBody.start(turn, _ActorThrowingWork(actor, operation), isolatedTo: actor, name: name, level: level)
    }
}

extension ActorTaskQueue where ActorType == MainActor {
    /// Adds a task, whose operation begins on the main actor in the order of the calls.
    ///
    /// Traps if the queue has no actor yet (see ``ActorQueue/adoptExecutionContext(of:)``). `MainActor.queue` always
    /// has its actor.
    ///
    /// ## Cancellation
    /// If the task is cancelled before it has begun, the operation still runs, with `Task.isCancelled` true: it must
    /// return a value.
    ///
    /// - Parameters:
    ///   - name: The name of the task, shown in debuggers and diagnostics; `nil` for none.
    ///   - priority: The priority; `nil` for that of the caller.
    ///   - operation: Runs on the main actor, with the task-locals of the caller.
    /// - Returns: The task, to await or to cancel it.
    /// - Complexity: O(1), and O(*n*) in the number of earlier tasks that are raised to the priority of the new task.
    @discardableResult
    @export(implementation)
    public func addTask<Value: Sendable>(
        name: String? = nil,
        priority: TaskPriority? = nil,
        operation: sending @escaping @MainActor () async -> Value
    ) -> Task<Value, Never> {
        let work = _PlainWork(received(operation))
        let level = priority?.rawValue ?? 0
        guard let (turn, actor) = Self._turn(in: self, level: level) else {
            Self._queue(of: self)._trapWithoutActor()
        }
        return _TurnBody.start(turn, work, isolatedTo: actor, name: name, level: level)
    }

    /// Adds a task that may throw, whose operation begins on the main actor in the order of the calls.
    ///
    /// Traps if the queue has no actor yet (see ``ActorQueue/adoptExecutionContext(of:)``). `MainActor.queue` always
    /// has its actor.
    ///
    /// ## Cancellation
    /// If the task is cancelled before it has begun, it ends immediately with `CancellationError`, and its operation
    /// never runs.
    ///
    /// - Parameters:
    ///   - name: The name of the task, shown in debuggers and diagnostics; `nil` for none.
    ///   - priority: The priority; `nil` for that of the caller.
    ///   - operation: Runs on the main actor, with the task-locals of the caller.
    /// - Returns: The task, which holds the error of the operation: the compiler warns if the task is not used.
    /// - Complexity: O(1), and O(*n*) in the number of earlier tasks that are raised to the priority of the new task.
    @export(implementation)
    public func addTask<Value: Sendable>(
        name: String? = nil,
        priority: TaskPriority? = nil,
        operation: sending @escaping @MainActor () async throws -> Value
    ) -> Task<Value, any Error> {
        let work = _PlainThrowingWork(received(operation))
        let level = priority?.rawValue ?? 0
        guard let (turn, actor) = Self._turn(in: self, level: level) else {
            Self._queue(of: self)._trapWithoutActor()
        }
        return _TurnBody.start(turn, work, isolatedTo: actor, name: name, level: level)
    }
}
