extension AsyncTask {
    /// The registration of a task with a lifetime: the registry of the lifetime, and the ID of the task there.
    struct Binding {
        let registry: TaskRegistry
        let id: TaskRegistry.ID

        var subject: TaskEvent.Identity { registry.subject(id) }
    }

    /// The state that an `AsyncTask` shares with the Swift task that runs its operation: an ``AsyncTaskStateMachine``,
    /// and the identity of the task in events.
    ///
    /// The identity is settled (chosen) once, and never changes after that. It is the ID of the task in the registry of
    /// its lifetime, if the task is bound at that moment; otherwise it is a new number. It is settled only when it is
    /// needed, so a task that is not observed does not consume a number.
    struct Life {
        private(set) var machine = AsyncTaskStateMachine<Binding>()
        /// The identity of the task in events; `Identity(0)` until it is settled. Not an optional, to save a word per task.
        private var settled = TaskEvent.Identity(0)

        /// Returns the identity of the task in events. The first call chooses (settles) it; it does not change
        /// afterwards.
        mutating func subject() -> TaskEvent.Identity {
            if !isSettled { settled = machine.binding?.subject ?? TaskEvent.Identity(Diagnostics.nextNumber()) }
            return settled
        }

        /// The identity of the task in events; `nil` if it is not settled. A lifetime to which the task is bound later
        /// must use a settled identity in its events.
        var settledSubject: TaskEvent.Identity? { isSettled ? settled : nil }

        private var isSettled: Bool { settled != TaskEvent.Identity(0) }

        /// Passes a change, such as the binding or the end of the task, to the state machine. Before that, settles the
        /// identity of a bound task as its ID in its present registry: earlier events may have used that ID, and the
        /// task may now be moved to another registry.
        ///
        /// - Parameter event: Calls the function of the state machine for the change.
        /// - Returns: The binding that `event` returns.
        mutating func change(_ event: (inout AsyncTaskStateMachine<Binding>) -> Binding?) -> Binding? {
            if !isSettled, let binding = machine.binding { settled = binding.subject }
            return event(&machine)
        }
    }
}
