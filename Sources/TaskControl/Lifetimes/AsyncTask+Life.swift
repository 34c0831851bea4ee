extension AsyncTask {
    /// A place in a lifetime's registry.
    struct Binding {
        let registry: TaskRegistry
        let id: TaskRegistry.ID

        var subject: TaskEvent.Identity { registry.subject(id) }
    }

    /// The state that a task and its body share: the state machine, and the identity of the task in events.
    ///
    /// The identity stays the same for the whole life of the task: it is a number of the task's own, or, if the task was bound before it was
    /// observed, its first place in a registry. So a task that is not observed costs no number.
    struct Life {
        private(set) var machine = AsyncTaskStateMachine<Binding>()
        /// 0: not settled yet. Not an optional, to save a word per task.
        private var settled = TaskEvent.Identity(0)

        /// Settles the identity of the task in events, and returns it.
        mutating func subject() -> TaskEvent.Identity {
            if !isSettled { settled = machine.binding?.subject ?? TaskEvent.Identity(Diagnostics.nextNumber()) }
            return settled
        }

        /// The identity of the task in events, if it is settled and so must be known to its next lifetime.
        var settledSubject: TaskEvent.Identity? { isSettled ? settled : nil }

        private var isSettled: Bool { settled != TaskEvent.Identity(0) }

        /// Passes an event to the machine. Settles the identity of the task in events first, since the task may leave its first place, by which
        /// events may have named it.
        mutating func change(_ event: (inout AsyncTaskStateMachine<Binding>) -> Binding?) -> Binding? {
            if !isSettled, let binding = machine.binding { settled = binding.subject }
            return event(&machine)
        }
    }
}
