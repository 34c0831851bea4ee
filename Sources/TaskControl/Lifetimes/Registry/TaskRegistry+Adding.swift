// Here, and not in the generic types of owners: a generic function that a generic type calls is not specialized for its work.

extension TaskRegistry {
    /// Registers a new task, and creates it.
    ///
    /// - Returns: The task; the one that is there, if the behavior prefers that; if the registry is closed, a cancelled task without the operation.
    func addTask(
        _ key: Key?,
        _ behavior: TaskStoreDuplicateKeyBehavior,
        _ name: String?,
        _ priority: TaskPriority?,
        _ work: some OwnedWork
    ) -> Task<Void, Never> {
        switch add(key: key, behavior: behavior, Making(name: name, priority: priority), work) {
        case .added(let task): return task
        case .existing(let id, let task): return task ?? follow(id)
        case .refused:
            let task = Task<Void, Never>(name: name) {}
            task.cancel()
            return task
        }
    }

    /// Registers a new task, and creates it, unless one with the key is there.
    ///
    /// - Returns: Whether the task was created.
    func addUnique(_ key: Key, _ making: Making, _ work: some OwnedWork) -> Bool {
        if case .added = add(key: key, behavior: .preferPrevious, making, work) { true } else { false }
    }
}
