/// The functions that decide which tasks of a key are cancelled for a new task, and which may start next. A lane
/// contains the tasks of one key; an entry is a registered task.
extension TaskRegistryStateMachine {
    func isLive(_ key: Key) -> Bool {
        lanes.slot(of: key).map { lanes[$0].liveCount > 0 } ?? false
    }

    /// The keys that have live tasks: tasks that have neither finished nor been cancelled.
    ///
    /// - Complexity: O(*n*) in the number of keys.
    var liveKeys: [Key] {
        (0..<lanes.extent).compactMap { lane in
            lanes.isOccupied(lane) && lanes[lane].liveCount > 0 ? lanes.key(at: lane) : nil
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
        guard let lane = lanes.slot(of: key) else { return false }
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
        while slot != lanes[lane].cancelledUpTo {
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

    /// Cancels all tasks, except those that must finish.
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
            for id in added where entries.contains(id) && !mustFinish(id.slot) { cancel(id.slot, &effects) }
        } else {
            for slot in 0..<entries.extent where entries.isOccupied(slot) && !mustFinish(slot) {
                cancel(slot, &effects)
            }
        }
        addedSinceCancelAll = []
    }

    /// Cancels all tasks that have not begun, except those that must finish. Those that run continue.
    ///
    /// - Complexity: O(*n*) in the number of tasks and of vacant slots of the table before the last task.
    mutating func cancelNotBegun(_ effects: inout Effects) {
        // After all: no task of this registry starts in the meantime.
        defer { if limit != nil { passPermitsOn(&effects) } }
        for slot in 0..<entries.extent
        where entries.isOccupied(slot) && entries[slot].phase != .running && !mustFinish(slot) {
            cancel(slot, &effects)
        }
    }

    /// The handles of the live tasks that need not finish. After `cancelNotBegun`, these tasks run, and have been created.
    ///
    /// - Complexity: O(*n*) in the number of tasks and of vacant slots of the table before the last task.
    var liveJobs: [Job] {
        (0..<entries.extent).compactMap {
            entries.isOccupied($0) && entries[$0].phase.isLive && !mustFinish($0) ? entries[$0].job : nil
        }
    }

    /// The tasks that have not ended, in the order in which they were added.
    ///
    /// - Complexity: O(*n* log *n*) in the number of tasks, and O(*m*) in that of vacant slots of the table.
    var remaining: [ID] {
        (0..<entries.extent).filter(entries.isOccupied).map { entries.ticket(at: $0) }.sorted { $0.number < $1.number }
    }

    private func mustFinish(_ slot: Slot) -> Bool { !sides.isEmpty && sides[slot]?.mustFinish == true }

    /// Removes the tasks from `addedSinceCancelAll` that are no longer live, if most of them are not. Called only if
    /// `addedSinceCancelAll` is not `nil`.
    @inline(never)
    mutating func tidyAdded() {
        let added = addedSinceCancelAll!
        if entries.isEmpty {
            addedSinceCancelAll = nil
        } else if added.count > 2 * liveCount + 32 {
            addedSinceCancelAll = added.filter { phase(of: $0)?.isLive ?? false }
        }
    }

    /// Cancels the tasks of a key.
    ///
    /// - Complexity: O(*n*) in the number of tasks that are cancelled, amortized.
    mutating func cancel(key: Key, _ effects: inout Effects) {
        cancel(keys: CollectionOfOne(key), &effects)
    }

    /// Cancels the tasks of several keys. None of them starts in the meantime.
    ///
    /// - Complexity: O(*n*) in the number of keys, and of the tasks that are cancelled, amortized.
    mutating func cancel(keys: some Sequence<Key>, _ effects: inout Effects) {
        for key in keys {
            if let lane = lanes.slot(of: key) { cancelLane(lane, &effects) }
        }
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
            cancelLane(lane, onlyNotBegun: true, &effects)
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

    /// Cancels the task of a ``Lane`` with the behavior `debounce` that has not begun. There is at most one.
    private mutating func cancelDebounced(in lane: Slot, _ effects: inout Effects) {
        let slot = lanes[lane].debounced
        guard entries.isOccupied(slot), entries[slot].lane == lane, entries[slot].phase.isReplaceable,
            sides[slot]?.afterQuietTime != nil
        else { return }
        cancel(slot, &effects)
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

    /// Cancels live tasks of a ``Lane``, the oldest first.
    ///
    /// - Parameters:
    ///   - lane: The lane.
    ///   - newest: The slot of the task before which tasks are cancelled; `nil` for all tasks of the lane.
    ///   - onlyNotBegun: Whether tasks that run continue.
    ///   - effects: Receives the tasks to cancel.
    /// - Complexity: O(*n*) in the number of cancelled tasks, amortized: other tasks are passed once.
    mutating func cancelLane(
        _ lane: Slot,
        before newest: Slot? = nil,
        onlyNotBegun: Bool = false,
        _ effects: inout Effects
    ) {
        let former = effects.cancellingCount
        let end = onlyNotBegun ? lanes[lane].begunUpTo : lanes[lane].cancelledUpTo
        var slot = newest.map { entries[$0].links.older } ?? lanes[lane].chain.last
        while slot != end {
            let current = slot
            slot = entries[current].links.older
            if onlyNotBegun, !entries[current].phase.isReplaceable { continue }
            cancel(current, &effects)
        }
        effects.reverseCancelling(after: former)
        let last = newest.map { entries[$0].links.older } ?? lanes[lane].chain.last
        lanes[lane].begunUpTo = last
        if !onlyNotBegun { lanes[lane].cancelledUpTo = last }
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
    ///
    /// - Parameter isCancelled: Whether the task was cancelled; otherwise it was removed because too many tasks wait.
    mutating func retire(_ slot: Slot, isCancelled: Bool = true, _ effects: inout Effects) {
        if entries[slot].phase == .running {
            entries[slot].phase = .cancelled
            limit?.leavesClaim = true
        } else {
            if entries[slot].phase.waits { effects.waitingCountChange -= 1 }
            if entries[slot].phase.isBounded { waitingCount -= 1 }
            if limit != nil { leavePlace(slot) }
            givePlaceUp(slot)
            unlink(slot)
            entries[slot].phase = .skipped
        }
        changeLiveCount(of: slot, by: -1, &effects)
        if isCancelled { effects.retire(entries.ticket(at: slot)) }
    }

    // MARK: Bookkeeping

    /// Lets the tasks of a ``Lane`` start whose wait is over: the first task in the lane, and, if the interval of the
    /// lane has ended, the task that waits for that end. If the registry has a limit, passes permits on that tasks have
    /// given up.
    mutating func promote(_ lane: Slot, _ effects: inout Effects) {
        guard lane != Chain.none else { return }
        if limit != nil { passPlaceOn(in: lane, &effects) }
        if !intervals.isEmpty { admit(lane, &effects) }
        let first = lanes[lane].chain.first
        if first != Chain.none, entries[first].phase == .waiting { start(first, as: .starting, &effects) }
        if limit != nil { passPermitsOn(&effects) }
    }

    /// Lets a task start that its key lets start. If the registry has a limit and no permit is available, the task then
    /// waits for one.
    mutating func start(_ slot: Slot, as phase: Phase, _ effects: inout Effects) {
        let hasWaited = entries[slot].phase.waits
        if entries[slot].phase.isBounded { waitingCount -= 1 }
        guard limit == nil || receivePlace(slot, &effects) else {
            entries[slot].phase = .queued
            waitingCount += 1
            if !hasWaited { effects.waitingCountChange += 1 }
            return callToReplace(slot, &effects)
        }
        entries[slot].phase = phase
        guard hasWaited else { return }
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
        guard lane != Chain.none else { return }
        let older = entries[slot].links.older
        if lanes[lane].begunUpTo == slot { lanes[lane].begunUpTo = older }
        if lanes[lane].cancelledUpTo == slot { lanes[lane].cancelledUpTo = older }
        lanes[lane].chain.remove(slot, in: &entries)
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
        return lanes.remove(lane)
    }
}

/// Escalation of the tasks that other tasks or callers wait for.
extension TaskRegistryStateMachine {
    /// Records the priority of a waiting task, and that the tasks before it are escalated to that priority: those before
    /// it in its ``Lane``, or, for a task that waits for a permit, those before it in line, which include those that have
    /// a permit. A task that waits for an interval passes the priority on when it is in line.
    ///
    /// - Parameters:
    ///   - id: The waiting task.
    ///   - priority: The raw priority.
    /// - Returns: The tasks that the caller must escalate: those before the waiting task that have not been escalated
    ///   to `priority` yet. A task that is still being created is escalated by `attach`.
    /// - Complexity: O(1) amortized: each task is passed at most once for each priority.
    mutating func raise(before id: ID, to priority: UInt8) -> [Job] {
        guard let phase = phase(of: id), phase.isBounded else { return [] }
        var jobs: [Job] = []
        entries[id.slot].raisedTo = max(entries[id.slot].raisedTo, priority)
        switch phase {
        case .waiting: raiseLane(before: id.slot, to: priority, &jobs)
        case .queued: raiseLine(before: id.slot, to: priority, &jobs)
        default: break
        }
        return jobs
    }

    private mutating func raiseLane(before waiting: Slot, to priority: UInt8, _ jobs: inout [Job]) {
        var slot = waiting
        while entries[slot].raisedBefore < priority {
            entries[slot].raisedBefore = priority
            slot = entries[slot].links.older
            guard slot != Chain.none else { return }
            raise(slot, to: priority, &jobs)
        }
    }

    /// Records that a task is escalated.
    ///
    /// - Parameter jobs: Receives the handle of the task, if the caller must escalate it.
    mutating func raise(_ slot: Slot, to priority: UInt8, _ jobs: inout [Job]) {
        guard entries[slot].raisedTo < priority else { return }
        entries[slot].raisedTo = priority
        if let job = entries[slot].job { jobs.append(job) }
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
    mutating func raiseAll(for drainer: LaneDrainID, to priority: UInt8) -> [Job] {
        // The waiter has no outcome yet, so the lane has had tasks since the waiter was added, and its slot still
        // belongs to it.
        guard drainers.isWaiting(drainer.id) else { return [] }
        var jobs: [Job] = []
        var slot = lanes[drainer.lane].chain.last
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

extension TaskRegistryStateMachine {
    // MARK: Closing

    /// Refuses every task that is added later.
    mutating func close() {
        isClosed = true
    }

    // MARK: Draining

    /// Adds a waiter for the end of all tasks. The waiter must then pass its continuation to `parkDrainer(_:_:)`.
    ///
    /// - Returns: The ID of the waiter; `nil` if there are no tasks: then no waiter was added, and the caller need not
    ///   wait.
    mutating func enrollDrainer() -> DrainID? {
        entries.isEmpty ? nil : drainers.enroll()
    }

    mutating func parkDrainer(_ id: DrainID, _ waiter: Waiter) -> WaitOutcome? {
        drainers.park(id, waiter)
    }

    mutating func drainerLeaves(_ id: DrainID) -> Waiter? {
        drainers.leave(id, with: .left)
    }

    // MARK: Draining a key

    /// Identifies a waiter for the end of the tasks of one key. The waiter passes `id` and its continuation to
    /// `parkDrainer(_:_:)`, as waiters for the end of all tasks do.
    struct LaneDrainID {
        let id: DrainID
        fileprivate let lane: Slot
    }

    /// Adds a waiter for the end of the tasks of a key. The waiter must then pass its continuation to
    /// `parkDrainer(_:_:)`.
    ///
    /// - Returns: The ID of the waiter; `nil` if the key has no tasks: then no waiter was added, and the caller need
    ///   not wait.
    mutating func enrollDrainer(of key: Key) -> LaneDrainID? {
        guard let lane = lanes.slot(of: key), lanes[lane].entryCount > 0 else { return nil }
        return LaneDrainID(id: drainers.enroll(in: &laneDrainers[lane, default: Chain()]), lane: lane)
    }

    mutating func drainerLeaves(_ drainer: LaneDrainID) -> Waiter? {
        // The waiter has no outcome yet, so the lane has had tasks since the waiter was added, and its slot still
        // belongs to it.
        guard drainers.isWaiting(drainer.id) else { return nil }
        let waiter = drainers.leave(drainer.id, in: &laneDrainers[drainer.lane]!, with: .left)
        if laneDrainers[drainer.lane]!.isEmpty { removeDrainers(of: drainer.lane) }
        return waiter
    }

    /// Wakes the waiters for the end of the tasks of a key, if the task that is about to be removed from the ``Lane``
    /// of the key is the last one.
    mutating func wakeDrainers(of lane: Slot, _ effects: inout Effects) {
        guard lane != Chain.none, lanes[lane].entryCount == 1, laneDrainers[lane] != nil else { return }
        effects.wake(drainers.wakeAll(in: &laneDrainers[lane]!, with: .reached))
        removeDrainers(of: lane)
    }

    private mutating func removeDrainers(of lane: Slot) {
        laneDrainers[lane] = nil
        laneDrainers.shrinkIfMostlyEmpty()
    }
}

/// The intervals of the behavior `throttle`: in each interval, at most one task with this behavior begins in a ``Lane``
/// (the tasks of one key).
extension TaskRegistryStateMachine {
    /// Identifies an interval by the serial number of the task that has begun it, and the slot of the ``Lane`` of its
    /// key.
    typealias IntervalID = Ticket

    /// The interval of a ``Lane``. The interval begins when a task with the behavior `throttle` begins. Until then, the
    /// task claims the interval: no other task with that behavior can begin.
    struct Interval {
        enum Start {
            case claimed(by: Slot)
            case begun(IntervalID)
        }

        var start: Start
        /// The slot of the task that waits for the end of the interval; `nil` if there is none. At most one task waits.
        var waiting: Slot?
        /// The task that sleeps until the end of the interval; `nil` before the interval begins, and while the timer is
        /// being created.
        var timer: Job?
    }

    /// Records a new task with the behavior `throttle`: in the phase `admitted`, the task claims the interval of its
    /// ``Lane``; otherwise it waits for the end of the interval.
    mutating func takePlace(_ slot: Slot, _ phase: Phase) {
        let lane = entries[slot].lane
        if phase == .admitted {
            intervals[lane] = Interval(start: .claimed(by: slot))
        } else {
            intervals[lane]?.waiting = slot
        }
    }

    /// Records that a task will not begin or has ended: the task no longer claims an interval, or waits for the end of
    /// one. The caller must then call `promote`, because another task may now start.
    mutating func givePlaceUp(_ slot: Slot) {
        if intervals.isEmpty { return }
        let lane = entries[slot].lane
        guard lane != Chain.none, let interval = intervals[lane] else { return }
        if interval.waiting == slot { intervals[lane]?.waiting = nil }
        if case .claimed(by: slot) = interval.start { end(lane) }
    }

    /// Begins the interval of a ``Lane``, because the task that has claimed the interval begins. If the interval has no
    /// length, ends it at once. Has no effect for a task that has not claimed the interval.
    mutating func beginInterval(_ id: ID, _ effects: inout Effects) {
        let (lane, time) = (entries[id.slot].lane, sides[id.slot]?.time ?? .zero)
        guard case .claimed(by: id.slot)? = intervals[lane]?.start else { return }
        if time > .zero {
            let interval = IntervalID(serial: entries[id.slot].serial, slot: lane)
            intervals[lane]?.start = .begun(interval)
            effects.begin(interval, lasting: time)
        } else {
            end(lane)
            admit(lane, &effects)
        }
    }

    /// Attaches the handle of the timer of an interval. Cancels the timer if the interval has ended, or if the registry
    /// is closed and each of its tasks has finished or was cancelled.
    mutating func attachTimer(_ id: IntervalID, _ timer: Job, _ effects: inout Effects) {
        guard hasInterval(id) else { return effects.stop(timer) }
        intervals[id.slot]?.timer = timer
        if isClosed, liveCount == 0 { effects.stop(timer) }
    }

    /// Ends an interval: the task that waits for its end may then start. Has no effect if the interval has ended
    /// before.
    ///
    /// - Returns: The key of the interval, if the machine no longer stores it; otherwise `nil`. The caller must keep
    ///   the key until it has released the lock.
    mutating func intervalEnded(_ id: IntervalID, _ effects: inout Effects) -> Key? {
        guard hasInterval(id) else { return nil }
        end(id.slot)
        admit(id.slot, &effects)
        return removeIfUnused(id.slot)
    }

    private func hasInterval(_ id: IntervalID) -> Bool {
        if case .begun(id)? = intervals[id.slot]?.start { true } else { false }
    }

    /// Ends the interval of a ``Lane``. The task that waits for the end claims the next interval, but does not start
    /// before `admit` is called.
    private mutating func end(_ lane: Slot) {
        guard let waiting = intervals[lane]?.waiting else {
            intervals[lane] = nil
            return intervals.shrinkIfMostlyEmpty()
        }
        intervals[lane] = Interval(start: .claimed(by: waiting), waiting: waiting)
    }

    /// Lets the task that has claimed the interval of a ``Lane`` start, if the task still waits.
    mutating func admit(_ lane: Slot, _ effects: inout Effects) {
        guard case .claimed(by: let slot)? = intervals[lane]?.start, entries[slot].phase == .throttled else { return }
        intervals[lane]?.waiting = nil
        start(slot, as: .admitted, &effects)
    }
}
