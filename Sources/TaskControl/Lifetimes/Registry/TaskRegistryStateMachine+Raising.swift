/// Escalation of the tasks that other tasks or callers wait for.
extension TaskRegistryStateMachine {
    /// Records that the tasks before a waiting task are escalated to the priority of the waiting task: those before it in
    /// its ``Lane``, or, for a task that waits for a permit, those before it in line and those that have a permit.
    ///
    /// - Parameters:
    ///   - id: The waiting task.
    ///   - priority: The raw priority.
    /// - Returns: The tasks that the caller must escalate: those before the waiting task that have not been escalated
    ///   to `priority` yet. A task that is still being created is escalated by `attach`.
    /// - Complexity: O(*n*) in the number of these tasks. Each task is escalated at most once to each priority.
    mutating func raise(before id: ID, to priority: UInt8) -> [Job] {
        if phase(of: id) == .queued { return raiseLine(before: id.slot, to: priority) }
        guard phase(of: id) == .waiting else { return [] }
        var jobs: [Job] = []
        var slot = id.slot
        // If there is a limit, a task may have been escalated for one of another key, and those before it were not.
        while slot != Chain.none, limit != nil || entries[slot].raisedTo < priority {
            raise(slot, to: priority, except: id.slot, &jobs)
            slot = entries[slot].links.older
        }
        return jobs
    }

    /// Records that a task is escalated.
    ///
    /// - Parameters:
    ///   - own: The task that waits, which has the priority already.
    ///   - jobs: Receives the handle of the task, if the caller must escalate it.
    private mutating func raise(_ slot: Slot, to priority: UInt8, except own: Slot, _ jobs: inout [Job]) {
        guard entries[slot].raisedTo < priority else { return }
        entries[slot].raisedTo = priority
        if slot != own, let job = entries[slot].job { jobs.append(job) }
    }

    /// Records that the tasks for which a task waits that needs a permit are escalated: those before it in line, and
    /// those that have a permit.
    ///
    /// - Complexity: O(*n*) in the number of tasks before the first one in line for which that was done before, and in
    ///   the number of all tasks if there is none.
    private mutating func raiseLine(before waiting: Slot, to priority: UInt8) -> [Job] {
        var jobs: [Job] = []
        var slot = waiting
        while let side = sides[slot], let permit = side.permit {
            guard side.raisedLineTo < priority else { return jobs }
            sides[slot]?.raisedLineTo = priority
            guard let older = limit?.permits.waiter(before: permit) else { break }
            raise(older, to: priority, except: waiting, &jobs)
            slot = older
        }
        for slot in 0..<entries.extent where entries.isOccupied(slot) && entries[slot].phase.hasPermit {
            raise(slot, to: priority, except: waiting, &jobs)
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
