/// An owner of tasks that cancels them when it is deallocated or closed. Declare it as a `let` of the object for which
/// the tasks work.
///
/// ```swift
/// @MainActor final class FeedModel {
///     var items: [Item] = []
///     private let lifetime = AsyncLifetime()
///
///     func load() {
///         lifetime.run(for: self) { [api] in
///             try await api.fetchFeed()
///         } deliver: { model, items in
///             model.items = items
///         }
///     }
/// }   // no deinit: the lifetime is deallocated with the model, and cancels the load
/// ```
///
/// The model *can* be deallocated while it loads: `run(for:)` does not retain the model while the work runs, and
/// `forEach(_:for:)` does not while it waits for an element. ``AsyncTask/bind(to:)`` is for work that does not use the
/// object that declares the lifetime, or that captures the object weakly (`[weak self]`).
///
/// Safe to use from any thread and any isolation. Finished tasks are removed at once.
///
/// Related types: a ``TaskBag`` returns no handles of the tasks that it starts, and can start detached tasks; a
/// ``TaskStore`` gives each task a key and decides what happens to tasks that have the same key.
///
/// ## Cancellation
/// ``TaskOwner/cancelAll()`` cancels the tasks of the lifetime, ``TaskOwner/close()`` also refuses later ones, and
/// ``TaskOwner/shutdown(grace:clock:)`` first gives the tasks some time to end. A lifetime that is deallocated is
/// closed. An ``AsyncTask`` that is bound to a closed lifetime is cancelled immediately. The functions of a closed
/// lifetime that start a task return a cancelled task whose work never runs.
public final class AsyncLifetime: TaskOwner, RegistryOwner {
    let registry: TaskRegistry

    /// Creates a lifetime that lasts until it is deallocated or closed.
    ///
    /// - Parameter name: The name shown in diagnostics.
    public init(name: String? = nil) {
        registry = TaskRegistry(.asyncLifetime, name: name)
    }

    deinit {
        registry.release()
    }

    /// Starts a task that belongs to the lifetime.
    ///
    /// An operation that captures the object that declares the lifetime retains that object, and with it the lifetime:
    /// capture the object weakly, or see `run(for:)`.
    ///
    /// - Parameters:
    ///   - name: The name shown in debuggers and diagnostics.
    ///   - priority: The priority; `nil` for that of the caller.
    ///   - operation: Runs with the isolation and task-locals of the code that calls this function.
    /// - Returns: The task, to await or to cancel it. If the lifetime is closed, a cancelled task that never runs the operation.
    /// - Complexity: O(1).
    @discardableResult
    public func addTask(
        name: String? = nil,
        priority: TaskPriority? = nil,
        @_inheritActorContext operation: sending @escaping @isolated(any) () async -> Void
    ) -> Task<Void, Never> {
        registry.addTask(name, priority, OwnedOperation(received(operation)))
    }

    /// Starts a task that belongs to the lifetime, and handles its error.
    ///
    /// - Parameters:
    ///   - name: The name shown in debuggers and diagnostics.
    ///   - priority: The priority; `nil` for that of the caller.
    ///   - operation: Runs with the isolation and task-locals of the code that calls this function.
    ///   - onError: Receives the error that the operation throws, in the isolation of the code that calls this
    ///     function; not called for a task that was cancelled.
    /// - Returns: The task, to await or to cancel it. If the lifetime is closed, a cancelled task that never runs the operation.
    /// - Complexity: O(1).
    @discardableResult
    public func addTask(
        name: String? = nil,
        priority: TaskPriority? = nil,
        @_inheritActorContext operation: sending @escaping @isolated(any) () async throws -> Void,
        @_inheritActorContext onError: @escaping @isolated(any) @Sendable (any Error) async -> Void
    ) -> Task<Void, Never> {
        let handler = ErrorHandler(onError: onError)
        let work = HandledOperation(origin: .asyncLifetime, operation: received(operation), handler: handler)
        return registry.addTask(name, priority, work)
    }
}
