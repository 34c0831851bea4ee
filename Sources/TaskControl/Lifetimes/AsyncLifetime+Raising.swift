extension AsyncLifetime {
    /// Escalates the tasks of the lifetime to a priority, where the system supports it.
    ///
    /// - Complexity: O(*n*) in the number of tasks.
    package func raise(to priority: TaskPriority) { registry.raiseAll(to: priority) }
}
