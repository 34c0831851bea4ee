/// For the tests.
extension TaskRegistryStateMachine {
    /// The largest number of entries, keys or waiting tasks that memory is held for.
    var capacity: Int { max(entries.capacity, lanes.capacity, side.capacity) }

    /// Checks the invariants that the type lists.
    func checkInvariants() {
        var live = 0
        var linked = 0
        for slot in 0..<entries.extent where entries.isOccupied(slot) {
            let entry = entries[slot]
            if entry.phase.isLive { live += 1 }
            if entry.phase.isLinked, entry.key != nil { linked += 1 }
        }
        precondition(live == liveCount, "The live count is right.")
        for (slot, side) in side {
            precondition(entries.isOccupied(slot) && !side.isEmpty, "The side of an entry goes with it.")
            let entry = entries[slot]
            precondition(side.parked == nil || [.waiting, .skipped].contains(entry.phase), "A parked task waits.")
            precondition(side.followers.isEmpty || entry.job == nil, "A followed task is being created.")
        }
        for (key, lane) in lanes {
            var (slot, older, liveInLane) = (lane.oldest, Self.none, Int32(0))
            precondition(entries[lane.oldest].phase != .waiting, "The first in a lane never waits.")
            var raisedTo = UInt8.max
            while slot != Self.none {
                let entry = entries[slot]
                precondition(entry.raisedTo <= raisedTo, "A waiting task has raised all that is before it.")
                raisedTo = entry.raisedTo
                precondition(entry.key == key && entry.older == older && entry.phase.isLinked, "A lane links its own.")
                if entry.phase.isLive { liveInLane += 1 }
                linked -= 1
                (older, slot) = (slot, entry.newer)
            }
            precondition(older == lane.newest && liveInLane == lane.liveCount, "A lane knows its end and its count.")
        }
        precondition(linked == 0, "An entry with a key is in its lane.")
    }
}
