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
/// ``cancelAll()`` cancels what is bound, ``close()`` does so for good, and ``shutdown(grace:clock:)`` waits first; when the lifetime goes,
/// it is closed. All of them cancel in no particular order, and run cancellation handlers before they return, without a lock: a handler
/// may call the lifetime. A cancelled task no longer counts, but may still run: ``drain()`` waits for it.
public final class AsyncLifetime: Sendable {
    let registry: TaskRegistry

    /// Creates a lifetime that lasts until it is let go of, or closed.
    ///
    /// - Parameter name: Shown by diagnostics.
    public init(name: String? = nil) {
        registry = TaskRegistry(.asyncLifetime, name: name)
    }

    deinit {
        registry.release()
    }

    /// What diagnostics know it by.
    public var name: String? { registry.name }

    /// How many tasks are bound that have neither finished nor been cancelled.
    public var count: Int { registry.liveCount }

    /// Whether ``count`` is zero. Cancelled tasks may still be running: ``drain()`` waits for those too.
    public var isEmpty: Bool { count == 0 }

    /// Cancels everything that is bound. The lifetime goes on: what is bound later is not concerned.
    ///
    /// ``count`` is zero when this returns, unless something was bound meanwhile. May be called from a cancellation handler that it triggers.
    ///
    /// - Complexity: O(*n*) in the number of tasks bound.
    public func cancelAll() {
        registry.cancelAll()
    }

    /// Cancels everything that is bound, and refuses what comes: an ``AsyncTask`` that is bound later is cancelled at once, and `run(for:)`
    /// and `forEach(_:for:)` start nothing.
    ///
    /// - Complexity: O(*n*) in the number of tasks bound.
    public func close() {
        registry.close()
    }

    /// Waits until nothing is bound: what is bound now, what is bound meanwhile, and what was cancelled and still runs have all ended.
    ///
    /// A task that drains the lifetime it is bound to waits for itself, until it is cancelled. What the bodies have captured goes with their
    /// tasks, which may be a moment after this has returned.
    ///
    /// What is there when the wait begins is raised to the caller's priority, where the system can (macOS 26, Linux).
    ///
    /// ## Cancellation
    /// A caller that is cancelled leaves at once. What is bound goes on.
    ///
    /// - Throws: `CancellationError` if the caller is cancelled, nothing else.
    public func drain() async throws {
        try await registry.drain()
    }

    /// Refuses new work, gives what is bound some time to end, cancels the rest and waits for it. Never called from a task that is bound
    /// to this lifetime: that would wait for itself for ever.
    ///
    /// ## Cancellation
    /// A caller that is cancelled cuts the grace period short, and still waits for the end: when this returns, nothing is bound, and nothing
    /// will be.
    ///
    /// - Parameters:
    ///   - grace: How long what is bound may go on. Zero or less: not at all.
    ///   - clock: Measures `grace`. Its `sleep` must end when its task is cancelled, as the protocol asks: otherwise the call lasts as long as
    ///     `grace`, though everything has ended before.
    public func shutdown(grace: Duration, clock: any Clock<Duration> = ContinuousClock()) async {
        registry.refuse()
        await withTaskGroup { group in
            group.addTask { [registry] in try? await registry.drain() }
            group.addTask { if grace > .zero { try? await clock.sleep(for: grace.saturated) } }
            await group.next()
            group.cancelAll()
        }
        registry.cancelAll()
        // Throws only when the caller may leave.
        try? await registry.drain(staysWhenCancelled: true)
    }
}
