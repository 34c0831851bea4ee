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
/// `forEach(_:for:)` does not while it waits for an element. ``addTask(name:priority:mustFinish:operation:onError:)`` is for work
/// that does not use the object that declares the lifetime, or that captures the object weakly (`[weak self]`).
/// `task.bind(to: lifetime)` gives an existing task to the lifetime.
///
/// Safe to use from any thread and any isolation. Finished tasks are removed at once. ``TaskOwner/count`` and
/// ``TaskOwner/isEmpty`` are observable: a SwiftUI view that reads them is updated when they change (macOS 14, iOS 17,
/// tvOS 17, watchOS 10).
///
/// Related types: a ``TaskStore`` gives each task a key and decides what happens to tasks that have the same key; a
/// ``TaskSlot`` does so for tasks of one purpose.
///
/// ## Cancellation
/// ``TaskOwner/cancelAll()`` cancels the tasks of the lifetime, ``TaskOwner/close()`` also refuses later ones, and
/// ``TaskOwner/shutdown(grace:waiting:cancellationGrace:clock:)`` first gives the tasks some time to end. A lifetime that is deallocated is
/// closed. The functions of a closed lifetime that start a task return a cancelled task whose work never runs, and a
/// task that is bound to it is cancelled immediately.
public final class AsyncLifetime: TaskOwner, ObservableOwner {
    let registry: TaskRegistry
    let observation: OwnerObservation

    /// Creates a lifetime that lasts until it is deallocated or closed.
    ///
    /// - Parameter name: The name shown in diagnostics.
    public init(name: String? = nil) {
        let observation = OwnerObservation()
        self.observation = observation
        registry = TaskRegistry(.asyncLifetime, name: name, onChange: observation.changed)
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
    ///   - mustFinish: Whether the task continues when the lifetime cancels its tasks, is closed or is deallocated, such as
    ///     the handling of a payment, which must not end with a screen. It also begins then, and makes all its attempts.
    ///     ``TaskOwner/shutdown(grace:waiting:cancellationGrace:clock:)`` and ``TaskOwner/drain()`` wait for it. Only its own handle cancels it.
    ///   - operation: Runs with the isolation and task-locals of the code that calls this function.
    ///   - onError: Receives the error that the operation throws, in the isolation of the code that calls this
    ///     function; not called for a task that was cancelled. If `nil`, the error is reported to diagnostics.
    /// - Returns: The task, to await or to cancel it. If the lifetime is closed, a cancelled task that never runs the operation.
    /// - Complexity: O(1).
    @discardableResult
    public func addTask(
        name: String? = nil,
        priority: TaskPriority? = nil,
        mustFinish: Bool = false,
        @_inheritActorContext operation: sending @escaping @isolated(any) () async throws -> Void,
        @_inheritActorContext onError: (@isolated(any) @Sendable (any Error) async -> Void)? = nil
    ) -> Task<Void, Never> {
        registry.addTask(
            .asyncLifetime,
            nil,
            .runConcurrently,
            name,
            priority,
            mustFinish: mustFinish,
            received(operation),
            onError
        )
    }
}
