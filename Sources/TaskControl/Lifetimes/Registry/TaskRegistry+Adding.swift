// These functions are here, and not in the generic types of owners, because the compiler does not specialize a generic
// function for its work if a generic type calls it.

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
    func addTask<Work: OwnedWork>(
        _ key: Key?,
        _ behavior: TaskStoreDuplicateKeyBehavior,
        _ name: String?,
        _ priority: TaskPriority?,
        _ work: consuming Work
    ) -> Task<Work.Success, Never> {
        let notify = work.notify
        return switch add(key, behavior, name, priority, work) {
        case .added(let task): task
        case .existing(let id, let job): job?.task(of: Work.self) ?? follow(id, as: Work.self)
        case .refused: refusedTask(name, returning: Work.value(.cancelled(refusal)), notify)
        }
    }

    /// Registers a new task whose operation may throw, and creates it.
    ///
    /// - Parameters:
    ///   - origin: The public function that starts the task, for the report of an error.
    ///   - onError: Receives the error of the operation. If `nil`, the error is reported to diagnostics.
    /// - Returns: The new task, or that which `addTask` returns in its place.
    func addTask(
        _ origin: _WorkOrigin,
        _ key: Key?,
        _ behavior: TaskStoreDuplicateKeyBehavior,
        _ name: String?,
        _ priority: TaskPriority?,
        _ operation: @escaping ThrowingOperation,
        _ onError: (@isolated(any) @Sendable (any Error) async -> Void)?
    ) -> Task<Void, Never> {
        if let onError {
            addTask(key, behavior, name, priority, HandledOperation(origin, operation, ErrorHandler(onError: onError)))
        } else {
            addTask(key, behavior, name, priority, HandledOperation(origin, operation, NoErrorHandling()))
        }
    }

    /// Registers a new task, and creates it, unless its key has a task that was not cancelled.
    ///
    /// - Parameter isDetached: Whether the task inherits neither isolation nor priority nor task-local values.
    /// - Returns: Whether the task was created: `false` if the key has a task that was not cancelled, or if the
    ///   registry is closed.
    @discardableResult
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
    func refusedTask<Value: Sendable>(
        _ name: String?,
        returning value: Value,
        _ notify: (@Sendable (Value) async -> Void)? = nil
    ) -> Task<Value, Never> {
        let task = Task(name: name) {
            await notify?(value)
            return value
        }
        task.cancel()
        return task
    }
}

// A task notices the end of its owner by its cancellation, which a shutdown requests only after the grace period. Work
// that starts again and again, such as a periodic task, must stop when the grace period begins.

extension AsyncLifetime {
    /// Registers a closure that is called when a shutdown of the lifetime begins: the lifetime then refuses new tasks,
    /// and cancels the present ones only after the grace period. The closure is not called when the lifetime is closed,
    /// which cancels its tasks at once.
    ///
    /// Each shutdown that begins while the closure is registered calls the closure once, in the task that calls
    /// `shutdown`, without holding a lock.
    ///
    /// - Returns: The registration of the closure, which ends when the returned object is released.
    package func onRefusal(_ handler: @escaping @Sendable () -> Void) -> RefusalRegistration {
        let number = Diagnostics.nextNumber()
        registry.state.withLock { $0.refusalHandlers[number] = handler }
        return RefusalRegistration(registry, number)
    }
}

/// The registration of a closure with `onRefusal(_:)`. Releasing this object ends the registration.
package final class RefusalRegistration: Sendable {
    private weak let registry: TaskRegistry?
    private let number: UInt64

    fileprivate init(_ registry: TaskRegistry, _ number: UInt64) {
        self.registry = registry
        self.number = number
    }

    deinit {
        let handler = registry?.state.withLock { $0.refusalHandlers.removeValue(forKey: number) }
        // Perhaps the last reference to the captured values of the closure: released here, where the lock is not held.
        withExtendedLifetime(handler) {}
    }
}
