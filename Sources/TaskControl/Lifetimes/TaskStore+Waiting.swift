extension TaskStore {
    /// The order in which the waiting tasks of a store with a limit start.
    @nonexhaustive
    public enum Order: Hashable, Sendable {
        /// The order in which they have come to the line: that of the calls, or of the ends of their waits under their keys.
        case calls
        /// The task of the highest priority first, and tasks of one priority in the order of ``calls``. A task waits as long
        /// as tasks of a higher priority come, also forever. The priority is that of the call that adds the task, or of
        /// ``TaskStore/setPriority(_:forKey:)``; escalation does not change the order.
        case priority
    }

    /// The rule of a store with a bound for a task that would wait when as many tasks wait as may.
    @nonexhaustive
    public enum OverflowBehavior: Hashable, Sendable {
        /// The new task fails.
        case refuse
        /// The task that has waited longest fails, whatever its priority, and the new one waits. A task that ``TaskStore/pause()`` has
        /// set back is not dropped.
        case dropOldest
    }

    // MARK: The next of the waiting

    /// Lets the waiting tasks of a key start before all others that wait for a place now:
    ///
    /// ```swift
    /// images.moveToFront(forKey: url)     // the row is visible again
    /// ```
    ///
    /// They keep their order among themselves, and a task that waits for older tasks of its key still waits for them: it
    /// then stands behind the tasks that were moved to the front, and before all others. Without a limit, and without a
    /// pause, tasks wait for their keys only, and this call has no effect.
    ///
    /// - Returns: Whether the key has a waiting task.
    /// - Complexity: O(*n*) in the number of tasks of the key.
    @discardableResult
    public func moveToFront(forKey key: Key) -> Bool { registry.moveToFront(_ErasedKey(key)) }

    /// Gives the tasks of a key another priority. With ``Order/priority``, those that wait take the last place of that
    /// priority, which may be a lower one than before. The tasks are also escalated to it, where the system supports it
    /// (<doc:Ordering#Priorities>); no task runs with a lower priority than before.
    ///
    /// - Returns: Whether the key has a task that the store has not cancelled.
    /// - Complexity: O(*n*) in the number of tasks of the key.
    @discardableResult
    public func setPriority(_ priority: TaskPriority, forKey key: Key) -> Bool {
        registry.setPriority(priority, of: _ErasedKey(key))
    }

    // MARK: Pausing

    /// Whether ``pause()`` was called, and ``resume()`` was not called since. Observable, as ``TaskOwner/count`` is.
    public var isPaused: Bool {
        observation.access()
        return registry.isPaused
    }

    /// Lets no task begin until ``resume()`` is called. Tasks that run continue, and tasks can be added, which wait.
    ///
    /// When this call has returned, no task begins, also none that was about to. A task that has its turn but has not begun
    /// is the first after the pause. A second call has no effect.
    ///
    /// Cancelling and closing the store have their usual effects. ``TaskOwner/drain()`` waits for the tasks of a paused
    /// store, so it returns after ``resume()``, or when they or its caller are cancelled. The grace period of
    /// ``TaskOwner/shutdown(grace:waiting:cancellationGrace:clock:)`` ends also if the store is paused, and its waiting tasks are then cancelled.
    ///
    /// - Complexity: O(*n*) in the number of running tasks.
    public func pause() { registry.pause() }

    /// Ends the pause: waiting tasks begin in their order. Has no effect if the store is not paused.
    ///
    /// - Complexity: O(*n*) in the number of waiting tasks.
    public func resume() { registry.resume() }
}

/// The error of a task that a ``TaskStore`` has refused or dropped, because as many tasks wait as may.
///
/// The `onError` closure of the task receives it; without one, it is reported to diagnostics. The outcome of such a task of
/// `run(forKey:for:)` is ``DeliveryOutcome/failed(_:)``. The operation has not begun.
public struct TaskStoreFullError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name of the store; `nil` if it has none.
    public let name: String?
    /// The number of tasks that may wait.
    public let maxWaiting: Int

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - name: The name of the store; `nil` for none.
    ///   - maxWaiting: The number of tasks that may wait.
    public init(name: String? = nil, maxWaiting: Int) {
        self.name = name
        self.maxWaiting = maxWaiting
    }

    /// A sentence that names the store and the bound.
    public var description: String {
        "The store\(name.map { " \"\($0)\"" } ?? "") is full: \(maxWaiting) tasks wait, and no more may."
    }
}
