// These functions are here, and not in the generic types of owners, because the compiler does not specialize a generic
// function for its work if a generic type calls it. They are not inlined: each copy creates a task and all its events.

extension TaskRegistry {
    /// Registers a new task, and creates it.
    ///
    /// - Parameters:
    ///   - key: The key; `nil` for none.
    ///   - behavior: The rule for a key that already has tasks. Ignored without a key.
    ///   - name: The name of the task; `nil` for none.
    ///   - priority: The priority of the task; `nil` for that of the caller.
    ///   - work: The work that the task runs.
    /// - Returns: The new task. If `behavior` is `preferPrevious` and the key has a task that was not cancelled, that
    ///   task; if that task is still being created, or its value has another type, a proxy for it: a task that ends
    ///   when that task ends, and whose cancellation cancels that task. If the registry is closed, a cancelled task
    ///   that never runs the work, and only notifies the object that the work notifies of its end.
    @inline(never)
    func addTask<Work: OwnedWork>(
        _ key: Key?,
        _ behavior: TaskStoreDuplicateKeyBehavior,
        _ name: String?,
        _ priority: TaskPriority?,
        mustFinish: Bool = false,
        _ work: Work
    ) -> Task<Work.Success, Never> {
        switch add(key, behavior, name, priority, mustFinish: mustFinish, work) {
        case .added(let task): task
        case .existing(let id, let job): job?.task(of: Work.self) ?? follow(id, as: Work.self)
        case .refused: refusedTask(name) { [refusal] in await work.end(.cancelled(refusal)) }
        }
    }

    /// Registers a new task whose operation may throw, and creates it.
    ///
    /// - Parameters:
    ///   - origin: The public function that starts the task, for the report of an error.
    ///   - mustFinish: Whether the task is cancelled only through its own handle. Ignored with a key.
    ///   - onError: Receives the error of the operation. If `nil`, the error is reported to diagnostics.
    /// - Returns: The new task, or that which `addTask` returns in its place.
    func addTask(
        _ origin: _WorkOrigin,
        _ key: Key?,
        _ behavior: TaskStoreDuplicateKeyBehavior,
        _ name: String?,
        _ priority: TaskPriority?,
        mustFinish: Bool = false,
        _ operation: @escaping ThrowingOperation,
        _ onError: (@isolated(any) @Sendable (any Error) async -> Void)?
    ) -> Task<Void, Never> {
        let work = OwnedOperation(StoredOperation(operation), in: origin, onError: onError)
        return addTask(key, behavior, name, priority, mustFinish: mustFinish, work)
    }

    /// Registers a new task, and creates it, unless its key has a task that was not cancelled.
    ///
    /// - Parameter isDetached: Whether the task inherits neither isolation nor priority nor task-local values.
    /// - Returns: Whether the task was created: `false` if the key has a task that was not cancelled, or if the
    ///   registry is closed.
    @discardableResult
    @inline(never)
    func addUnique(
        _ key: Key?,
        _ name: String?,
        _ priority: TaskPriority?,
        isDetached: Bool = false,
        _ work: consuming some OwnedWork
    ) -> Bool {
        add(key, .preferPrevious, name, priority, isDetached: isDetached, work).isAdded
    }

    /// The cause of cancellation of a task that a closed registry refuses.
    var refusal: CancellationCause { .shutdown(name: self.name) }

    /// Creates the cancelled task that stands for a task that a closed registry refuses.
    ///
    /// - Parameter end: Notifies the object for which the work would have been done, and returns the value of the task.
    @inline(never)
    func refusedTask<Value: Sendable>(
        _ name: String?,
        _ end: @escaping @Sendable () async -> Value
    ) -> Task<Value, Never> {
        let task = Task(name: name) { await end() }
        task.cancel()
        return task
    }
}

// A task notices the end of its owner by its cancellation. Two kinds of work need more. Work that starts again and again,
// such as a periodic task, must stop when the grace period of a shutdown begins. And a task that only starts and awaits
// other tasks, such as the one behind `keepRunning`, passes its cancellation on only when it gets a thread: the owner must
// cancel those tasks itself.

/// A call that ends the work of an owner, as a closure that was passed to `onEnd(_:)` receives it.
package enum OwnerEnd: Sendable {
    /// A shutdown begins: the owner refuses new tasks, and cancels the present ones after the grace period. The value is
    /// the rule for work that has not begun.
    case refuses(WaitingWorkBehavior)
    /// The owner cancels its tasks for a cause.
    case cancels(CancellationCause)
}

extension AsyncLifetime {
    /// Registers a closure that is called when a shutdown of the lifetime begins, and when the lifetime cancels all of its
    /// tasks, also because it is closed or deallocated.
    ///
    /// Each such call calls the closure once, without holding a lock, and before it cancels its tasks: tasks that the
    /// closure cancels are cancelled when the call returns.
    ///
    /// - Returns: The registration of the closure, which ends when the returned object is released.
    package func onEnd(_ handler: @escaping @Sendable (OwnerEnd) -> Void) -> EndRegistration {
        let number = Diagnostics.nextNumber()
        registry.state.withLock { $0.endHandlers[number] = handler }
        return EndRegistration(registry, number)
    }
}

extension AsyncLifetime {
    /// Ends the attempts of `retry` and `poll` in the tasks that run: they make no further one.
    package func endAttempts() { registry.endAttempts() }
}

/// The registration of a closure with `onEnd(_:)`. Releasing this object ends the registration.
package final class EndRegistration: Sendable {
    private weak let registry: TaskRegistry?
    private let number: UInt64

    fileprivate init(_ registry: TaskRegistry, _ number: UInt64) {
        self.registry = registry
        self.number = number
    }

    deinit {
        let handler = registry?.state.withLock { $0.endHandlers.removeValue(forKey: number) }
        // Perhaps the last reference to the captured values of the closure: released here, where the lock is not held.
        withExtendedLifetime(handler) {}
    }
}
