extension AsyncTask {
    /// A place in a lifetime's registry.
    struct Binding {
        let registry: TaskRegistry
        let id: TaskRegistry.ID

        var subject: TaskEvent.Identity { registry.subject(id) }
    }

    /// What a task and its body share: the state machine, and what events know the task by.
    ///
    /// That stays the same for the whole life of the task: it is a number of the task's own, or, if the task was bound before anybody observed it,
    /// its first place in a registry. So a task that nobody observes costs no number.
    struct Life {
        private(set) var machine = AsyncTaskStateMachine<Binding>()
        /// 0: not settled yet. Not an optional, to save a word per task.
        private var settled = TaskEvent.Identity(0)

        /// What events know the task by, from now on.
        mutating func subject() -> TaskEvent.Identity {
            if !isSettled { settled = machine.binding?.subject ?? TaskEvent.Identity(Diagnostics.nextNumber()) }
            return settled
        }

        /// What events know the task by, if that is settled and so must be known to its next lifetime.
        var settledSubject: TaskEvent.Identity? { isSettled ? settled : nil }

        private var isSettled: Bool { settled != TaskEvent.Identity(0) }

        /// Passes an event to the machine. Settles what events know the task by before that, since the task may leave its first place, by which
        /// they may have named it.
        mutating func change(_ event: (inout AsyncTaskStateMachine<Binding>) -> Binding?) -> Binding? {
            if !isSettled, let binding = machine.binding { settled = binding.subject }
            return event(&machine)
        }
    }
}
