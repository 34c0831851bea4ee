extension Task {
    /// Binds this task to a lifetime, which cancels the task when the lifetime is deallocated or closed.
    ///
    /// ```swift
    /// Task { await model.load() }.bind(to: lifetime)
    /// ```
    ///
    /// The task leaves the lifetime when it ends. To notice the end, the lifetime awaits the task at utility priority,
    /// which escalates a task that has a lower priority. A task that is created with
    /// ``AsyncLifetime/addTask(name:priority:mustFinish:operation:onError:)`` needs no such wait. A lifetime that is already closed
    /// cancels the task at once.
    ///
    /// - Complexity: O(1).
    @discardableResult
    public func bind(to lifetime: AsyncLifetime) -> Self {
        _ = lifetime.registry.adopt(handle, end: { _ = await self.result })
        return self
    }

    /// Binds this task to a key of a store, which cancels the task as it cancels the tasks that it has started.
    ///
    /// ```swift
    /// Task { try await server.fetch(id) }.bind(to: tasks, forKey: .search)
    /// ```
    ///
    /// The task runs already, so it waits for no other task of the key, and not for a place in a store with a limit: it
    /// counts as one of the tasks that run, which may then be more than the limit until others have ended. Later
    /// tasks of the key treat it by their behavior. With ``TaskStoreDuplicateKeyBehavior/preferPrevious-type.property``,
    /// `addTask` and `run` return a proxy for it, whose outcome is ``DeliveryOutcome/duplicate``.
    ///
    /// In all other respects, such as the end of the task and a closed store, this function is the same as ``bind(to:)``.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - key: The key. A key may have any number of tasks.
    ///   - cancelsPrevious: Whether the running and waiting tasks of the key are cancelled.
    /// - Complexity: O(1) amortized; O(*n*) in the number of cancelled tasks.
    @discardableResult
    public func bind<Key: Hashable>(
        to store: TaskStore<Key>,
        forKey key: sending Key,
        cancelsPrevious: Bool = true
    ) -> Self {
        let behavior: TaskStoreDuplicateKeyBehavior = cancelsPrevious ? .cancelPrevious(wait: false) : .runConcurrently
        _ = store.registry.adopt(handle, key: _ErasedKey(key), behavior: behavior, end: { _ = await self.result })
        return self
    }
}
