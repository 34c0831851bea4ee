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
    ///
    /// Without permits, the places are in the order of their levels, the highest first, and within a level in the order
    /// in which they were received. The level of a place is 0, unless the tasks are ordered by their priorities, or the
    /// key was moved to the front.
    ///
    /// While the limit is paused, no place receives a permit, and an entry that has a permit and has not begun is `queued`.
    struct Limit {
        /// The rank of a place among those without a permit: 0, a raw priority, or `Limit.front`.
        typealias Level = UInt16

        struct Place: Linked {
            /// The slot of the entry that has the place.
            var entry: Slot
            /// A number that increases along the places with a permit, and along those of one level without one.
            fileprivate(set) var order: Int64
            fileprivate(set) var level: Level
            fileprivate(set) var hasPermit = false
            var links = Links()
            /// The raw priority to which the entries of the places before this one were escalated, for the entry of this
            /// place or of a later one; 0 for none.
            var raisedBefore: UInt8 = 0

            fileprivate func isBefore(_ other: Place) -> Bool {
                if hasPermit != other.hasPermit { return hasPermit }
                return hasPermit || level == other.level ? order < other.order : level > other.level
            }
        }

        /// The level of the places that were moved to the front.
        static var front: Level { 256 }

        let size: Int
        /// The number of permits that no place has. Less than 0 if more tasks run than may, because some of them ran already
        /// when they were added.
        private(set) var available: Int
        /// Whether no place receives a permit.
        var isPaused = false
        private(set) var places = SlotTable<Place>()
        /// The places with a permit, followed by the others.
        private(set) var line = Chain()
        /// The first place without a permit; `Chain.none` if there is none.
        private(set) var firstWaiting = Chain.none
        /// The last place of each level without a permit, the highest level first.
        private(set) var ends: [(level: Level, place: Slot)] = []
        private var nextOrder: Int64 = 0
        /// The number of places that were moved to the front.
        private var moves: Int64 = 0
        /// The first of the places that entries have given up in this call; `Chain.none` if there is none, or if it has
        /// been passed on.
        private(set) var left = Chain.none
        /// Whether an entry that was cancelled in this call had a permit, or was the successor of such an entry.
        var leavesClaim = false

        init(size: Int) {
            (self.size, available) = (size, size)
        }

        func hasPermit(_ place: Slot) -> Bool { places[place].hasPermit }

        /// Adds a place for an entry. It has a permit if one is available; otherwise it is the last one of its level.
        mutating func append(_ entry: Slot, at level: Level) -> Slot {
            let place = places.insert(Place(entry: entry, order: nextOrder, level: level))
            nextOrder += 1
            if available > 0, !isPaused {
                available -= 1
                places[place].hasPermit = true
                line.append(place, in: &places)
            } else {
                queue(place)
            }
            return place
        }

        /// Adds a place with a permit for an entry that runs already. If no permit is available, fewer than none are, until
        /// other places are removed.
        fileprivate mutating func adopt(_ entry: Slot) -> Slot {
            let place = places.insert(Place(entry: entry, order: nextOrder, level: 0, hasPermit: true))
            nextOrder += 1
            available -= 1
            line.insert(place, after: lastWithPermit, in: &places)
            return place
        }

        /// Puts a place without a permit in line, behind the others of its level.
        private mutating func queue(_ place: Slot) {
            let level = places[place].level
            let index = ends.firstIndex { $0.level < level } ?? ends.endIndex
            if index == 0 {
                line.insert(place, after: lastWithPermit, in: &places)
                firstWaiting = place
            } else {
                line.insert(place, after: ends[index - 1].place, in: &places)
            }
            if index > 0, ends[index - 1].level == level {
                ends[index - 1].place = place
            } else {
                ends.insert((level, place), at: index)
            }
        }

        /// The last place with a permit; `Chain.none` if there is none.
        var lastWithPermit: Slot {
            firstWaiting == Chain.none ? line.last : places[firstWaiting].links.older
        }

        /// Records that a place no longer is one of those without a permit. It is still in line.
        private mutating func leaveLevel(_ place: Slot) {
            let older = places[place].links.older
            if let index = ends.firstIndex(where: { $0.place == place }) {
                let isLast = older == Chain.none || places[older].hasPermit || places[older].level != ends[index].level
                if isLast { ends.remove(at: index) } else { ends[index].place = older }
            }
            if place == firstWaiting { firstWaiting = places[place].links.newer }
        }

        mutating func remove(_ place: Slot) {
            if hasPermit(place) { available += 1 } else { leaveLevel(place) }
            line.remove(place, in: &places)
            places.discard(place)
        }

        /// Puts a place without a permit behind the others of a level.
        mutating func move(_ place: Slot, to level: Level) {
            leaveLevel(place)
            line.remove(place, in: &places)
            places[place].level = level
            places[place].raisedBefore = 0
            places[place].order = nextOrder
            nextOrder += 1
            queue(place)
        }

        /// Puts a place before all others without a permit.
        mutating func moveToFront(_ place: Slot) {
            if !hasPermit(place) { leaveLevel(place) }
            line.remove(place, in: &places)
            if hasPermit(place) { available += 1 }
            places[place].hasPermit = false
            places[place].level = Self.front
            places[place].raisedBefore = 0
            moves += 1
            places[place].order = -moves
            line.insert(place, after: lastWithPermit, in: &places)
            firstWaiting = place
            if ends.first?.level != Self.front { ends.insert((Self.front, place), at: 0) }
        }

        /// Records that an entry has given up its place. If several entries do so in one call, keeps the first place. A
        /// permit is not kept while the limit is paused.
        mutating func leave(_ place: Slot) {
            if isPaused, hasPermit(place) {
                remove(place)
            } else if left == Chain.none {
                left = place
            } else if places[place].isBefore(places[left]) {
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
        /// - Returns: The entry of that place; `nil` if no permit is available, or each place has one, or the limit is
        ///   paused.
        mutating func grant() -> Slot? {
            guard available > 0, !isPaused, firstWaiting != Chain.none else { return nil }
            let place = firstWaiting
            leaveLevel(place)
            places[place].hasPermit = true
            places[place].order = nextOrder
            nextOrder += 1
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
            entries[slot].place = limit!.append(slot, at: level(of: slot))
        } else {
            inherit(slot, &effects)
        }
        guard hasPermit(slot) else {
            raiseAround(slot, &effects)
            return false
        }
        if lanes[entries[slot].lane].successor == slot { lanes[entries[slot].lane].successor = Chain.none }
        return true
    }

    /// Gives a place with a permit to a task that runs already.
    mutating func adoptPlace(_ slot: Slot, _ effects: inout Effects) {
        entries[slot].place = limit!.adopt(slot)
        raiseForLater(slot, &effects)
        passPermitsOn(&effects)
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
        if !hasPermit(slot), level(of: slot) > limit!.places[entries[slot].place].level {
            limit!.move(entries[slot].place, to: level(of: slot))
        }
        raiseForLater(slot, &effects)
    }

    /// The rank of a task in line, if it has no permit.
    private func level(of slot: Slot) -> Limit.Level { sides.isEmpty ? 0 : sides[slot]?.level ?? 0 }

    /// Escalates a task to the priority to which the entries of later places have escalated those before them.
    private mutating func raiseForLater(_ slot: Slot, _ effects: inout Effects) {
        var jobs: [Job] = []
        let priority = limit!.priorityBehind(entries[slot].place)
        raise(slot, to: priority, &jobs)
        effects.raise(jobs, to: priority)
    }

    /// Escalates a task whose place without a permit is new, and those before it in line. The priority of the task may be
    /// known already, because it has waited before.
    private mutating func raiseAround(_ slot: Slot, _ effects: inout Effects) {
        let priority = max(limit!.priorityBehind(entries[slot].place), entries[slot].raisedTo)
        var jobs: [Job] = []
        raise(slot, to: priority, &jobs)
        raiseLine(before: slot, to: priority, &jobs)
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
        waitingCount -= 1
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

    // MARK: The order of the waiting

    /// Lets the waiting tasks of a key start before all others that wait for a permit now. Their order stays the same.
    ///
    /// - Returns: Whether the key has a waiting task.
    /// - Complexity: O(*n*) in the number of tasks of the key.
    mutating func moveToFront(_ key: Key, _ effects: inout Effects) -> Bool {
        guard let lane = lanes.slot(of: key) else { return false }
        let waiting = lanes[lane].chain.slots(in: entries).filter { isWaiting($0) }
        if limit == nil { return !waiting.isEmpty }
        // The newest first, so that the oldest comes to stand before it.
        for slot in waiting.reversed() {
            sides[slot, default: Side()].level = Limit.front
            guard entries[slot].phase == .queued else { continue }
            limit!.moveToFront(entries[slot].place)
            raiseAround(slot, &effects)
        }
        return !waiting.isEmpty
    }

    /// Escalates the tasks of a key to a priority. If the tasks are ordered by their priorities, those that wait also
    /// receive the rank of that priority, which may be lower than before.
    ///
    /// - Returns: Whether the key has a task that was not cancelled.
    /// - Complexity: O(*n*) in the number of tasks of the key.
    mutating func setPriority(_ priority: UInt8, of key: Key, _ effects: inout Effects) -> Bool {
        guard let lane = lanes.slot(of: key) else { return false }
        let live = lanes[lane].chain.slots(in: entries).filter { entries[$0].phase.isLive }
        var jobs: [Job] = []
        for slot in live { raise(slot, to: priority, &jobs) }
        effects.raise(jobs, to: priority)
        for slot in live where isOrdered && isWaiting(slot) {
            sides[slot, default: Side()].level = Limit.Level(priority)
            guard entries[slot].phase == .queued else { continue }
            limit!.move(entries[slot].place, to: Limit.Level(priority))
            raiseAround(slot, &effects)
        }
        return !live.isEmpty
    }

    private func isWaiting(_ slot: Slot) -> Bool { entries[slot].phase.waits && entries[slot].phase != .leaving }

    // MARK: Pausing

    var isPaused: Bool { limit?.isPaused ?? false }

    /// Lets no task begin until `endPause` is called. The tasks that run continue. A registry without a limit has one from
    /// now on, which is not reached.
    ///
    /// - Returns: Whether the registry was not paused before.
    /// - Complexity: O(*n*) in the number of tasks that run or may start. The first call for a registry without a limit is
    ///   O(*n* log *n*) in the number of its tasks.
    mutating func pause(_ effects: inout Effects) -> Bool {
        if isPaused { return false }
        if limit == nil {
            limit = Limit(size: .max)
            for id in remaining where entries[id.slot].phase.hasPermit {
                entries[id.slot].place = limit!.append(id.slot, at: 0)
            }
        }
        limit!.isPaused = true
        var place = limit!.lastWithPermit
        while place != Chain.none {
            let slot = limit!.places[place].entry
            let older = limit!.places[place].links.older
            if entries[slot].phase != .running, entries[slot].phase != .cancelled {
                limit!.moveToFront(place)
                entries[slot].phase = .queued
                waitingCount += 1
                effects.waitingCountChange += 1
                raiseAround(slot, &effects)
            }
            place = older
        }
        return true
    }

    /// Lets tasks begin again.
    ///
    /// - Returns: Whether the registry was paused.
    /// - Complexity: O(*n*) in the number of tasks in line.
    mutating func endPause(_ effects: inout Effects) -> Bool {
        guard isPaused else { return false }
        limit!.isPaused = false
        passPermitsOn(&effects)
        var place = limit!.firstWaiting
        while place != Chain.none {
            callToReplace(limit!.places[place].entry, &effects)
            place = limit!.places[place].links.newer
        }
        return true
    }

    /// Lets a `queued` task call `begin` that cancels the older tasks of its key when it begins: they may have the permit
    /// that it waits for. Not while the limit is paused.
    mutating func callToReplace(_ slot: Slot, _ effects: inout Effects) {
        guard !isPaused, !sides.isEmpty, sides[slot]?.cancelsOlder == true else { return }
        // It may be about to park.
        sides[slot]?.mustReplace = true
        effects.wake(takeParked(slot))
    }

    // MARK: A bound on the waiting

    /// Removes a task that waits, if more tasks wait than may.
    ///
    /// - Parameter newest: The task that was added, or that has begun to wait.
    /// - Returns: The task that was removed, whose body must report an error: it is not cancelled. `nil` if
    ///   there is room.
    /// - Complexity: O(1) amortized.
    mutating func dropOneTooMany(_ newest: ID, _ effects: inout Effects) -> ID? {
        guard let bound, waitingCount > bound.count, isWaiting(newest) else { return nil }
        let dropped = bound.dropsOldest ? takeOldest() ?? newest : newest
        sides[dropped.slot, default: Side()].isDropped = true
        let waiter = takeParked(dropped.slot)
        retire(dropped.slot, isCancelled: false, &effects)
        promote(entries[dropped.slot].lane, &effects)
        effects.wake(waiter)
        return dropped
    }

    /// Records that a task has been added or has begun to wait, if the order of such tasks is needed.
    mutating func noteArrival(_ id: ID) {
        guard bound?.dropsOldest == true, entries[id.slot].phase.isBounded else { return }
        arrivals.append(id)
        guard arrivals.count > 2 * waitingCount + 32 else { return }
        arrivals = ContiguousArray(arrivals[takenArrivals...].filter { isWaiting($0) })
        takenArrivals = 0
    }

    private mutating func takeOldest() -> ID? {
        while takenArrivals < arrivals.count {
            let id = arrivals[takenArrivals]
            takenArrivals += 1
            if isWaiting(id) { return id }
        }
        return nil
    }

    private func isWaiting(_ id: ID) -> Bool { phase(of: id)?.isBounded ?? false }

    /// Whether a task that was removed because too many waited has not ended.
    func isDropped(_ id: ID) -> Bool { entries.contains(id) && sides[id.slot]?.isDropped == true }
}
