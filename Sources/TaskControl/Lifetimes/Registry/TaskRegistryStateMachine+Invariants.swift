/// For the tests.
extension TaskRegistryStateMachine {
    /// The largest number of entries, keys or waiting tasks that memory is held for.
    var capacity: Int { max(entries.capacity, lanes.capacity, laneSlots.capacity, sides.capacity) }

    /// Checks the invariants that the type lists.
    func checkInvariants() {
        let occupied = (0..<entries.extent).filter(entries.isOccupied)
        precondition(occupied.count { entries[$0].phase.isLive } == liveCount, "The live count is right.")
        for (slot, side) in sides {
            precondition(entries.isOccupied(slot), "The side of an entry is removed with it.")
            let entry = entries[slot]
            precondition(side.parked == nil || [.waiting, .skipped].contains(entry.phase), "A parked task waits.")
            precondition(side.followers.isEmpty || entry.job == nil, "A followed task is being created.")
        }
        precondition(lanes.count == laneSlots.count, "Each lane has one key.")
        for (key, slot) in laneSlots {
            let lane = lanes[slot]
            lane.chain.checkLinks(in: entries)
            let members = occupied.filter { entries[$0].lane == slot }
            let chain = lane.chain.slots(in: entries)
            precondition(lane.key == key && lane.entryCount == members.count, "A lane has the entries of its key.")
            precondition(members.count > 0, "A lane is removed with its last entry.")
            precondition(members.count { entries[$0].phase.isLive } == lane.liveCount, "A lane counts live entries.")
            precondition(Set(chain) == Set(members.filter { entries[$0].phase.isLinked }), "A lane links its own.")
            precondition(chain.first.map { entries[$0].phase } != .waiting, "The first in a lane never waits.")
            for (older, newer) in zip(chain, chain.dropFirst()) {
                let raised = entries[newer].raisedTo <= entries[older].raisedTo
                precondition(raised, "A waiting task has raised all that is before it.")
            }
        }
    }
}
