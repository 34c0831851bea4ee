extension TaskRegistry {
    /// The state that the lock of a registry protects: the state machine, and data that only the registry uses.
    struct Books {
        var machine: Machine
        /// Whether the number or the keys of the tasks have ever been read. Until then, changes need not be reported to observers of the owner.
        var isWatched = false
        /// The identities in events of the tasks that are not identified by their ID in this registry: those of `AsyncTask` and of queues.
        private(set) var subjects: [ID: TaskEvent.Identity] = [:]
        /// The causes of cancellation of tasks that were cancelled before their handles were attached, that is, stored
        /// in the registry.
        private(set) var earlyCauses: [ID: RecordedCause] = [:]

        /// The closures that were passed to `onRefusal(_:)`, which are called when a shutdown of the owner begins,
        /// before its grace period. The key of each closure is a number that increases in the order of registration.
        var refusalHandlers: [UInt64: @Sendable () -> Void] = [:]

        init(machine: Machine = Machine()) {
            self.machine = machine
        }

        /// Sets the identity of a task in events. Does nothing if the task has finished.
        mutating func setSubject(_ subject: TaskEvent.Identity, of id: ID) {
            if machine.phase(of: id) != nil { subjects[id] = subject }
        }

        /// Stores the cause of cancellation of a task whose handle is not attached yet (stored in the registry). Does
        /// nothing if the handle is attached, if a cause is already stored, or if the task has finished.
        mutating func remember(_ cause: RecordedCause, of id: ID) {
            guard earlyCauses[id] == nil, machine.phase(of: id) != nil, machine.job(of: id) == nil else { return }
            // Stores the key of the machine's entry instead of an equal key in `cause`. The values of this table are
            // released under the lock, which must not release the last reference to a key, and the machine keeps its
            // key until the entry has finished.
            if case .superseded = cause, let key = machine.key(of: id) {
                earlyCauses[id] = .superseded(key)
            } else {
                earlyCauses[id] = cause
            }
        }

        /// Removes a task that has ended.
        ///
        /// - Parameter effects: Receives the actions that must follow, such as the waiters to resume.
        /// - Returns: A key that must be released after the lock has been released; `nil` if there is none.
        mutating func finish(_ id: ID, _ effects: inout Machine.Effects) -> Key? {
            if !subjects.isEmpty {
                subjects[id] = nil
                subjects.shrinkIfMostlyEmpty()
            }
            if !earlyCauses.isEmpty {
                earlyCauses[id] = nil
                earlyCauses.shrinkIfMostlyEmpty()
            }
            return machine.finish(id, &effects)
        }

        /// Returns the cause of cancellation of the older tasks that a new task replaces when it begins.
        ///
        /// - Parameter id: The ID of the new task.
        func cause(ofReplacementBy id: ID) -> RecordedCause {
            // If the new task is not live, it was cancelled itself, and no other task is cancelled.
            guard machine.phase(of: id)?.isLive == true, let key = machine.key(of: id) else { return .known(.unknown) }
            return .superseded(key)
        }

        /// The largest number of tasks or keys for which one of the tables has memory allocated.
        var capacity: Int { max(machine.capacity, subjects.capacity, earlyCauses.capacity) }
    }
}
