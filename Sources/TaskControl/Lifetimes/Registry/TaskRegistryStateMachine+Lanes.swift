/// The functions that decide which tasks of a key are cancelled for a new task, and which may start next. A lane
/// contains the tasks of one key; an entry is a registered task.
extension TaskRegistryStateMachine {
    /// The registered tasks (entries) of one key.
    struct Lane: Keyed {
        let key: Key
        var nextInBucket = Chain.none
        /// The entries of the lane, oldest first, except those in the phases `skipped` and `left`.
        var chain = Chain()
        var entryCount: Int32 = 0
        var liveCount: Int32 = 0
    }

    func isLive(_ key: Key) -> Bool {
        lanes.index(of: key).map { lanes[$0].liveCount > 0 } ?? false
    }

    /// The keys that have live tasks: tasks that have neither finished nor been cancelled.
    ///
    /// - Complexity: O(*n*) in the number of keys.
    var liveKeys: [Key] {
        (0..<lanes.extent).compactMap { lane in
            lanes.isOccupied(lane) && lanes[lane].liveCount > 0 ? lanes[lane].key : nil
        }
    }

    /// Returns whether a key has a live task that runs or may start.
    ///
    /// - Complexity: O(*n*) in the number of tasks of the key.
    func isRunning(_ key: Key) -> Bool { hasTask(key) { $0.isLive && !$0.waits } }

    /// Returns whether a key has a live task that waits to start.
    ///
    /// - Complexity: O(*n*) in the number of tasks of the key.
    func isWaiting(_ key: Key) -> Bool { hasTask(key) { $0.isLive && $0.waits } }

    private func hasTask(_ key: Key, where condition: (Phase) -> Bool) -> Bool {
        guard let lane = lanes.index(of: key) else { return false }
        return lanes[lane].chain.slots(in: entries).contains { condition(entries[$0].phase) }
    }

    /// Returns the task of a ``Lane`` that the behavior `preferPrevious` keeps instead of adding a new one; `nil` if
    /// there is none.
    ///
    /// A task for which `isCancelled` returns `true`, because it was cancelled through its own handle, is not returned.
    /// This function cancels such a task in the registry too.
    mutating func standing(in lane: Slot, _ isCancelled: (Job) -> Bool, _ effects: inout Effects) -> ID? {
        while let slot = newestLive(in: lane) {
            guard let job = entries[slot].job, isCancelled(job) else { return entries.ticket(at: slot) }
            cancel(slot, &effects)
            promote(lane, &effects)
        }
        return nil
    }

    /// Returns the newest task of a ``Lane`` that runs or may start; if there is none, the newest task that waits;
    /// `nil` if the lane has neither.
    private func newestLive(in lane: Slot) -> Slot? {
        guard lanes[lane].liveCount > 0 else { return nil }
        var newestToCome: Slot?
        var slot = lanes[lane].chain.last
        while slot != Chain.none {
            switch entries[slot].phase {
            case .starting, .admitted, .running: return slot
            case .waiting, .quiet, .throttled, .queued, .leaving: newestToCome = newestToCome ?? slot
            case .cancelled, .skipped, .left: break
            }
            slot = entries[slot].links.older
        }
        return newestToCome
    }

    // MARK: Cancelling

    /// Cancels all tasks.
    ///
    /// - Complexity: O(*n*) in the number of tasks that were added since the last call. For the first call since the
    ///   registry was empty, O(*n*) in the number of tasks and of vacant slots of the table before the last task.
    mutating func cancelAll(_ effects: inout Effects) {
        // After all: no task of this registry starts in the meantime.
        defer { if limit != nil { passPermitsOn(&effects) } }
        // The intervals end when their timer tasks, which are cancelled here, continue.
        if isClosed { for interval in intervals.values { effects.stop(interval.timer) } }
        guard liveCount > 0 else { return }
        if let added = addedSinceCancelAll {
            for id in added where entries.contains(id) { cancel(id.slot, &effects) }
        } else {
            for slot in 0..<entries.extent where entries.isOccupied(slot) { cancel(slot, &effects) }
        }
        addedSinceCancelAll = []
    }

    /// Removes the tasks from `addedSinceCancelAll` that are no longer live, if most of them are not.
    @inline(never)
    mutating func tidyAdded() {
        guard let added = addedSinceCancelAll else { return }
        if entries.isEmpty {
            addedSinceCancelAll = nil
        } else if added.count > 2 * liveCount + 32 {
            addedSinceCancelAll = added.filter { phase(of: $0)?.isLive ?? false }
        }
    }

    /// Cancels the tasks of a key.
    ///
    /// - Complexity: O(*n*) in the number of tasks under the key.
    mutating func cancel(key: Key, _ effects: inout Effects) {
        guard let lane = lanes.index(of: key) else { return }
        cancelLane(lane, &effects)
        if limit != nil { passPermitsOn(&effects) }
    }

    /// Cancels a task. Has no effect if the task has finished or was cancelled before.
    mutating func cancel(_ id: ID, _ effects: inout Effects) {
        guard entries.contains(id) else { return }
        cancel(id.slot, &effects)
        promote(entries[id.slot].lane, &effects)
    }

    /// Cancels the tasks of a ``Lane`` that the behavior of a new task replaces at once.
    ///
    /// - Parameters:
    ///   - lane: The lane.
    ///   - behavior: The behavior of the new task.
    ///   - isCancelled: Returns whether a task was cancelled through its own handle.
    ///   - effects: Receives the tasks to cancel.
    mutating func makeRoom(
        in lane: Slot,
        for behavior: TaskStoreDuplicateKeyBehavior,
        _ isCancelled: (Job) -> Bool,
        _ effects: inout Effects
    ) {
        switch behavior.kind {
        case .cancelPrevious: cancelLane(lane, &effects)
        case .keepLatest:
            cancelFirst(in: lane, isCancelled, &effects)
            cancelLane(lane, &effects) { $0.isReplaceable }
        case .debounce: cancelDebounced(in: lane, &effects)
        case .throttle:
            cancelClaimants(of: lane, isCancelled, &effects)
            if let slot = intervals[lane]?.waiting { cancel(slot, &effects) }
        case .wait: cancelFirst(in: lane, isCancelled, &effects)
        case .runConcurrently, .preferPrevious: break
        }
    }

    /// Cancels the oldest tasks of a ``Lane`` that have not begun and were cancelled through their own handles, as
    /// `isCancelled` reports. Begins with the oldest task, and stops at the first one that has begun or was not
    /// cancelled. The cancelled tasks will never run, so no other task needs to wait for them.
    private mutating func cancelFirst(in lane: Slot, _ isCancelled: (Job) -> Bool, _ effects: inout Effects) {
        while case let first = lanes[lane].chain.first, first != Chain.none,
            [.starting, .quiet, .throttled, .queued, .leaving, .admitted].contains(entries[first].phase),
            let job = entries[first].job, isCancelled(job)
        {
            cancel(first, &effects)
            promote(lane, &effects)
        }
    }

    /// Cancels the task of a ``Lane`` with the behavior `debounce` that has not started: it waits for its quiet time, or
    /// has waited for it. There is at most one.
    private mutating func cancelDebounced(in lane: Slot, _ effects: inout Effects) {
        var (slot, remaining) = (lanes[lane].chain.last, lanes[lane].liveCount)
        while remaining > 0, slot != Chain.none {
            let phase = entries[slot].phase
            if phase.isLive { remaining -= 1 }
            if phase.isReplaceable, sides[slot]?.afterQuietTime != nil { return cancel(slot, &effects) }
            slot = entries[slot].links.older
        }
    }

    /// Cancels the task that claims the interval of a ``Lane`` if it was cancelled through its own handle, as
    /// `isCancelled` reports: it would never begin the interval. If another task then claims the interval, does the
    /// same for that task, and stops at the first one that was not cancelled.
    private mutating func cancelClaimants(
        of lane: Slot,
        _ isCancelled: (Job) -> Bool,
        _ effects: inout Effects
    ) {
        while case .claimed(by: let slot)? = intervals[lane]?.start, let job = entries[slot].job, isCancelled(job) {
            cancel(slot, &effects)
            promote(lane, &effects)
        }
    }

    /// Cancels the live tasks of a ``Lane`` whose phase satisfies a predicate, the oldest first.
    ///
    /// - Parameters:
    ///   - lane: The lane.
    ///   - newest: The slot of the task before which tasks are cancelled; `nil` for all tasks of the lane.
    ///   - effects: Receives the tasks to cancel.
    ///   - isMeant: Returns whether tasks in a phase are cancelled.
    mutating func cancelLane(
        _ lane: Slot,
        before newest: Slot? = nil,
        _ effects: inout Effects,
        where isMeant: (Phase) -> Bool = { _ in true }
    ) {
        // Searches from the newest entry, because live entries are near it: cancelled tasks that have not ended
        // accumulate before them.
        let former = effects.cancellingCount
        var slot = newest.map { entries[$0].links.older } ?? lanes[lane].chain.last
        var remaining = lanes[lane].liveCount
        while remaining > 0, slot != Chain.none {
            let current = slot
            let phase = entries[current].phase
            slot = entries[current].links.older
            guard phase.isLive else { continue }
            remaining -= 1
            if isMeant(phase) { cancel(current, &effects) }
        }
        effects.reverseCancelling(after: former)
    }

    /// Cancels a task if it is live. The caller must then call `promote`, because another task of the same key may now
    /// start.
    private mutating func cancel(_ slot: Slot, _ effects: inout Effects) {
        guard entries[slot].phase.isLive else { return }
        retire(slot, &effects)
        effects.cancel(entries[slot].job)
    }

    /// Records that a live task is cancelled. A task that runs continues until it ends; a task that does not run yet
    /// will never run, and is removed from the order of its ``Lane``. The caller must then call `promote`, because
    /// another task of the lane may now start.
    mutating func retire(_ slot: Slot, _ effects: inout Effects) {
        if entries[slot].phase == .running {
            entries[slot].phase = .cancelled
        } else {
            if limit != nil { givePermitUp(slot) }
            givePlaceUp(slot)
            unlink(slot)
            entries[slot].phase = .skipped
        }
        suspect(slot)
        changeLiveCount(of: slot, by: -1, &effects)
        effects.retire(entries.ticket(at: slot))
    }

    // MARK: Bookkeeping

    /// Lets the tasks of a ``Lane`` start whose wait is over: the first task in the lane, and, if the interval of the
    /// lane has ended, the task that waits for that end. If the registry has a limit, passes permits on that tasks have
    /// given up.
    mutating func promote(_ lane: Slot, _ effects: inout Effects) {
        guard lane != Chain.none else { return }
        if !intervals.isEmpty { admit(lane, &effects) }
        let first = lanes[lane].chain.first
        if first != Chain.none, entries[first].phase == .waiting { start(first, as: .starting, &effects) }
        if limit != nil { passPermitsOn(&effects) }
    }

    /// Lets a task start that has waited for other tasks of its key, or for an interval. If the registry has a limit and no
    /// permit is available, the task then waits for one.
    mutating func start(_ slot: Slot, as phase: Phase, _ effects: inout Effects) {
        guard takePermit(slot, &effects) else { return entries[slot].phase = .queued }
        entries[slot].phase = phase
        effects.startsWaitingTask = true
        effects.wake(takeParked(slot))
    }

    /// Adds `change` to the number of live tasks: to the total, and to the number in the ``Lane`` of the task at
    /// `slot`. Called with -1 when that task is no longer live.
    mutating func changeLiveCount(of slot: Slot, by change: Int32, _ effects: inout Effects) {
        liveCount += Int(change)
        effects.liveCountChange += change
        let lane = entries[slot].lane
        if lane != Chain.none { lanes[lane].liveCount += change }
    }

    /// Removes a task from the order of its ``Lane``. Its entry stays in the table.
    mutating func unlink(_ slot: Slot) {
        let lane = entries[slot].lane
        if lane != Chain.none { lanes[lane].chain.remove(slot, in: &entries) }
    }

    /// Records that a task of a ``Lane`` has been removed from the table of entries. Removes the lane if that was its
    /// last task and it has no interval.
    ///
    /// - Returns: The key of the lane, if the lane was removed; otherwise `nil`.
    mutating func leaveLane(_ lane: Slot) -> Key? {
        guard lane != Chain.none else { return nil }
        lanes[lane].entryCount -= 1
        return removeIfUnused(lane)
    }

    /// Removes a ``Lane`` if it has neither tasks nor an interval.
    ///
    /// - Returns: The key of the lane, if the lane was removed; otherwise `nil`.
    mutating func removeIfUnused(_ lane: Slot) -> Key? {
        guard lanes[lane].entryCount == 0, intervals.isEmpty || intervals[lane] == nil else { return nil }
        return lanes.remove(lane).key
    }
}
