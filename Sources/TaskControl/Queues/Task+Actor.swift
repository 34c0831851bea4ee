extension Task where Failure == Never {
    /// Creates a task that runs an operation on an actor, from any context. Tasks of equal priority begin in the order
    /// of the calls.
    ///
    /// ```swift
    /// Task(isolatedTo: log) { log in log.append(line) }
    /// ```
    ///
    /// No queue is needed.
    ///
    /// ## Ordering
    /// Tasks of equal priority begin in the order of the calls. If tasks of different priorities, or tasks and calls of
    /// the actor's methods, must keep an order, send all of them through an ``ActorQueue``.
    ///
    /// - Parameters:
    ///   - name: The name of the task, shown in debuggers and diagnostics; `nil` for none.
    ///   - priority: The priority; `nil` for that of the caller.
    ///   - actor: The actor to run on, which is retained until the task has ended.
    ///   - operation: Runs on the actor, which it receives as its argument, with the task-locals of the caller. The
    ///     task starts directly on the actor, without running elsewhere first.
    @discardableResult
    @export(implementation)
    public init<ActorType: Actor>(
        name: String? = nil,
        priority: TaskPriority? = nil,
        isolatedTo actor: ActorType,
        operation: @escaping @Sendable (isolated ActorType) async -> Success
    ) {
        let work = _ActorWork(actor, operation)
        self = spawn(name: name, priority: priority, isolatedTo: actor, work)
    }
}

extension Task where Failure == any Error {
    /// Creates a task that runs a throwing operation on an actor, from any context. Tasks of equal priority begin in
    /// the order of the calls.
    ///
    /// The task holds the error of the operation: the compiler warns if the task is not used.
    ///
    /// No queue is needed.
    ///
    /// ## Ordering
    /// Tasks of equal priority begin in the order of the calls. If tasks of different priorities, or tasks and calls of
    /// the actor's methods, must keep an order, send all of them through an ``ActorQueue``.
    ///
    /// - Parameters:
    ///   - name: The name of the task, shown in debuggers and diagnostics; `nil` for none.
    ///   - priority: The priority; `nil` for that of the caller.
    ///   - actor: The actor to run on, which is retained until the task has ended.
    ///   - operation: Runs on the actor, which it receives as its argument, with the task-locals of the caller. The
    ///     task starts directly on the actor, without running elsewhere first.
    @export(implementation)
    public init<ActorType: Actor>(
        name: String? = nil,
        priority: TaskPriority? = nil,
        isolatedTo actor: ActorType,
        operation: @escaping @Sendable (isolated ActorType) async throws -> Success
    ) {
        let work = _ActorThrowingWork(actor, operation)
        self = spawn(name: name, priority: priority, isolatedTo: actor, work)
    }
}
