/// An owner of tasks with keys, which decides what happens to a new task whose key already has a task.
///
/// ```swift
/// @MainActor @Observable final class SearchModel {
///     private let tasks = TaskStore<Field>()
///     private(set) var results: [Item] = []
///     var isSearching: Bool { tasks.taskIsRunning(forKey: .search) }      // observable, and false during the pause
///
///     func textChanged(_ text: String) {
///         tasks.run(forKey: .search, duplicateKeyBehavior: .debounce(for: .milliseconds(300)), for: self) { [api] in
///             try await api.search(text)
///         } deliver: { model, found in
///             model.results = found
///         }
///     }
/// }
/// ```
///
/// A key represents a *set* of tasks: all its running tasks, and all its tasks that wait to start. They are counted,
/// observed and cancelled together. The `==` of a key must not call the store: it is called while the store's lock is
/// held.
///
/// A key needs `Hashable` and nothing else. Its code (`hash(into:)`, `==` and `description`) runs only within calls that name a key, so its
/// conformance may be isolated to an actor, as that of each type in a project with default isolation: such a store is used on that actor. A key
/// that is not `Sendable` can be added and looked up, but ``runningKeys`` and ``cancelAll(where:)``, which return it, are then an error.
///
/// Safe to use from any thread and any isolation. Finished tasks leave the store by themselves; when the store is
/// deallocated, it cancels the rest. The operation of ``addTask(forKey:duplicateKeyBehavior:name:priority:operation:onError:)``
/// retains its captures: if one of them owns the store, the store can't be deallocated before the operation has ended.
/// `run(forKey:for:)`, as above, retains its object (`self` in the example) only while a result is delivered.
///
/// ## Ordering
/// Tasks that wait under one key start in the order of the calls, regardless of their priorities. A task must not await
/// a later task of its own key that waits for it: both would wait until the later task is cancelled.
///
/// ## A limit
/// A store with a limit runs only that many of its tasks at once, whatever their keys:
///
/// ```swift
/// let uploads = TaskStore<URL>(name: "uploads", maxConcurrentTasks: 4)
/// for file in files {
///     uploads.addTask(forKey: file) { try await server.upload(file) }
/// }
/// ```
///
/// A task takes its place in line when the rule for its key lets it start: with most behaviors in the call that adds it, and
/// after a wait for an older task of its key, a quiet time or an interval at the end of that wait. Tasks start in the order
/// of the line, regardless of their priorities, unless the store has the order ``Order/priority``:
/// ``moveToFront(forKey:)`` and ``setPriority(_:forKey:)`` then say which of the waiting comes next. A task that replaces others of its key, because its behavior cancels them,
/// does not move back: it starts in place of a replaced task that has not begun, and, if a replaced task runs, when
/// that task has ended, or in its own turn if that is earlier. While a task is in line, the tasks before it and those that run are
/// escalated to its priority, where the system supports it (<doc:Ordering#Priorities>). A cancelled task leaves the line at
/// once; a task that is cancelled while it runs counts until it has ended. ``taskIsWaiting(forKey:)`` and
/// ``taskIsRunning(forKey:)`` tell the two states apart. If all running tasks await later tasks of the store, they wait
/// forever.
///
/// A store can also limit how many tasks wait, `TaskStore<URL>(maxConcurrentTasks: 4, maxWaiting: 100)`, and ``pause()``
/// lets no task begin until ``resume()``.
///
/// ## Cancellation
/// ``cancelTask(forKey:)`` cancels the running and waiting tasks of a key, ``TaskOwner/cancelAll()`` those of every
/// key, and ``TaskOwner/close()`` also refuses later ones. ``drain(forKey:)`` and ``TaskOwner/drain()`` wait until the
/// tasks have ended. A store that is deallocated is closed. Waiting tasks that are cancelled never run their operation.
/// In the grace period of ``TaskOwner/shutdown(grace:waiting:cancellationGrace:clock:)``, waiting tasks can still start, unless it cancels them.
public final class TaskStore<Key: Hashable>: TaskOwner, ObservableOwner {
    let registry: TaskRegistry
    let observation: OwnerObservation

    /// Creates an empty store.
    ///
    /// - Parameters:
    ///   - name: The name shown in diagnostics; `nil` for none.
    ///   - maxConcurrentTasks: The number of tasks that may run at once; `nil` for any number. Less than 1 counts as 1.
    ///   - order: The order in which the tasks that wait for a place start.
    ///   - maxWaiting: The number of tasks that may wait: for a place, for older tasks of their keys, for the end of an
    ///     interval, or for the end of a pause; `nil` for any number. Less than 0 counts as 0. A task that waits for its
    ///     quiet time (``TaskStoreDuplicateKeyBehavior/debounce(for:then:)``) counts from the end of that time.
    ///   - overflowBehavior: The rule for a task that would wait when `maxWaiting` tasks wait. One of the two then fails with
    ///     ``TaskStoreFullError``.
    ///   - clock: Measures the times of ``TaskStoreDuplicateKeyBehavior/debounce(for:then:)`` and
    ///     ``TaskStoreDuplicateKeyBehavior/throttle(for:)``. Its `sleep` must end when its task is cancelled, as
    ///     `Clock` requires: otherwise a task that is cancelled while it waits for such a time ends only when the time
    ///     has passed.
    public init(
        name: String? = nil,
        maxConcurrentTasks: Int? = nil,
        order: Order = .calls,
        maxWaiting: Int? = nil,
        whenFull overflowBehavior: OverflowBehavior = .refuse,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        let observation = OwnerObservation()
        self.observation = observation
        let limit = maxConcurrentTasks.map {
            ComputedNumber.count($0, "TaskStore(maxConcurrentTasks:)", .taskStore)
        }
        registry = TaskRegistry(
            .taskStore,
            name: name,
            limit: limit,
            isOrdered: order == .priority,
            bound: maxWaiting.map { .init(count: max($0, 0), dropsOldest: overflowBehavior == .dropOldest) },
            clock: clock,
            onChange: observation.changed
        )
    }

    deinit {
        registry.release()
    }

    /// Adds a task to a key, according to the behavior for duplicate keys.
    ///
    /// ## Cancellation
    /// Cancelling the returned task (if it is a proxy, the present task) cancels no other task of the key. A task that
    /// is cancelled before it has started never runs its operation, and code that awaits the task continues at once. A
    /// task that is cancelled through its handle while it runs stays in the store until it has ended, but with
    /// ``TaskStoreDuplicateKeyBehavior/preferPrevious-type.property`` it does not prevent a new task.
    ///
    /// - Parameters:
    ///   - key: The key of the task. A key may have any number of tasks.
    ///   - duplicateKeyBehavior: The rule for the new task and for the present tasks of the key: see
    ///     ``TaskStoreDuplicateKeyBehavior``.
    ///   - name: The name shown in debuggers and diagnostics.
    ///   - priority: The priority; `nil` for that of the caller.
    ///   - operation: Runs with the isolation and task-locals of the code that calls this function.
    ///   - onError: Receives the error that the operation throws, in the isolation of the code that calls this
    ///     function; not called for a task that was cancelled. If `nil`, the error is reported to diagnostics.
    /// - Returns: The new task. With ``TaskStoreDuplicateKeyBehavior/preferPrevious-type.property``, if there is a
    ///   present task: the present task of the key or a proxy for it, that is, a task that waits for the present task,
    ///   and whose cancellation cancels the present task. If the store is closed, a cancelled task that never runs the
    ///   operation.
    /// - Complexity: O(1) amortized; for a behavior that cancels, O(*n*) in the number of cancelled tasks. With
    ///   ``TaskStoreDuplicateKeyBehavior/preferPrevious-type.property``, O(*n*) in the number of tasks under the key.
    @discardableResult
    @export(implementation)
    public func addTask(
        forKey key: sending Key,
        duplicateKeyBehavior: TaskStoreDuplicateKeyBehavior = .cancelPrevious(wait: false),
        name: String? = nil,
        priority: TaskPriority? = nil,
        @_inheritActorContext operation: sending @escaping @isolated(any) () async throws -> Void,
        @_inheritActorContext onError: (@isolated(any) @Sendable (any Error) async -> Void)? = nil
    ) -> Task<Void, Never> {
        _addTask(_ErasedKey(key), duplicateKeyBehavior, name, priority, operation, onError)
    }

    /// Adds a task to a key whose type was erased. Not generic over the type of the key, and so compiled only once.
    @usableFromInline
    func _addTask(
        _ key: _ErasedKey,
        _ behavior: TaskStoreDuplicateKeyBehavior,
        _ name: String?,
        _ priority: TaskPriority?,
        _ operation: sending @escaping @isolated(any) () async throws -> Void,
        _ onError: (@isolated(any) @Sendable (any Error) async -> Void)?
    ) -> Task<Void, Never> {
        registry.addTask(.taskStore, key, behavior, name, priority, received(operation), onError)
    }

    /// Cancels the running and waiting tasks of a key. The key is free at once, except for new tasks whose behavior
    /// waits: they still wait for the cancelled tasks to end.
    ///
    /// - Returns: Whether the key had a task that the store had not cancelled before.
    /// - Complexity: O(*n*) in the number of cancelled tasks, amortized.
    @discardableResult
    public func cancelTask(forKey key: Key) -> Bool {
        registry.cancel(key: _ErasedKey(key), because: nil)
    }

    /// Cancels the running and waiting tasks of a key for a reason, which the tasks can read as `Task.cancellationCause`.
    ///
    /// - Parameters:
    ///   - key: The key, which is free at once, as with ``cancelTask(forKey:)``.
    ///   - reason: A description of the reason, for logs.
    /// - Returns: Whether the key had a task that the store had not cancelled before.
    /// - Complexity: O(*n*) in the number of cancelled tasks, amortized.
    @discardableResult
    public func cancelTask(forKey key: Key, because reason: String) -> Bool {
        registry.cancel(key: _ErasedKey(key), because: reason)
    }

    /// Waits until all tasks of a key have ended: those present, those added meanwhile, and those that the store has
    /// cancelled.
    ///
    /// A task that drains its own key waits for itself, until it is cancelled. The tasks present when the wait begins
    /// are escalated to the caller's priority, where the system supports it (<doc:Ordering#Priorities>).
    ///
    /// ## Cancellation
    /// A cancelled caller returns immediately. The tasks continue.
    ///
    /// - Throws: `CancellationError` if the caller is cancelled, and no other error.
    /// - Complexity: O(1), and O(*n*) in the number of tasks under the key where the system escalates them.
    public nonisolated(nonsending) func drain(forKey key: Key) async throws(CancellationError) {
        try await registry.drain(_ErasedKey(key))
    }
}
