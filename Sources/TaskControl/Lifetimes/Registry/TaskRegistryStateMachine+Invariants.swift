/// Functions for the tests of the state machine.
extension TaskRegistryStateMachine {
    /// The largest number of tasks or keys for which one of the tables has memory allocated.
    var capacity: Int {
        max(
            entries.capacity,
            lanes.capacity,
            sides.capacity,
            intervals.capacity,
            limit?.places.capacity ?? 0,
            addedSinceCancelAll?.capacity ?? 0
        )
    }

    /// Returns whether a key has an interval of the behavior `throttle` that has begun and has not ended.
    func hasInterval(_ key: Key) -> Bool {
        if let lane = lanes.slot(of: key), case .begun? = intervals[lane]?.start { true } else { false }
    }

    /// Traps if one of the invariants in the documentation of the type does not hold.
    func checkInvariants() {
        let occupied = (0..<entries.extent).filter(entries.isOccupied)
        precondition(occupied.count { entries[$0].phase.isLive } == liveCount, "The live count is right.")
        precondition(occupied.count { entries[$0].phase.isBounded } == waitingCount, "The waiting count is right.")
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
            precondition(lanes.slot(of: lanes.key(at: slot)) == slot, "Each key has one lane.")
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
            for (older, newer) in zip(chain, chain.dropFirst()) {
                let raised = entries[newer].raisedBefore <= min(entries[older].raisedTo, entries[older].raisedBefore)
                precondition(raised, "A waiting task has raised all that is before it.")
            }
            checkMarks(of: lane, chain)
            let debounced = chain.filter { sides[$0]?.afterQuietTime != nil && entries[$0].phase.isReplaceable }
            precondition(debounced.count <= 1, "Of the debounced tasks that have not begun, only the newest stays.")
            precondition(debounced.allSatisfy { $0 == lane.debounced }, "The debounced task is found.")
        }
        precondition(
            laneDrainers.values.allSatisfy { !$0.isEmpty },
            "A line of drainers is removed with the last of them."
        )
        precondition(laneDrainers.keys.allSatisfy { lanes[$0].entryCount > 0 }, "A drained lane has tasks.")
        for (slot, interval) in intervals.entries {
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

    private func checkMarks(of lane: Lane, _ chain: [Slot]) {
        for (mark, isPassed) in [
            (lane.begunUpTo, { !$0.isReplaceable }), (lane.cancelledUpTo, { !$0.isLive }),
        ] as [(Slot, (Phase) -> Bool)] where mark != Chain.none {
            guard let index = chain.firstIndex(of: mark) else { preconditionFailure("A mark is in its lane.") }
            precondition(
                chain[...index].allSatisfy { isPassed(entries[$0].phase) },
                "A task before a mark is cancelled."
            )
        }
    }

    private func checkLimit(_ occupied: [Slot]) {
        let queued = occupied.filter { entries[$0].phase == .queued }
        guard let limit else { return precondition(queued.isEmpty, "Without a limit, no task waits for a permit.") }
        precondition(limit.left == Chain.none && !limit.leavesClaim, "Permits are passed on at once.")
        precondition(occupied.allSatisfy { entries[$0].lane != Chain.none }, "A limited registry has keys only.")
        limit.line.checkLinks(in: limit.places)
        let line = limit.line.slots(in: limit.places)
        precondition(line.count == limit.places.count, "Each place is in line.")
        let holders = occupied.filter { entries[$0].phase.hasPermit }
        precondition(Set(line.map { limit.places[$0].entry }) == Set(holders + queued), "Each place has an entry.")
        for slot in occupied {
            let place = entries[slot].place
            precondition((place != Chain.none) == (holders + queued).contains(slot), "Tasks in line have a place.")
            precondition(place == Chain.none || limit.places[place].entry == slot, "A place has one entry.")
        }
        for (index, place) in line.enumerated() {
            let hasPermit = entries[limit.places[place].entry].phase.hasPermit
            precondition(hasPermit == (index < holders.count), "The first places have permits.")
            precondition(hasPermit == limit.hasPermit(place), "A place with a permit is known.")
        }
        let waiting = line.map { limit.places[$0] }.filter { !$0.hasPermit }
        precondition(Set(waiting.map(\.level)).sorted(by: >) == limit.ends.map(\.level), "Each level has an end.")
        for end in limit.ends {
            precondition(
                waiting.last { $0.level == end.level }!.entry == limit.places[end.place].entry,
                "An end is last."
            )
        }
        precondition(limit.firstWaiting == line.first { !limit.hasPermit($0) } ?? Chain.none, "The first is known.")
        precondition(holders.count == limit.size - limit.available, "Each task that may start has a permit.")
        precondition(
            queued.isEmpty || limit.available <= 0 || limit.isPaused,
            "No entry waits for a permit that is available."
        )
        precondition(
            !limit.isPaused || !occupied.contains { [.starting, .admitted].contains(entries[$0].phase) },
            "No entry begins while the registry is paused."
        )
        for (older, newer) in zip(line, line.dropFirst()) {
            let (older, newer) = (limit.places[older], limit.places[newer])
            precondition(
                older.hasPermit && !newer.hasPermit || !newer.hasPermit && older.level > newer.level
                    || (newer.hasPermit || older.level == newer.level) && older.order < newer.order,
                "The places are in order."
            )
            let raised = newer.raisedBefore <= min(entries[older.entry].raisedTo, older.raisedBefore)
            precondition(raised, "A task in line has raised all that is before it.")
        }
        for lane in 0..<lanes.extent where lanes.isOccupied(lane) && lanes[lane].successor != Chain.none {
            let successor = entries[lanes[lane].successor]
            precondition(successor.lane == lane, "A successor is in its lane.")
            precondition([.waiting, .quiet, .queued].contains(successor.phase), "A successor has no permit.")
        }
        for slot in queued where !limit.isPaused && sides[slot]?.parked != nil && sides[slot]?.cancelsOlder == true {
            let lane = lanes[entries[slot].lane].chain.slots(in: entries)
            precondition(
                lane.prefix { $0 != slot }.allSatisfy { !entries[$0].phase.isLive },
                "No task waits for a permit that it should free itself."
            )
        }
    }
}
