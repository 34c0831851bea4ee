/// Owns tasks, and cancels them when it ends: declare it as a `let` of the object whose work they do.
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
/// }   // no deinit: when the model goes, the lifetime goes, and what it still loads is cancelled
/// ```
///
/// That the model *can* go while it loads is the point of `run(for:)` and `forEach(_:for:)`: neither keeps its owner alive.
/// ``AsyncTask/bind(to:)`` is for work that has no owner to touch, or that takes care of it with `[weak self]`.
///
/// Safe to use from any thread and any isolation. What has finished is forgotten at once.
///
/// Siblings: ``TaskBag`` makes its tasks itself, or takes in those that were made elsewhere; ``TaskStore`` gives each task a key and decides what happens to
/// those that have the same.
///
/// ## Cancellation
/// ``TaskOwner/cancelAll()`` cancels the tasks that are bound, ``TaskOwner/close()`` also refuses later ones, and ``TaskOwner/shutdown(grace:clock:)``
/// waits first. A lifetime that is deallocated is closed. On a closed lifetime, an ``AsyncTask`` that is bound is cancelled immediately, and `run(for:)` and
/// `forEach(_:for:)` return a cancelled task that has done nothing.
public final class AsyncLifetime: RegistryOwner {
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
}
