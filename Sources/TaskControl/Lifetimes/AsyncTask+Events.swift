/// What is told of an `AsyncTask`. All of it is called only when somebody listens, and never under the lock.
extension AsyncTask {
    static func identity(of life: Locked<Life>) -> TaskEvent.Identity { life.withLock { $0.subject() } }

    @inline(never)
    static func tell(
        _ kind: TaskEvent.Kind,
        _ stage: TaskEvent.Stage,
        _ life: Locked<Life>,
        taskName: String? = nil,
        isInside: Bool = false
    ) {
        let subject = identity(of: life)
        Diagnostics.tell(TaskEvent(.asyncTask, kind, stage, subject: subject, taskName: taskName), isInside: isInside)
    }

    @inline(never)
    static func tellBinding(of subject: TaskEvent.Identity, to lifetime: AsyncLifetime) {
        let registry = lifetime.registry
        let owner = TaskEvent.Identity(registry.number)
        Diagnostics.tell(
            TaskEvent(.asyncTask, .boundToLifetime, owner: owner, subject: subject, ownerName: registry.name)
        )
    }

    /// Told once, or by each of those who cancel it at the same time.
    @inline(never)
    static func tellCancelled(_ task: Task<Void, Never>, _ life: Locked<Life>) {
        if !task.isCancelled { tell(.cancelled, .goesOn, life) }
    }

    @inline(never)
    static func tellEnd(_ kind: TaskEvent.Kind, _ life: Locked<Life>, _ binding: Binding?, _ failure: (any Error)?) {
        var event = TaskEvent(
            .asyncTask,
            kind,
            .ends,
            owner: binding.map { TaskEvent.Identity($0.registry.number) },
            subject: identity(of: life),
            ownerName: binding?.registry.name,
            error: failure.map(Diagnostics.text)
        )
        event.isCancelled = Task.isCancelled
        Diagnostics.tell(event, isInside: true)
    }
}
