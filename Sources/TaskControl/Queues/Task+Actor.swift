extension Task where Failure == Never {
    /// Runs an operation on an actor, from wherever this is called, in order among those of equal priority.
    ///
    /// ```swift
    /// Task(isolatedTo: log) { log in log.append(line) }
    /// ```
    ///
    /// There is no queue to declare, and nothing to adopt.
    ///
    /// ## Ordering
    /// Tasks of equal priority begin in the order of the calls. Where priorities differ, or calls and other tasks of the actor are to keep
    /// an order, use an ``ActorQueue``.
    ///
    /// - Parameters:
    ///   - name: Shown by debuggers and diagnostics.
    ///   - priority: `nil`: the caller's.
    ///   - actor: Kept alive until the task has ended.
    ///   - operation: Begins on the actor, which it is handed, without a hop. Task-locals are the caller's.
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
    /// Runs an operation that may fail on an actor, from wherever this is called, in order among those of equal priority.
    ///
    /// There is no queue to declare, and nothing to adopt.
    ///
    /// ## Ordering
    /// Tasks of equal priority begin in the order of the calls. Where priorities differ, or calls and other tasks of the actor are to keep
    /// an order, use an ``ActorQueue``.
    ///
    /// - Parameters:
    ///   - name: Shown by debuggers and diagnostics.
    ///   - priority: `nil`: the caller's.
    ///   - actor: Kept alive until the task has ended.
    ///   - operation: Begins on the actor, which it is handed, without a hop. Task-locals are the caller's.
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
