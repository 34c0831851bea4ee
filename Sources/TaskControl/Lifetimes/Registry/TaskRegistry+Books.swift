extension TaskRegistry {
    /// The state under the lock: the machine, and what only the storage needs.
    struct Books {
        var machine = Machine()
        /// Whether anybody has ever asked what is live. Until then nobody needs to know of changes.
        var isWatched = false
        /// What events know tasks by that are not known by their place here: those of `AsyncTask` and of queues.
        private(set) var subjects: [ID: TaskEvent.Identity] = [:]

        /// Does nothing if the task has finished.
        mutating func setSubject(_ subject: TaskEvent.Identity, of id: ID) {
            if machine.phase(of: id) != nil { subjects[id] = subject }
        }

        /// - Returns: A key to release with the lock free.
        mutating func finish(_ id: ID, _ effects: inout Machine.Effects) -> Key? {
            if !subjects.isEmpty {
                subjects[id] = nil
                subjects.shrinkIfMostlyEmpty()
            }
            return machine.finish(id, &effects)
        }

        /// The number of tasks and keys that memory is held for.
        var capacity: Int { max(machine.capacity, subjects.capacity) }
    }
}
