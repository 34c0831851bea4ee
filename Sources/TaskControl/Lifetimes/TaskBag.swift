/// Owns tasks that need no name: cancels them when it goes, or when it is told to.
///
/// ```swift
/// let bag = TaskBag()
/// bag.addTask { [weak self] in await self?.refresh() }
/// Task { await prefetch() }.stored(in: bag)
/// bag.cancel()
/// ```
///
/// A task whose body uses the bag's owner keeps that owner alive, and so the bag: capture it weakly, as above, or see
/// `run(for:)` of an ``AsyncLifetime``, which does so for you.
///
/// Safe to use from any thread and any isolation. Finished tasks leave the bag by themselves.
///
/// ## Cancellation
/// ``cancel()``, or the end of the bag, cancels every task in it, in no particular order. Cancellation handlers run before the call returns,
/// without a lock. A task that was made by the bag and has not started yet never runs its operation; an adopted one is cancelled as it is.
public final class TaskBag: Sendable {
    let registry: TaskRegistry

    /// Creates an empty bag.
    ///
    /// - Parameter name: Shown by diagnostics.
    public init(name: String? = nil) {
        registry = TaskRegistry(.taskBag, name: name)
    }

    deinit {
        registry.release()
    }

    /// What diagnostics know it by.
    public var name: String? { registry.name }

    /// How many tasks are in the bag that have neither finished nor been cancelled.
    public var count: Int { registry.liveCount }

    /// Cancels every task in the bag and empties it. The bag can be used again.
    ///
    /// A task that has not started yet never runs its operation. May be called from a cancellation handler that it triggers.
    ///
    /// - Complexity: O(*n*) in the number of tasks.
    public func cancel() {
        registry.cancelAll()
    }

    /// Waits until the bag is empty: what is there now, what is added meanwhile, and what was cancelled and still runs have all ended.
    ///
    /// A task of this bag that drains it waits for itself, until it is cancelled.
    ///
    /// What is there when the wait begins is raised to the caller's priority, where the system can (macOS 26, Linux).
    ///
    /// ## Cancellation
    /// A caller that is cancelled leaves at once. What is in the bag goes on.
    ///
    /// - Throws: `CancellationError` if the caller is cancelled, nothing else.
    public func drain() async throws {
        try await registry.drain()
    }

    /// Starts a task that belongs to the bag.
    ///
    /// - Parameters:
    ///   - name: Shown by debuggers and diagnostics.
    ///   - priority: `nil`: the caller's.
    ///   - operation: Runs with the isolation and task-locals of the code that calls this.
    /// - Complexity: O(1).
    public func addTask(
        name: String? = nil,
        priority: TaskPriority? = nil,
        @_inheritActorContext @_implicitSelfCapture operation: sending @escaping @isolated(any) () async -> Void
    ) {
        _ = registry.add(.init(name: name, priority: priority), received(operation))
    }

    /// Starts a task that belongs to the bag and has nothing of its caller: neither isolation nor priority nor task-locals.
    ///
    /// - Parameters:
    ///   - name: Shown by debuggers and diagnostics.
    ///   - priority: `nil`: the system's default.
    ///   - operation: Runs on the global executor, unless its type says otherwise.
    /// - Complexity: O(1).
    public func addDetachedTask(
        name: String? = nil,
        priority: TaskPriority? = nil,
        operation: sending @escaping @isolated(any) () async -> Void
    ) {
        _ = registry.add(.init(name: name, priority: priority, isDetached: true), received(operation))
    }

    /// Takes in a task that has been started elsewhere, and lets go of it when it ends.
    ///
    /// To see its end the bag awaits it at utility priority, which raises a task that has less. One that its maker cancels
    /// counts until it has ended.
    ///
    /// - Complexity: O(1).
    public func add(_ task: Task<Void, Never>) {
        _ = registry.adopt(task)
    }
}

extension Task where Success == Void, Failure == Never {
    /// Gives this task to a bag: see ``TaskBag/add(_:)``.
    public func stored(in bag: TaskBag) {
        bag.add(self)
    }
}
