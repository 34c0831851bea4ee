extension Task where Failure == Never {
    /// Creates a task that runs an operation on an actor, from any context, in the order of the calls among tasks of equal priority.
    ///
    /// ```swift
    /// Task(isolatedTo: log) { log in log.append(line) }
    /// ```
    ///
    /// No queue must be declared, and no actor adopted.
    ///
    /// ## Ordering
    /// Tasks of equal priority begin in the order of the calls. If priorities differ, or if calls and other tasks of the actor must keep
    /// an order, use an ``ActorQueue``.
    ///
    /// - Parameters:
    ///   - name: The name shown in debuggers and diagnostics.
    ///   - priority: The priority; `nil` for that of the caller.
    ///   - actor: The actor to run on, which is retained until the task has ended.
    ///   - operation: Begins on the actor, which is its argument, without a hop. Task-locals are the caller's.
    @discardableResult
    @inlinable
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
    /// Creates a task that runs an operation that may throw on an actor, from any context, in the order of the calls among tasks of equal priority.
    ///
    /// No queue must be declared, and no actor adopted.
    ///
    /// ## Ordering
    /// Tasks of equal priority begin in the order of the calls. If priorities differ, or if calls and other tasks of the actor must keep
    /// an order, use an ``ActorQueue``.
    ///
    /// - Parameters:
    ///   - name: The name shown in debuggers and diagnostics.
    ///   - priority: The priority; `nil` for that of the caller.
    ///   - actor: The actor to run on, which is retained until the task has ended.
    ///   - operation: Begins on the actor, which is its argument, without a hop. Task-locals are the caller's.
    @discardableResult
    @inlinable
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
