extension AsyncLifetime {
    /// Escalates the tasks of the lifetime that have a lower priority, where the system supports it (<doc:Ordering#Priorities>).
    ///
    /// - Complexity: O(*n*) in the number of tasks.
    package func raise(to priority: TaskPriority) { registry.raiseAll(to: priority) }
}
