/// Keys: who is under one, who gives way to whom, and whose turn comes next.
extension TaskRegistryStateMachine {
    func isLive(_ key: Key) -> Bool {
        lanes[key].map { $0.liveCount > 0 } ?? false
    }

    /// - Complexity: O(*n*) in the number of keys.
    var liveKeys: [Key] {
        lanes.compactMap { $0.value.liveCount > 0 ? $0.key : nil }
    }

    /// The key that a lane is found by, if there is one: equal to this one, and not always the same object.
    func formerKey(_ key: Key) -> Key? {
        lanes.index(forKey: key).map { lanes[$0].key }
    }

    /// Who stands for the key when a new one prefers what is there: the newest that runs, else the newest that will.
    func newestLive(_ key: Key) -> Existing? {
        guard let lane = lanes[key], lane.liveCount > 0 else { return nil }
        var newestToCome = Self.none
        var slot = lane.newest
        while slot != Self.none {
            switch entries[slot].phase {
            case .ready, .running: return existing(slot)
            case .waiting, .quiet: if newestToCome == Self.none { newestToCome = slot }
            case .cancelled, .skipped, .left: break
            }
            slot = entries[slot].older
        }
        return existing(newestToCome)
    }

    private func existing(_ slot: Slot) -> Existing {
        Existing(id: ID(serial: entries[slot].serial, slot: slot), job: entries[slot].job)
    }

    /// Cancels what the behavior of a newcomer puts aside.
    mutating func makeRoom(in key: Key, for behavior: TaskStoreDuplicateKeyBehavior) -> [Job] {
        switch behavior.kind {
        case .cancelPrevious: cancelLane(key) { _ in true }
        case .keepLatest: cancelLane(key) { $0 == .waiting || $0 == .quiet }
        case .debounce: cancelLane(key) { $0 == .quiet }
        case .wait, .runConcurrently, .preferPrevious: []
        }
    }

    /// Cancels the live ones of a lane that are in a phase of that kind, oldest first.
    mutating func cancelLane(_ key: Key, where isMeant: (Phase) -> Bool) -> [Job] {
        guard let lane = lanes[key] else { return [] }
        var cancelled: [Job] = []
        // From the newest, since that is where the live ones are: those that ignore their cancellation pile up before them.
        var slot = lane.newest
        var remaining = lane.liveCount
        while remaining > 0 {
            let current = slot
            let phase = entries[current].phase
            slot = entries[current].older
            guard phase.isLive else { continue }
            remaining -= 1
            if isMeant(phase), let job = cancel(current) { cancelled.append(job) }
        }
        return cancelled.reversed()
    }

    mutating func cancelOlder(than slot: Slot) -> [Job] {
        var cancelled: [Job] = []
        var slot = entries[slot].older
        while slot != Self.none {
            let current = slot
            slot = entries[current].older
            if let job = cancel(current) { cancelled.append(job) }
        }
        return cancelled.reversed()
    }

    /// Cancels one if it is live: what runs is told, what does not yet run never will. The caller promotes.
    ///
    /// - Returns: Its job. A task that is being created at this moment has none; `attach` will say that it is to be cancelled.
    mutating func cancel(_ slot: Slot) -> Job? {
        switch entries[slot].phase {
        case .running:
            retire(slot, .cancelled)
            return entries[slot].job
        case .waiting, .quiet, .ready:
            unlink(slot)
            retire(slot, .skipped)
            return entries[slot].job
        case .cancelled, .skipped, .left:
            return nil
        }
    }

    /// A task that has not run yet, and now never will, leaves its lane.
    mutating func skip(_ slot: Slot) -> [Waiter] {
        unlink(slot)
        retire(slot, .skipped)
        return entries[slot].key.map { promote($0) } ?? []
    }

    /// A task that waits leaves its lane, and reports that itself.
    mutating func leave(_ slot: Slot) {
        unlink(slot)
        entries[slot].phase = .left
        liveCount -= 1
    }

    /// A task that has left reports it.
    mutating func report(_ slot: Slot) {
        entries[slot].phase = .skipped
        if retired != nil { retired?.append(ID(serial: entries[slot].serial, slot: slot)) }
    }

    /// If it is the turn of the lane's first, it is ready.
    mutating func promote(_ key: Key) -> [Waiter] {
        guard let first = lanes[key]?.oldest, entries[first].phase == .waiting else { return [] }
        entries[first].phase = .ready
        return takeParked(first)
    }

    // MARK: Bookkeeping

    /// One that was live no longer is. What has been unlinked is no longer counted in its lane.
    private mutating func retire(_ slot: Slot, _ phase: Phase) {
        entries[slot].phase = phase
        liveCount -= 1
        if retired != nil { retired?.append(ID(serial: entries[slot].serial, slot: slot)) }
        if phase.isLinked, let key = entries[slot].key { lanes[key]?.liveCount -= 1 }
    }

    /// Puts a live entry at the end of its key's lane.
    ///
    /// - Parameter isFirst: Whether there is no such lane yet; the caller has looked.
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
        guard let index = lanes.index(forKey: key) else { preconditionFailure("Who is linked has a lane.") }
        change(&lanes.values[index])
    }
}
