/// What is told of an `AsyncTask`. All of it is called only when somebody listens, and never under the lock.
extension AsyncTask {
    typealias Life = Locked<AsyncTaskStateMachine<Binding>>

    static func identity(of life: Life) -> TaskEvent.Identity {
        let fresh = Diagnostics.nextNumber()
        return switch life.withLock({ $0.known(orElse: fresh) }) {
        case .number(let number): TaskEvent.Identity(number)
        case .place(let binding): binding.registry.subject(binding.id)
        }
    }

    @inline(never)
    static func tell(
        _ kind: TaskEvent.Kind,
        _ stage: TaskEvent.Stage,
        _ life: Life,
        taskName: String? = nil,
        isInside: Bool = false
    ) {
        let subject = identity(of: life)
        Diagnostics.tell(TaskEvent(.asyncTask, kind, stage, subject: subject, taskName: taskName), isInside: isInside)
    }

    /// The number that a lifetime is to know it by.
    var numberToBind: UInt64 { Self.identity(of: life).processWide ?? Diagnostics.nextNumber() }

    @inline(never)
    static func tellBinding(of number: UInt64, to lifetime: AsyncLifetime) {
        let (registry, subject) = (lifetime.registry, TaskEvent.Identity(number))
        let owner = TaskEvent.Identity(registry.number)
        Diagnostics.tell(
            TaskEvent(.asyncTask, .boundToLifetime, owner: owner, subject: subject, ownerName: registry.name)
        )
    }

    /// Told once, or by each of those who cancel it at the same time.
    @inline(never)
    static func tellCancelled(_ task: Task<Void, Never>, _ life: Life) {
        if !task.isCancelled { tell(.cancelled, .goesOn, life) }
    }

    @inline(never)
    static func tellEnd(_ kind: TaskEvent.Kind, _ life: Life, _ binding: Binding?, _ failure: (any Error)?) {
        var event = TaskEvent(
            .asyncTask,
            kind,
            .ends,
            owner: binding.map { TaskEvent.Identity($0.registry.number) },
            subject: binding.map { $0.registry.subject($0.id) } ?? identity(of: life),
            ownerName: binding?.registry.name,
            error: failure.map(Diagnostics.text)
        )
        event.isCancelled = Task.isCancelled
        Diagnostics.tell(event, isInside: true)
    }
}
