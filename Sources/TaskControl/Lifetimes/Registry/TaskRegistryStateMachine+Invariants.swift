/// Functions for the tests of the state machine.
extension TaskRegistryStateMachine {
    /// The largest number of tasks or keys for which one of the tables has memory allocated.
    var capacity: Int {
        max(
            entries.capacity,
            lanes.capacity,
            sides.capacity,
            intervals.capacity,
            addedSinceCancelAll?.capacity ?? 0
        )
    }

    /// Returns whether a key has an interval of the behavior `throttle` that has begun and has not ended.
    func hasInterval(_ key: Key) -> Bool {
        if let lane = lanes.index(of: key), case .begun? = intervals[lane]?.start { true } else { false }
    }

    /// Traps if one of the invariants in the documentation of the type does not hold.
    func checkInvariants() {
        let occupied = (0..<entries.extent).filter(entries.isOccupied)
        precondition(occupied.count { entries[$0].phase.isLive } == liveCount, "The live count is right.")
        if let added = addedSinceCancelAll {
            let live = occupied.filter { entries[$0].phase.isLive }
            precondition(Set(live.map { entries.ticket(at: $0) }).isSubset(of: added), "A live entry is cancelled.")
        }
        for (slot, side) in sides {
            precondition(entries.isOccupied(slot), "The side of an entry is removed with it.")
            let entry = entries[slot]
            precondition(
                side.parked == nil || [.waiting, .throttled, .queued, .skipped].contains(entry.phase),
                "A parked task waits."
            )
            precondition(side.followers.isEmpty || entry.job == nil, "A followed task is being created.")
            precondition(side.cause == nil || !entry.phase.isLive, "A task with a cause was cancelled.")
        }
        let lines = (0..<lanes.extent).filter(lanes.isOccupied)
        precondition(lanes.count == lines.count, "The count of lanes is right.")
        for slot in lines {
            let lane = lanes[slot]
            precondition(lanes.index(of: lane.key) == slot, "Each key has one lane.")
            lane.chain.checkLinks(in: entries)
            let members = occupied.filter { entries[$0].lane == slot }
            let chain = lane.chain.slots(in: entries)
            precondition(lane.entryCount == members.count, "A lane has the entries of its key.")
            precondition(
                members.count > 0 || intervals[slot] != nil,
                "A lane is removed with its last entry and its interval."
            )
            let throttled = members.filter { entries[$0].phase == .throttled }
            precondition(throttled == [intervals[slot]?.waiting].compactMap { $0 }, "One throttled entry waits.")
            precondition(members.count { entries[$0].phase.isLive } == lane.liveCount, "A lane counts live entries.")
            precondition(Set(chain) == Set(members.filter { entries[$0].phase.isLinked }), "A lane links its own.")
            precondition(chain.first.map { entries[$0].phase } != .waiting, "The first in a lane never waits.")
            // With a limit, tasks of other keys have escalated some of them.
            for (older, newer) in zip(chain, chain.dropFirst()) where limit == nil {
                let raised = entries[newer].raisedTo <= entries[older].raisedTo
                precondition(raised, "A waiting task has raised all that is before it.")
            }
        }
        precondition(
            laneDrainers.allSatisfy { !$0.value.isEmpty },
            "A line of drainers is removed with the last of them."
        )
        precondition(laneDrainers.keys.allSatisfy { lanes[$0].entryCount > 0 }, "A drained lane has tasks.")
        for (slot, interval) in intervals {
            precondition(lanes.isOccupied(slot), "An interval has a lane.")
            guard case .claimed(by: let claimant) = interval.start else { continue }
            precondition(
                [.admitted, .queued, .leaving].contains(entries[claimant].phase),
                "The entry that claims an interval has not begun."
            )
            precondition(entries[claimant].lane == slot, "The entry that claims an interval is in its lane.")
        }
        checkLimit(occupied)
    }

    private func checkLimit(_ occupied: [Slot]) {
        let queued = occupied.filter { entries[$0].phase == .queued }
        guard let limit else { return precondition(queued.isEmpty, "Without a limit, no task waits for a permit.") }
        limit.permits.checkInvariants()
        precondition(limit.freed == 0, "Permits are passed on at once.")
        let holders = occupied.count { entries[$0].phase.hasPermit }
        precondition(holders == limit.permits.size - limit.permits.available, "Each task that may start has a permit.")
        precondition(queued.count == limit.permits.waiterCount, "The queued entries are in line.")
        precondition(queued.allSatisfy { sides[$0]?.permit != nil }, "A queued entry has a request.")
        precondition(queued.isEmpty || limit.permits.available == 0, "No entry waits for a permit that is available.")
        precondition(occupied.allSatisfy { entries[$0].lane != Chain.none }, "A limited registry has keys only.")
    }
}
