// These functions are here, and not in the generic types of owners, because the compiler does not specialize a generic
// function for its work if a generic type calls it.

extension TaskRegistry {
    /// Registers a new task under a key, and creates it.
    ///
    /// - Parameters:
    ///   - behavior: The rule for a key that already has tasks.
    ///   - name: The name of the task; `nil` for none.
    ///   - priority: The priority of the task; `nil` for that of the caller.
    ///   - work: The work that the task runs.
    /// - Returns: The new task. If `behavior` is `preferPrevious` and the key has a task that was not cancelled, that
    ///   task; if that task is still being created, or its value has another type, a proxy for it: a task that ends
    ///   when that task ends, and whose cancellation cancels that task. If the registry is closed, a cancelled task
    ///   that never runs the work.
    func addTask<Work: OwnedWork>(
        _ key: Key,
        _ behavior: TaskStoreDuplicateKeyBehavior,
        _ name: String?,
        _ priority: TaskPriority?,
        _ work: consuming Work
    ) -> Task<Void, Never> where Work.Success == Void {
        switch add(key: key, behavior: behavior, name: name, priority: priority, work) {
        case .added(let task): return task
        case .existing(let id, let existing):
            return existing?.plain ?? follow(id) { _ = await $0?.waitForEnd() }
        case .refused: return Self.cancelledTask(name, returning: ())
        }
    }

    /// Registers a new task without a key, and creates it.
    ///
    /// - Parameters:
    ///   - name: The name of the task; `nil` for none.
    ///   - priority: The priority of the task; `nil` for that of the caller.
    ///   - work: The work that the task runs.
    /// - Returns: The new task. If the registry is closed, a cancelled task that never runs the work.
    func addTask<Work: OwnedWork>(
        _ name: String?,
        _ priority: TaskPriority?,
        _ work: consuming Work
    ) -> Task<Void, Never> where Work.Success == Void {
        add(name: name, priority: priority, work) ?? Self.cancelledTask(name, returning: ())
    }

    /// Registers a new task under a key whose operation may throw, and creates it.
    ///
    /// - Parameters:
    ///   - origin: The public function that starts the task, for the report of an error.
    ///   - onError: Receives the error of the operation. If `nil`, the error is reported to diagnostics.
    /// - Returns: The new task, or that which `addTask` returns in its place.
    func addTask(
        _ origin: _WorkOrigin,
        _ key: Key,
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

    /// Registers a new task without a key that passes its result to an object, and creates it.
    ///
    /// - Parameters:
    ///   - name: The name of the task; `nil` for none.
    ///   - priority: The priority of the task; `nil` for that of the caller.
    ///   - work: The work that the task runs.
    /// - Returns: The new task. If the registry is closed, a cancelled task that never runs the work.
    func addDelivery(_ name: String?, _ priority: TaskPriority?, _ work: consuming DeliveryWork) -> Task<
        DeliveryOutcome, Never
    > {
        add(name: name, priority: priority, work) ?? Self.cancelledTask(name, returning: .cancelled(refusal))
    }

    /// Registers a new task without a key that passes its result to an object and notifies it of the end, and creates it.
    ///
    /// - Returns: The new task. If the registry is closed, a cancelled task that only notifies the object.
    func addNotifying(_ name: String?, _ priority: TaskPriority?, _ work: NotifyingWork) -> Task<DeliveryOutcome, Never>
    {
        add(name: name, priority: priority, work) ?? refusedTask(name, work)
    }

    /// Registers a new task under a key that passes its result to an object and notifies it of the end, and creates it.
    ///
    /// - Returns: The task that `addDelivery` returns. If the registry is closed, a cancelled task that only notifies the
    ///   object. For a present task in place of a new one, the object is not notified.
    func addNotifying(
        _ key: Key,
        _ behavior: TaskStoreDuplicateKeyBehavior,
        _ name: String?,
        _ priority: TaskPriority?,
        _ work: NotifyingWork
    ) -> Task<DeliveryOutcome, Never> {
        switch add(key: key, behavior: behavior, name: name, priority: priority, work) {
        case .added(let task): return task
        case .existing(let id, let existing):
            return existing?.delivery ?? follow(id) { await $0?.waitForEnd() ?? .duplicate }
        case .refused: return refusedTask(name, work)
        }
    }

    /// The cause of cancellation of a task that a closed registry refuses.
    var refusal: CancellationCause { .shutdown(name: self.name) }

    private func refusedTask(_ name: String?, _ work: NotifyingWork) -> Task<DeliveryOutcome, Never> {
        let task = Task(name: name) { [refusal] in await work.skipped(refusal) }
        task.cancel()
        return task
    }

    /// Registers a new task under a key that passes its result to an object, and creates it.
    ///
    /// - Parameters:
    ///   - behavior: The rule for a key that already has tasks.
    ///   - name: The name of the task; `nil` for none.
    ///   - priority: The priority of the task; `nil` for that of the caller.
    ///   - work: The work that the task runs.
    /// - Returns: The new task. If `behavior` is `preferPrevious` and the key has a task that was not cancelled, that
    ///   task; if that task is still being created, or its value has another type, a proxy for it: a task that ends
    ///   when that task ends, and whose cancellation cancels that task. If the registry is closed, a cancelled task
    ///   that never runs the work.
    func addDelivery(
        _ key: Key,
        _ behavior: TaskStoreDuplicateKeyBehavior,
        _ name: String?,
        _ priority: TaskPriority?,
        _ work: consuming DeliveryWork
    ) -> Task<DeliveryOutcome, Never> {
        switch add(key: key, behavior: behavior, name: name, priority: priority, work) {
        case .added(let task): return task
        case .existing(let id, let existing):
            return existing?.delivery ?? follow(id) { await $0?.waitForEnd() ?? .duplicate }
        case .refused: return Self.cancelledTask(name, returning: .cancelled(refusal))
        }
    }

    static func cancelledTask<Value: Sendable>(_ name: String?, returning value: Value) -> Task<Value, Never> {
        let task = Task(name: name) { value }
        task.cancel()
        return task
    }

    /// Registers a new task under a key, and creates it, unless the key has a task that was not cancelled.
    ///
    /// - Parameters:
    ///   - name: The name of the task; `nil` for none.
    ///   - priority: The priority of the task. `nil` for that of the caller, or for the default of the system if
    ///     `isDetached`.
    ///   - isDetached: Whether the task inherits neither isolation nor priority nor task-local values.
    ///   - work: The work that the task runs.
    /// - Returns: Whether the task was created: `false` if the key has a task that was not cancelled, or if the
    ///   registry is closed.
    func addUnique(
        _ key: Key,
        _ name: String?,
        _ priority: TaskPriority?,
        isDetached: Bool = false,
        _ work: consuming some OwnedWork
    ) -> Bool {
        let registration = add(
            key: key,
            behavior: .preferPrevious,
            name: name,
            priority: priority,
            isDetached: isDetached,
            work
        )
        return if case .added = registration { true } else { false }
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
