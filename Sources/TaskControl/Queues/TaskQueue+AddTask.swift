extension TaskQueue {
    /// Adds a task, whose operation runs when its turn in the queue comes.
    ///
    /// ```swift
    /// saves.addTask { await write(text) }
    /// ```
    ///
    /// ## Cancellation
    /// If the task is cancelled before its turn, the operation still runs, with `Task.isCancelled` true: it must return
    /// a value.
    ///
    /// - Parameters:
    ///   - name: The name of the task, shown in debuggers and diagnostics; `nil` for none.
    ///   - priority: The priority; `nil` for the priority of the queue or, if the queue has none, of the caller.
    ///   - operation: Runs in the isolation and with the task-locals of the code that adds the task.
    /// - Returns: The task, to await or to cancel it.
    /// - Complexity: O(1), and O(*n*) in the number of earlier tasks that are raised to the priority of the new task.
    @discardableResult
    @export(implementation)
    public func addTask<Value: Sendable>(
        name: String? = nil,
        priority: TaskPriority? = nil,
        @_inheritActorContext operation: sending @escaping @isolated(any) () async -> Value
    ) -> Task<Value, Never> {
        let work = _PlainWork(received(operation))
        let level = _level(of: priority)
        return _TurnBody.start(
            _takeTurn(level: level),
            work,
            isolatedTo: work.operation.isolation,
            name: name,
            level: level
        )
    }

    /// Adds a task without a value, with a rule for its operation if the task is cancelled before its turn in the
    /// queue.
    ///
    /// ```swift
    /// previews.addTask(whenCancelledWaiting: .skip) { await render(page) }
    /// ```
    ///
    /// - Parameters:
    ///   - name: The name of the task, shown in debuggers and diagnostics; `nil` for none.
    ///   - priority: The priority; `nil` for the priority of the queue or, if the queue has none, of the caller.
    ///   - behavior: The rule for the operation if the task is cancelled before its turn. With `.skip`, the operation
    ///     never runs, and the task ends at once; with `.run`, the operation runs at its turn, with `Task.isCancelled`
    ///     true.
    ///   - operation: Runs in the isolation and with the task-locals of the code that adds the task.
    /// - Returns: The task, to await or to cancel it.
    /// - Complexity: O(1), and O(*n*) in the number of earlier tasks that are raised to the priority of the new task.
    @discardableResult
    public func addTask(
        name: String? = nil,
        priority: TaskPriority? = nil,
        whenCancelledWaiting behavior: CancelledTurnBehavior,
        @_inheritActorContext operation: sending @escaping @isolated(any) () async -> Void
    ) -> Task<Void, Never> {
        let work = _PlainWork(received(operation))
        let (isolation, level) = (work.operation.isolation, _level(of: priority))
        let turn = _takeTurn(level: level)
        return switch behavior {
        case .run: _TurnBody.start(turn, work, isolatedTo: isolation, name: name, level: level)
        case .skip:
            _TurnBody.start(turn, _SkippableWork(work), isolatedTo: isolation, name: name, level: level)
        }
    }

    /// Adds a task that may throw, whose operation runs when its turn in the queue comes.
    ///
    /// ## Cancellation
    /// If the task is cancelled before its turn, it ends immediately with `CancellationError` by default, and its
    /// operation never runs. With `whenCancelledWaiting: .run`, the operation runs at its turn instead, with
    /// `Task.isCancelled` true.
    ///
    /// - Parameters:
    ///   - name: The name of the task, shown in debuggers and diagnostics; `nil` for none.
    ///   - priority: The priority; `nil` for the priority of the queue or, if the queue has none, of the caller.
    ///   - behavior: The rule for the operation if the task is cancelled before its turn: see Cancellation.
    ///   - operation: Runs in the isolation and with the task-locals of the code that adds the task.
    /// - Returns: The task, which holds the error of the operation: the compiler warns if the task is not used.
    /// - Complexity: O(1), and O(*n*) in the number of earlier tasks that are raised to the priority of the new task.
    @export(implementation)
    public func addTask<Value: Sendable>(
        name: String? = nil,
        priority: TaskPriority? = nil,
        whenCancelledWaiting behavior: CancelledTurnBehavior = .skip,
        @_inheritActorContext operation: sending @escaping @isolated(any) () async throws -> Value
    ) -> Task<Value, any Error> {
        let work = _PlainThrowingWork(received(operation))
        let (isolation, level) = (work.operation.isolation, _level(of: priority))
        let turn = _takeTurn(level: level)
        return switch behavior {
        case .skip: _TurnBody.start(turn, work, isolatedTo: isolation, name: name, level: level)
        case .run: _TurnBody.start(turn, _ObligedWork(work), isolatedTo: isolation, name: name, level: level)
        }
    }
}
