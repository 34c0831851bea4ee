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
}
