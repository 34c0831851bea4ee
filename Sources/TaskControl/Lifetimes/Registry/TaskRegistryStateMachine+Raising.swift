/// Escalation of the tasks that other tasks or callers wait for.
extension TaskRegistryStateMachine {
    /// Records that the tasks before a waiting task in its ``Lane`` are escalated to the priority of the waiting task.
    ///
    /// - Parameters:
    ///   - id: The waiting task.
    ///   - priority: The raw priority.
    /// - Returns: The tasks that the caller must escalate: those before the waiting task that have not been escalated
    ///   to `priority` yet. A task that is still being created is escalated by `attach`.
    /// - Complexity: O(*n*) in the number of these tasks. Each task is escalated at most once to each priority.
    mutating func raise(before id: ID, to priority: UInt8) -> [Job] {
        guard phase(of: id) == .waiting else { return [] }
        var jobs: [Job] = []
        var slot = id.slot
        while slot != Chain.none, entries[slot].raisedTo < priority {
            entries[slot].raisedTo = priority
            if slot != id.slot, let job = entries[slot].job { jobs.append(job) }
            slot = entries[slot].links.older
        }
        return jobs
    }

    /// Records that all tasks are escalated to the raw priority of a caller that waits for them.
    ///
    /// - Returns: The tasks that the caller must escalate.
    /// - Complexity: O(*n*) in the number of tasks.
    mutating func raiseAll(to priority: UInt8) -> [Job] {
        var jobs: [Job] = []
        for slot in 0..<entries.extent where entries.isOccupied(slot) && entries[slot].raisedTo < priority {
            entries[slot].raisedTo = priority
            if let job = entries[slot].job { jobs.append(job) }
        }
        return jobs
    }

    /// Records that all tasks of a key are escalated to the raw priority of a caller that waits for them.
    ///
    /// - Returns: The tasks that the caller must escalate.
    /// - Complexity: O(*n*) in the number of tasks under the key.
    mutating func raiseAll(of key: Key, to priority: UInt8) -> [Job] {
        guard let lane = lanes.index(of: key) else { return [] }
        var jobs: [Job] = []
        var slot = lanes[lane].chain.last
        while slot != Chain.none {
            if entries[slot].raisedTo < priority {
                entries[slot].raisedTo = priority
                if let job = entries[slot].job { jobs.append(job) }
            }
            slot = entries[slot].links.older
        }
        return jobs
    }
}
