/// An object that owns tasks without keys, and cancels them on request or when it is deallocated. An ``AsyncLifetime``
/// does the same, and returns handles of the tasks that it starts.
///
/// - Note: A spelling of TaskBag: see <doc:MovingFromTaskBag>.
///
/// ```swift
/// let bag = TaskBag()
/// bag.addTask { [weak self] in await self?.refresh() }
/// Task { await prefetch() }.stored(in: bag)
/// bag.cancelAll()
/// ```
///
/// A task whose operation captures the object that declares the bag retains that object, and with it the bag: capture
/// the object weakly, as above, or see `run(for:)` of an ``AsyncLifetime``, which holds the object weakly.
///
/// Safe to use from any thread and any isolation. Finished tasks leave the bag by themselves.
///
/// ## Cancellation
/// ``TaskOwner/cancelAll()`` cancels every task in the bag, and ``TaskOwner/close()`` also refuses later ones. A bag
/// that is deallocated is closed. A closed bag starts no operations, and cancels tasks that are added to it.
public final class TaskBag: TaskOwner, RegistryOwner {
    let registry: TaskRegistry

    /// Creates an empty bag.
    ///
    /// - Parameter name: The name shown in diagnostics.
    public init(name: String? = nil) {
        registry = TaskRegistry(.taskBag, name: name)
    }

    deinit {
        registry.release()
    }

    /// Cancels every task in the bag: another name of ``TaskOwner/cancelAll()``.
    public func cancel() { cancelAll() }

    /// Starts a task that belongs to the bag. If the bag is closed, nothing is started.
    ///
    /// - Parameters:
    ///   - name: The name shown in debuggers and diagnostics.
    ///   - priority: The priority; `nil` for that of the caller.
    ///   - operation: Runs with the isolation and task-locals of the code that calls this function.
    /// - Complexity: O(1).
    public func addTask(
        name: String? = nil,
        priority: TaskPriority? = nil,
        @_inheritActorContext operation: sending @escaping @isolated(any) () async -> Void
    ) {
        registry.addUnique(nil, name, priority, OwnedOperation(StoredOperation(received(operation)), in: .taskBag))
    }

    /// Starts a task that belongs to the bag, and handles its error. If the bag is closed, nothing is started.
    ///
    /// - Parameters:
    ///   - name: The name shown in debuggers and diagnostics.
    ///   - priority: The priority; `nil` for that of the caller.
    ///   - operation: Runs with the isolation and task-locals of the code that calls this function.
    ///   - onError: Receives the error that the operation throws, in the isolation of the code that calls this
    ///     function; not called for a task that was cancelled.
    /// - Complexity: O(1).
    public func addTask(
        name: String? = nil,
        priority: TaskPriority? = nil,
        @_inheritActorContext operation: sending @escaping @isolated(any) () async throws -> Void,
        @_inheritActorContext onError: @escaping @isolated(any) @Sendable (any Error) async -> Void
    ) {
        let work = OwnedOperation(StoredOperation(received(operation)), in: .taskBag, onError: onError)
        registry.addUnique(nil, name, priority, work)
    }

    /// Starts a task that belongs to the bag and inherits nothing from its caller: neither isolation nor priority nor
    /// task-locals. If the bag is closed, nothing is started.
    ///
    /// - Parameters:
    ///   - name: The name shown in debuggers and diagnostics.
    ///   - priority: The priority; `nil` for the default of the system.
    ///   - operation: Runs on the global executor, unless the closure is isolated to an actor.
    /// - Complexity: O(1).
    public func addDetachedTask(
        name: String? = nil,
        priority: TaskPriority? = nil,
        operation: sending @escaping @isolated(any) () async -> Void
    ) {
        registry.addUnique(
            nil,
            name,
            priority,
            isDetached: true,
            OwnedOperation(StoredOperation(received(operation)), in: .taskBag)
        )
    }

    /// Adds a task that was started elsewhere, and removes the task when it ends.
    ///
    /// To notice the end of the task, the bag awaits it at utility priority, which escalates a task that has a lower
    /// priority. A task that its creator cancels stays in the bag, and in ``TaskOwner/count``, until it has ended. If
    /// the bag is closed, the task is cancelled.
    ///
    /// - Complexity: O(1).
    public func add(_ task: Task<Void, Never>) {
        _ = registry.adopt(task, end: { await task.value })
    }
}

extension Task where Success == Void, Failure == Never {
    /// Adds this task to a bag, which cancels the task if the bag is closed: see ``TaskBag/add(_:)``.
    ///
    /// - Note: A spelling of TaskBag: see <doc:MovingFromTaskBag>.
    public func stored(in bag: TaskBag) {
        bag.add(self)
    }
}
