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
        guard let lane = lanes.index(of: key), lanes[lane].entryCount > 0 else { return nil }
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
