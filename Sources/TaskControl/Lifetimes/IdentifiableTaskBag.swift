/// Owns tasks by ID, at most one a time for each: a duplicate is ignored until the first has ended.
///
/// ```swift
/// let downloads = IdentifiableTaskBag<URL>()
/// downloads.addTask(id: url) { await download(url) }     // true
/// downloads.addTask(id: url) { await download(url) }     // false: it is being downloaded
/// downloads.cancel(id: url)
/// ```
///
/// An ID is free as soon as its task has ended *or was cancelled*. A cancelled task that is slow to end does not get in the way of the
/// new one, and its end takes nothing from it. Where a duplicate is to do something else than to be ignored, see ``TaskStore``.
///
/// A task whose body uses the bag's owner keeps that owner alive, and so the bag: capture it weakly.
///
/// Comparing IDs must not call the bag: it happens under its lock.
///
/// Safe to use from any thread and any isolation. Finished tasks leave the bag by themselves.
///
/// ## Cancellation
/// ``cancel(id:)``, ``cancelAll()`` and the end of the bag cancel, in no particular order. Cancellation handlers run before the call returns,
/// without a lock. A task that was made by the bag and has not started yet never runs its operation; an adopted one is cancelled as it is.
public final class IdentifiableTaskBag<ID: Hashable & Sendable>: Sendable {
    let registry: TaskRegistry

    /// Creates an empty bag.
    ///
    /// - Parameter name: Shown by diagnostics.
    public init(name: String? = nil) {
        registry = TaskRegistry(.identifiableTaskBag, name: name)
    }

    deinit {
        registry.release()
    }

    /// What diagnostics know it by.
    public var name: String? { registry.name }

    /// How many tasks are in the bag that have neither finished nor been cancelled.
    public var count: Int { registry.liveCount }

    /// Whether a task that has neither finished nor been cancelled has this ID.
    public func contains(_ id: ID) -> Bool { registry.isLive(ErasedKey(id)) }

    /// Cancels the task with this ID, if there is one. The ID is free at once.
    public func cancel(id: ID) {
        registry.cancel(key: ErasedKey(id))
    }

    /// Cancels every task in the bag and empties it. The bag can be used again.
    ///
    /// A task that has not started yet never runs its operation. May be called from a cancellation handler that it triggers.
    ///
    /// - Complexity: O(*n*) in the number of tasks.
    public func cancelAll() {
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

    /// Starts a task, unless one with this ID is there.
    ///
    /// - Parameters:
    ///   - id: Free again when the task has ended or was cancelled.
    ///   - name: Shown by debuggers and diagnostics.
    ///   - priority: `nil`: the caller's.
    ///   - operation: Runs with the isolation and task-locals of the code that calls this.
    /// - Returns: Whether the task was started.
    /// - Complexity: O(1).
    @discardableResult
    public func addTask(
        id: ID,
        name: String? = nil,
        priority: TaskPriority? = nil,
        @_inheritActorContext @_implicitSelfCapture operation: sending @escaping @isolated(any) () async -> Void
    ) -> Bool {
        add(id, .init(name: name, priority: priority), received(operation))
    }

    /// Starts a task that has nothing of its caller, neither isolation nor priority nor task-locals, unless one with this ID is there.
    ///
    /// - Parameters:
    ///   - id: Free again when the task has ended or was cancelled.
    ///   - name: Shown by debuggers and diagnostics.
    ///   - priority: `nil`: the system's default.
    ///   - operation: Runs on the global executor, unless its type says otherwise.
    /// - Returns: Whether the task was started.
    /// - Complexity: O(1).
    @discardableResult
    public func addDetachedTask(
        id: ID,
        name: String? = nil,
        priority: TaskPriority? = nil,
        operation: sending @escaping @isolated(any) () async -> Void
    ) -> Bool {
        add(id, .init(name: name, priority: priority, isDetached: true), received(operation))
    }

    /// Takes in a task that has been started elsewhere, unless one with this ID is there; the ID is free again when it ends.
    ///
    /// A task that is not taken in goes on, without this bag. To see the end of one that is, the bag awaits it at utility priority, which
    /// raises a task that has less. One that
    /// its maker cancels counts until it has ended; its ID is free at once all the same.
    ///
    /// - Returns: Whether the task was taken in.
    /// - Complexity: O(1).
    @discardableResult
    public func add(_ task: Task<Void, Never>, id: ID) -> Bool {
        registry.adopt(task, key: ErasedKey(id))
    }

    private func add(_ id: ID, _ making: TaskRegistry.Making, _ operation: @escaping Operation) -> Bool {
        registry.add(key: ErasedKey(id), behavior: .preferPrevious, making, operation).isAdded
    }
}

extension Task where Success == Void, Failure == Never {
    /// Gives this task to a bag, unless one with this ID is there: see ``IdentifiableTaskBag/add(_:id:)``.
    ///
    /// - Returns: Whether the task was taken in.
    @discardableResult
    public func stored<ID>(in bag: IdentifiableTaskBag<ID>, id: ID) -> Bool {
        bag.add(self, id: id)
    }
}
