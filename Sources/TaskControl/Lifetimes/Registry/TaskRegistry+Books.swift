extension TaskRegistry {
    /// The state under the lock: the machine, and what only the storage needs.
    struct Books {
        var machine = Machine()
        /// Whether the live tasks have ever been read. Until then changes need not be reported.
        var isWatched = false
        /// The identities in events of tasks that are not identified by their place here: those of `AsyncTask` and of queues.
        private(set) var subjects: [ID: TaskEvent.Identity] = [:]
        /// The causes of entries that were cancelled before the handles of their tasks were there.
        private(set) var earlyCauses: [ID: RecordedCause] = [:]

        /// The closures that are called when the owner is shut down, before its grace, by number.
        var refusalHandlers: [UInt64: @Sendable () -> Void] = [:]

        /// Does nothing if the task has finished.
        mutating func setSubject(_ subject: TaskEvent.Identity, of id: ID) {
            if machine.phase(of: id) != nil { subjects[id] = subject }
        }

        /// Remembers why an entry was cancelled whose handle is not there yet. Does nothing if the task has finished.
        mutating func remember(_ cause: RecordedCause, of id: ID) {
            guard earlyCauses[id] == nil, machine.phase(of: id) != nil, machine.job(of: id) == nil else { return }
            // With the key of the entry, which the machine keeps until the entry has finished: this one is released under the lock.
            if case .superseded = cause, let key = machine.key(of: id) {
                earlyCauses[id] = .superseded(key)
            } else {
                earlyCauses[id] = cause
            }
        }

        /// - Returns: A key to release with the lock free.
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

        /// The cause of the cancellations that the beginning of a task entails.
        func cause(ofReplacementBy id: ID) -> RecordedCause {
            // If it does not run, its own task was cancelled, and nothing else.
            guard machine.phase(of: id) == .running, let key = machine.key(of: id) else { return .known(.unknown) }
            return .superseded(key)
        }

        /// The number of tasks and keys that memory is held for.
        var capacity: Int { max(machine.capacity, subjects.capacity, earlyCauses.capacity) }
    }
}
