// These functions are here, and not in the generic types of owners, because the compiler does not specialize a generic
// function for its work if a generic type calls it.

extension TaskRegistry {
    /// Registers a new task under a key, and creates it.
    ///
    /// - Returns: The new task; the present task of the key, if `behavior` prefers that, or, if the present task has a
    ///   value of another type or is still being created, a proxy that ends when the present task ends, and whose
    ///   cancellation cancels the present task; a cancelled task that never runs the work, if the registry is closed.
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
    /// - Returns: The new task; a cancelled task that never runs the work, if the registry is closed.
    func addTask<Work: OwnedWork>(
        _ name: String?,
        _ priority: TaskPriority?,
        _ work: consuming Work
    ) -> Task<Void, Never> where Work.Success == Void {
        add(name: name, priority: priority, work) ?? Self.cancelledTask(name, returning: ())
    }

    /// Registers a new task without a key that passes its result to an object, and creates it.
    ///
    /// - Returns: The new task; a cancelled task that never runs the work, if the registry is closed.
    func addDelivery(_ name: String?, _ priority: TaskPriority?, _ work: consuming DeliveryWork) -> Task<
        DeliveryOutcome, Never
    > {
        add(name: name, priority: priority, work) ?? Self.cancelledTask(name, returning: .cancelled)
    }

    /// Registers a new task under a key that passes its result to an object, and creates it.
    ///
    /// - Returns: The new task; the present task of the key, if `behavior` prefers that, or, if the present task has a
    ///   value of another type or is still being created, a proxy that ends when the present task ends, and whose
    ///   cancellation cancels the present task; a cancelled task that never runs the work, if the registry is closed.
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
        case .refused: return Self.cancelledTask(name, returning: .cancelled)
        }
    }

    static func cancelledTask<Value: Sendable>(_ name: String?, returning value: Value) -> Task<Value, Never> {
        let task = Task(name: name) { value }
        task.cancel()
        return task
    }

    /// Registers a new task under a key, and creates it, unless the key has a task that was not cancelled.
    ///
    /// - Parameter isDetached: Whether the task inherits neither isolation nor priority nor task-local values.
    /// - Returns: Whether the task was created: `false` if the key has a task, or if the registry is closed.
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
