/// An owner of tasks with IDs, in which an ID has at most one task at a time. A new task is ignored if its ID is taken.
/// A ``TaskStore`` with ``TaskStoreDuplicateKeyBehavior/preferPrevious-type.property`` does the same, and returns the
/// task that runs.
///
/// - Note: A spelling of TaskBag: see <doc:MovingFromTaskBag>.
///
/// ```swift
/// let downloads = IdentifiableTaskBag<URL>()
/// downloads.addTask(id: url) { await download(url) }     // true
/// downloads.addTask(id: url) { await download(url) }     // false: the ID is taken
/// downloads.cancel(id: url)
/// ```
///
/// An ID is taken until its task has ended *or was cancelled*, by the bag or through its `Task` handle. A cancelled
/// task may still run, but its ID is free at once, and its later end does not affect a new task with that ID. For other
/// rules for duplicates, see ``TaskStore``.
///
/// A task whose operation captures the object that declares the bag retains that object, and with it the bag: capture
/// the object weakly.
///
/// The `==` of the type `ID` must not call the bag, since the bag calls `==` while it holds its lock.
///
/// Safe to use from any thread and any isolation. Finished tasks leave the bag by themselves.
///
/// ## Cancellation
/// ``cancel(id:)`` cancels one task, ``TaskOwner/cancelAll()`` cancels all, and ``TaskOwner/close()`` also refuses
/// later ones. A bag that is deallocated is closed. A closed bag starts no operations, cancels tasks that are added to
/// it, and returns `false` for both.
public final class IdentifiableTaskBag<ID: Hashable>: TaskOwner, RegistryOwner {
    let registry: TaskRegistry

    /// Creates an empty bag.
    ///
    /// - Parameter name: The name shown in diagnostics.
    public init(name: String? = nil) {
        registry = TaskRegistry(.identifiableTaskBag, name: name)
    }

    deinit {
        registry.release()
    }

    /// Returns whether the bag has a task with this ID that has not ended and that the bag has not cancelled.
    ///
    /// A task that was added with ``add(_:id:)``, and then cancelled by its creator through the `Task` handle, counts
    /// until it has ended, although its ID is already free for a new task.
    public func contains(_ id: ID) -> Bool { registry.isLive(_ErasedKey(id)) }

    /// Cancels the task with this ID, if there is one. A new task can have the ID at once, even while the cancelled task still runs.
    public func cancel(id: ID) {
        registry.cancel(key: _ErasedKey(id), because: nil)
    }

    /// Starts a task, unless its ID is taken by another task.
    ///
    /// - Parameters:
    ///   - id: The ID of the task, which is free again when the task has ended or was cancelled.
    ///   - name: The name shown in debuggers and diagnostics.
    ///   - priority: The priority; `nil` for that of the caller.
    ///   - operation: Runs with the isolation and task-locals of the code that calls this function.
    /// - Returns: Whether the task was started: `false` if the ID is taken, or if the bag is closed.
    /// - Complexity: O(1).
    @discardableResult
    @export(implementation)
    public func addTask(
        id: sending ID,
        name: String? = nil,
        priority: TaskPriority? = nil,
        @_inheritActorContext operation: sending @escaping @isolated(any) () async -> Void
    ) -> Bool {
        _addTask(_ErasedKey(id), name, priority, operation)
    }

    /// Starts a task with an ID whose type was erased. Not generic over the type of the ID, and so compiled only once.
    @usableFromInline
    func _addTask(
        _ key: _ErasedKey,
        _ name: String?,
        _ priority: TaskPriority?,
        _ operation: sending @escaping @isolated(any) () async -> Void
    ) -> Bool {
        registry.addUnique(
            key,
            name,
            priority,
            OwnedOperation(StoredOperation(received(operation)), in: .identifiableTaskBag)
        )
    }

    /// Starts a task and handles its error, unless its ID is taken by another task.
    ///
    /// - Parameters:
    ///   - id: The ID of the task, which is free again when the task has ended or was cancelled.
    ///   - name: The name shown in debuggers and diagnostics.
    ///   - priority: The priority; `nil` for that of the caller.
    ///   - operation: Runs with the isolation and task-locals of the code that calls this function.
    ///   - onError: Receives the error that the operation throws, in the isolation of the code that calls this
    ///     function; not called for a task that was cancelled.
    /// - Returns: Whether the task was started: `false` if the ID is taken, or if the bag is closed.
    /// - Complexity: O(1).
    @discardableResult
    public func addTask(
        id: sending ID,
        name: String? = nil,
        priority: TaskPriority? = nil,
        @_inheritActorContext operation: sending @escaping @isolated(any) () async throws -> Void,
        @_inheritActorContext onError: @escaping @isolated(any) @Sendable (any Error) async -> Void
    ) -> Bool {
        let work = OwnedOperation(StoredOperation(received(operation)), in: .identifiableTaskBag, onError: onError)
        return registry.addUnique(_ErasedKey(id), name, priority, work)
    }

    /// Starts a task that inherits nothing from its caller, neither isolation nor priority nor task-locals, unless its
    /// ID is taken by another task.
    ///
    /// - Parameters:
    ///   - id: The ID of the task, which is free again when the task has ended or was cancelled.
    ///   - name: The name shown in debuggers and diagnostics.
    ///   - priority: The priority; `nil` for the default of the system.
    ///   - operation: Runs on the global executor, unless the closure is isolated to an actor.
    /// - Returns: Whether the task was started: `false` if the ID is taken, or if the bag is closed.
    /// - Complexity: O(1).
    @discardableResult
    public func addDetachedTask(
        id: sending ID,
        name: String? = nil,
        priority: TaskPriority? = nil,
        operation: sending @escaping @isolated(any) () async -> Void
    ) -> Bool {
        registry.addUnique(
            _ErasedKey(id),
            name,
            priority,
            isDetached: true,
            OwnedOperation(StoredOperation(received(operation)), in: .identifiableTaskBag)
        )
    }

    /// Adds a task that was started elsewhere, unless its ID is taken by another task. The ID is free again when the
    /// task has ended or was cancelled.
    ///
    /// If the ID is taken, the task continues without the bag. If the bag is closed, the task is cancelled.
    ///
    /// To notice the end of an added task, the bag awaits the task at utility priority, which escalates a task that has
    /// a lower priority. A task that its creator cancels stays in the bag, and in ``TaskOwner/count``, until it has
    /// ended, but its ID is free immediately.
    ///
    /// - Returns: Whether the task was added: `false` if the ID is taken, or if the bag is closed.
    /// - Complexity: O(1).
    @discardableResult
    public func add(_ task: Task<Void, Never>, id: sending ID) -> Bool {
        registry.adopt(task, key: _ErasedKey(id), end: { await task.value })
    }
}

extension Task where Success == Void, Failure == Never {
    /// Adds this task to a bag, unless its ID is taken by another task: see ``IdentifiableTaskBag/add(_:id:)``. If the
    /// ID is taken, this task continues without the bag. If the bag is closed, this task is cancelled.
    ///
    /// - Note: A spelling of TaskBag: see <doc:MovingFromTaskBag>.
    ///
    /// - Returns: Whether the task was added: `false` if the ID is taken, or if the bag is closed.
    @discardableResult
    public func stored<ID>(in bag: IdentifiableTaskBag<ID>, id: sending ID) -> Bool {
        bag.add(self, id: id)
    }
}
