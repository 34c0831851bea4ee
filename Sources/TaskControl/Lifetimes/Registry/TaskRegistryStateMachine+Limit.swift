/// The limit on how many tasks of a registry run at once. A lane contains the tasks of one key; an entry is a registered
/// task.
extension TaskRegistryStateMachine {
    /// The line of a registry with a limit. An entry receives a *place* in line when its key lets it start, and keeps the
    /// place until it has finished, also if it is cancelled while it runs, or until it is cancelled before it has begun.
    /// The first places, as many as the limit, have a permit. An entry whose place has none is `queued`. An entry that
    /// waits for its key, for a quiet time or for an interval has no place.
    ///
    /// An entry that replaces others receives what it can use of what they had, so that a key does not run later because
    /// a task was added to it: the first of the places of the replaced entries that have not begun. If the new entry has
    /// no permit then, and a replaced entry had one, the new entry is the `successor` of its ``Lane``: it receives the
    /// place of the next entry of the lane that gives up a permit when the new entry may use it. In the meantime it is
    /// in line like others.
    struct Limit {
        struct Place: Linked {
            /// The slot of the entry that has the place.
            var entry: Slot
            /// A number that increases along the line.
            let order: UInt64
            var links = Links()
            /// The raw priority to which the entries of the places before this one were escalated, for the entry of this
            /// place or of a later one; 0 for none.
            var raisedBefore: UInt8 = 0
        }

        let size: Int
        /// The number of permits that no place has.
        private(set) var available: Int
        private(set) var places = SlotTable<Place>()
        /// The places with a permit, followed by the others.
        private(set) var line = Chain()
        /// The first place without a permit; `Chain.none` if there is none.
        private(set) var firstWaiting = Chain.none
        private var nextOrder: UInt64 = 0
        /// The first of the places that entries have given up in this call; `Chain.none` if there is none, or if it has
        /// been passed on.
        private(set) var left = Chain.none
        /// Whether an entry that was cancelled in this call had a permit, or was the successor of such an entry.
        var leavesClaim = false

        init(size: Int) {
            (self.size, available) = (size, size)
        }

        func hasPermit(_ place: Slot) -> Bool {
            firstWaiting == Chain.none || places[place].order < places[firstWaiting].order
        }

        /// Adds a place at the end of the line. It has a permit if one is available.
        mutating func append(_ entry: Slot) -> Slot {
            let place = places.insert(Place(entry: entry, order: nextOrder))
            nextOrder += 1
            line.append(place, in: &places)
            if available > 0 {
                available -= 1
            } else if firstWaiting == Chain.none {
                firstWaiting = place
            }
            return place
        }

        mutating func remove(_ place: Slot) {
            if hasPermit(place) { available += 1 }
            if place == firstWaiting { firstWaiting = places[place].links.newer }
            line.remove(place, in: &places)
            places.discard(place)
        }

        /// Records that an entry has given up its place. If several entries do so in one call, keeps the first place.
        mutating func leave(_ place: Slot) {
            if left == Chain.none {
                left = place
            } else if places[place].order < places[left].order {
                remove(left)
                left = place
            } else {
                remove(place)
            }
        }

        /// Gives the place that was given up in this call to an entry.
        ///
        /// - Parameter own: The place that the entry has; `Chain.none` if it has none.
        /// - Returns: The place of the entry: the first of the two.
        mutating func inherit(_ entry: Slot, having own: Slot) -> Slot {
            guard left != Chain.none else { return own }
            if own != Chain.none { leave(own) }
            places[left].entry = entry
            defer { left = Chain.none }
            return left
        }

        /// Removes the place that was given up in this call and not passed on.
        mutating func removeLeft() {
            leavesClaim = false
            if left == Chain.none { return }
            remove(left)
            left = Chain.none
        }

        /// Gives an available permit to the first place without one.
        ///
        /// - Returns: The entry of that place; `nil` if no permit is available, or each place has one.
        mutating func grant() -> Slot? {
            guard available > 0, firstWaiting != Chain.none else { return nil }
            let place = firstWaiting
            firstWaiting = places[place].links.newer
            available -= 1
            return places[place].entry
        }

        /// Records that the entries before a place are escalated to a priority.
        ///
        /// - Returns: The entry before the place; `nil` if there is none, or if the entries before the place were escalated
        ///   to that priority before.
        mutating func raise(before place: Slot, to priority: UInt8) -> (place: Slot, entry: Slot)? {
            guard places[place].raisedBefore < priority else { return nil }
            places[place].raisedBefore = priority
            let older = places[place].links.older
            return older == Chain.none ? nil : (older, places[older].entry)
        }

        /// The raw priority to which the entry of a place was escalated for the entries of later places.
        func priorityBehind(_ place: Slot) -> UInt8 {
            let newer = places[place].links.newer
            return newer == Chain.none ? 0 : places[newer].raisedBefore
        }
    }

    /// Gives a place to a task that its key lets start: the place that the tasks which it replaces have given up in this
    /// call, or the last one. The caller must then set the phase of the task, and call `promote` or `passPermitsOn`.
    ///
    /// - Returns: Whether the task may start, because its place has a permit.
    mutating func receivePlace(_ slot: Slot, _ effects: inout Effects) -> Bool {
        if limit!.left == Chain.none {
            claim(slot)
            passPermitsOn(&effects)
            entries[slot].place = limit!.append(slot)
        } else {
            inherit(slot, &effects)
        }
        guard hasPermit(slot) else {
            // The task may have waited for its key before: then its priority, and that of those behind it, is known.
            var jobs: [Job] = []
            raiseLine(before: slot, to: entries[slot].raisedTo, &jobs)
            effects.raise(jobs, to: entries[slot].raisedTo)
            return false
        }
        if lanes[entries[slot].lane].successor == slot { lanes[entries[slot].lane].successor = Chain.none }
        return true
    }

    /// Cancels the older tasks of the key of a `queued` task that cancels them when it begins: they may have the permits
    /// that it waits for.
    ///
    /// - Returns: Whether the task may start, because it has received a permit from one of them.
    mutating func replaceOlder(_ slot: Slot, _ effects: inout Effects) -> Bool {
        sides[slot]?.mustReplace = false
        cancelLane(entries[slot].lane, before: slot, &effects)
        inherit(slot, &effects)
        if hasPermit(slot) { begins(slot, &effects) }
        passPermitsOn(&effects)
        return entries[slot].phase != .queued
    }

    private func hasPermit(_ slot: Slot) -> Bool { limit!.hasPermit(entries[slot].place) }

    /// Makes a task the successor in its ``Lane`` if a task that it replaces in this call had a permit, or was the successor.
    mutating func claim(_ slot: Slot) {
        if limit!.leavesClaim { lanes[entries[slot].lane].successor = slot }
        limit!.leavesClaim = false
    }

    /// Gives a task the place that tasks have given up in this call, if that is before its own.
    private mutating func inherit(_ slot: Slot, _ effects: inout Effects) {
        claim(slot)
        entries[slot].place = limit!.inherit(slot, having: entries[slot].place)
        var jobs: [Job] = []
        let priority = limit!.priorityBehind(entries[slot].place)
        raise(slot, to: priority, &jobs)
        effects.raise(jobs, to: priority)
    }

    /// Records that a task gives up its place, because it has finished or will not begin. The caller must then call
    /// `promote` or `passPermitsOn`, or give the place to the task that replaces it.
    mutating func leavePlace(_ slot: Slot) {
        let (lane, place) = (entries[slot].lane, entries[slot].place)
        if lanes[lane].successor == slot {
            lanes[lane].successor = Chain.none
            limit!.leavesClaim = true
        }
        guard place != Chain.none else { return }
        entries[slot].place = Chain.none
        if limit!.hasPermit(place) { limit!.leavesClaim = true }
        limit!.leave(place)
    }

    /// Records that a task no longer waits for a permit, because its own handle was cancelled. No other task receives a
    /// permit: none was available.
    mutating func leaveLine(_ slot: Slot) {
        leavePlace(slot)
        limit!.removeLeft()
    }

    /// Gives the place that a task of a ``Lane`` has given up in this call to the successor in the lane, if the place has
    /// a permit and the successor may start. Otherwise removes the place.
    mutating func passPlaceOn(in lane: Slot, _ effects: inout Effects) {
        let (place, successor) = (limit!.left, lanes[lane].successor)
        if place != Chain.none, successor != Chain.none, limit!.hasPermit(place) {
            if entries[successor].phase == .queued {
                inherit(successor, &effects)
                begins(successor, &effects)
            } else if entries[successor].phase == .waiting, lanes[lane].chain.first == successor {
                start(successor, as: .starting, &effects)
            }
        }
        limit!.removeLeft()
    }

    /// Gives the permits that tasks have given up to the tasks that wait for them, in the order of the line.
    mutating func passPermitsOn(_ effects: inout Effects) {
        limit!.removeLeft()
        while let slot = limit!.grant() { begins(slot, &effects) }
    }

    /// Lets a `queued` task start whose place has received a permit.
    private mutating func begins(_ slot: Slot, _ effects: inout Effects) {
        let lane = entries[slot].lane
        if lanes[lane].successor == slot { lanes[lane].successor = Chain.none }
        entries[slot].phase = sides[slot]?.cancelsOlder == true ? .admitted : .starting
        effects.startsWaitingTask = true
        effects.wake(takeParked(slot))
    }

    /// Records that the tasks before a task in line are escalated.
    ///
    /// - Parameter jobs: Receives the handles of the tasks that the caller must escalate.
    mutating func raiseLine(before slot: Slot, to priority: UInt8, _ jobs: inout [Job]) {
        var place = entries[slot].place
        while let older = limit!.raise(before: place, to: priority) {
            raise(older.entry, to: priority, &jobs)
            place = older.place
        }
    }
}
