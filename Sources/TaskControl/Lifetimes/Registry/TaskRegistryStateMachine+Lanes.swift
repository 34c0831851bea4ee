/// Keys: which tasks are under one, which give way to others, and whose turn comes next.
extension TaskRegistryStateMachine {
    func isLive(_ key: Key) -> Bool {
        lanes[key].map { $0.liveCount > 0 } ?? false
    }

    /// - Complexity: O(*n*) in the number of keys.
    var liveKeys: [Key] {
        lanes.compactMap { $0.value.liveCount > 0 ? $0.key : nil }
    }

    /// The key that a lane is found by, if there is one: equal to this key, and not always the same object.
    func formerKey(_ key: Key) -> Key? {
        lanes.index(forKey: key).map { lanes[$0].key }
    }

    /// The task that goes on when a new one of the key prefers what is there.
    ///
    /// Tasks that were cancelled through their own handle do not stand for their key: they are cancelled here too.
    mutating func standing(for key: Key, _ isCancelled: (Job) -> Bool, _ effects: inout Effects) -> Existing? {
        while let slot = newestLive(key) {
            guard let job = entries[slot].job, isCancelled(job) else {
                return Existing(id: id(at: slot), job: entries[slot].job)
            }
            cancel(slot, &effects)
            promote(key, &effects)
        }
        return nil
    }

    /// The newest entry that runs or is about to, else the newest that waits.
    private func newestLive(_ key: Key) -> Slot? {
        guard let lane = lanes[key], lane.liveCount > 0 else { return nil }
        var newestToCome: Slot?
        var slot = lane.newest
        while slot != Self.none {
            switch entries[slot].phase {
            case .starting, .running: return slot
            case .waiting, .quiet: newestToCome = newestToCome ?? slot
            case .cancelled, .skipped, .left: break
            }
            slot = entries[slot].older
        }
        return newestToCome
    }

    // MARK: Cancelling

    /// - Complexity: O(*n*) in the number of tasks, and of the slots left empty before the last of them.
    mutating func cancelAll() -> Effects {
        var effects = Effects()
        guard liveCount > 0 else { return effects }
        for slot in 0..<entries.extent where entries.isOccupied(slot) { cancel(slot, &effects) }
        return effects
    }

    /// - Complexity: O(*n*) in the number of tasks under the key.
    mutating func cancel(key: Key) -> Effects {
        var effects = Effects()
        cancelLane(key, &effects) { _ in true }
        return effects
    }

    /// An ID whose task has finished has no effect.
    mutating func cancel(_ id: ID) -> Effects {
        var effects = Effects()
        guard phase(of: id) != nil else { return effects }
        cancel(id.slot, &effects)
        if let key = entries[id.slot].key { promote(key, &effects) }
        return effects
    }

    /// Cancels the tasks to which the behavior of a new one puts an end.
    mutating func makeRoom(
        in key: Key,
        for behavior: TaskStoreDuplicateKeyBehavior,
        _ isCancelled: (Job) -> Bool,
        _ effects: inout Effects
    ) {
        switch behavior.kind {
        case .cancelPrevious: cancelLane(key, &effects) { _ in true }
        case .keepLatest:
            cancelFirst(key, isCancelled, &effects)
            cancelLane(key, &effects) { $0 == .waiting || $0 == .quiet }
        case .debounce: cancelLane(key, &effects) { $0 == .quiet }
        case .wait: cancelFirst(key, isCancelled, &effects)
        case .runConcurrently, .preferPrevious: break
        }
    }

    /// Cancels the first entries of a lane that have not begun, and were cancelled through their own handles: they will never run, so no other
    /// task needs to wait for them.
    private mutating func cancelFirst(_ key: Key, _ isCancelled: (Job) -> Bool, _ effects: inout Effects) {
        while let first = lanes[key]?.oldest, [.starting, .quiet].contains(entries[first].phase),
            let job = entries[first].job, isCancelled(job)
        {
            cancel(first, &effects)
            promote(key, &effects)
        }
    }

    /// Cancels the live entries of a lane that are in such a phase, the oldest first.
    private mutating func cancelLane(_ key: Key, _ effects: inout Effects, where isMeant: (Phase) -> Bool) {
        guard let lane = lanes[key] else { return }
        // From the newest, because that is where the live ones are: those that ignore their cancellation pile up before them.
        let former = effects.cancellingCount
        var slot = lane.newest
        var remaining = lane.liveCount
        while remaining > 0 {
            let current = slot
            let phase = entries[current].phase
            slot = entries[current].older
            guard phase.isLive else { continue }
            remaining -= 1
            if isMeant(phase) { cancel(current, &effects) }
        }
        effects.reverseCancelling(after: former)
    }

    mutating func cancelOlder(than slot: Slot, _ effects: inout Effects) {
        var slot = entries[slot].older
        while slot != Self.none {
            let current = slot
            slot = entries[current].older
            cancel(current, &effects)
        }
        effects.reverseCancelling(after: 0)
    }

    /// Cancels an entry if it is live: a body that runs learns of it, a body that does not run yet never will. The caller promotes.
    private mutating func cancel(_ slot: Slot, _ effects: inout Effects) {
        switch entries[slot].phase {
        case .running: retire(slot, .cancelled, &effects)
        case .waiting, .quiet, .starting:
            unlink(slot)
            retire(slot, .skipped, &effects)
        case .cancelled, .skipped, .left: return
        }
        effects.cancel(entries[slot].job)
    }

    /// A task whose body has not run yet, and now never will, leaves its lane.
    mutating func skip(_ slot: Slot, _ effects: inout Effects) {
        unlink(slot)
        retire(slot, .skipped, &effects)
        if let key = entries[slot].key { promote(key, &effects) }
    }

    /// A task that waits leaves its lane, and reports that itself.
    mutating func leave(_ slot: Slot, _ effects: inout Effects) {
        unlink(slot)
        entries[slot].phase = .left
        changeLiveCount(by: -1, &effects)
    }

    /// A task that has left reports it.
    mutating func report(_ slot: Slot, _ effects: inout Effects) {
        entries[slot].phase = .skipped
        effects.retire(id(at: slot))
    }

    /// Frees the lane's first entry to start, if it waits.
    mutating func promote(_ key: Key, _ effects: inout Effects) {
        guard let first = lanes[key]?.oldest, entries[first].phase == .waiting else { return }
        entries[first].phase = .starting
        effects.wake(takeParked(first))
    }

    // MARK: Bookkeeping

    private func id(at slot: Slot) -> ID { ID(serial: entries[slot].serial, slot: slot) }

    /// A live entry no longer is. An entry that has been unlinked is no longer counted in its lane.
    private mutating func retire(_ slot: Slot, _ phase: Phase, _ effects: inout Effects) {
        entries[slot].phase = phase
        changeLiveCount(by: -1, &effects)
        effects.retire(id(at: slot))
        if phase.isLinked, let key = entries[slot].key { lanes[key]?.liveCount -= 1 }
    }

    /// Puts a live entry at the end of its key's lane.
    ///
    /// - Parameter isFirst: Whether there is no such lane yet, which the caller knows.
    mutating func link(_ slot: Slot, _ key: Key, isFirst: Bool) {
        if isFirst {
            lanes[key] = Lane(oldest: slot, newest: slot, liveCount: 1)
            return
        }
        var newest = Self.none
        updateLane(key) { lane in
            newest = lane.newest
            lane.newest = slot
            lane.liveCount += 1
        }
        entries[newest].newer = slot
        entries[slot].older = newest
    }

    /// Takes an entry out of its key's lane; an empty lane is gone.
    ///
    /// - Returns: Whether there are others in the lane.
    @discardableResult
    mutating func unlink(_ slot: Slot) -> Bool {
        guard let key = entries[slot].key else { return false }
        let (older, newer) = (entries[slot].older, entries[slot].newer)
        if older == Self.none, newer == Self.none {
            lanes.removeValue(forKey: key)
            lanes.shrinkIfMostlyEmpty()
            return false
        }
        if older != Self.none { entries[older].newer = newer }
        if newer != Self.none { entries[newer].older = older }
        let isLive = entries[slot].phase.isLive
        updateLane(key) { lane in
            if older == Self.none { lane.oldest = newer }
            if newer == Self.none { lane.newest = older }
            if isLive { lane.liveCount -= 1 }
        }
        entries[slot].older = Self.none
        entries[slot].newer = Self.none
        return true
    }

    private mutating func updateLane(_ key: Key, _ change: (inout Lane) -> Void) {
        guard let index = lanes.index(forKey: key) else { preconditionFailure("A linked entry has a lane.") }
        change(&lanes.values[index])
    }
}
