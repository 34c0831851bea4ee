/// Who comes after whom in a queue, and whose turn it is. Pure: no lock, task or closure.
///
///     enqueue ──▶ expected ──its turn comes──▶ running ──finish──▶ (gone)
///                    │                           ▲
///                    └──park──▶ parked ──────────┘     the waiter is handed out
///
///     expected, parked ──leave──▶ (gone)               cancelled before its turn
///
/// An entry is there before its task is; `attach` brings the task's handle. An entry gets its turn as soon as there is room: when it is enqueued, or
/// when an earlier one finishes. Turns are given in the order of the line, so one number tells who has a turn: `lastTurn`. A task that comes and has
/// no turn yet parks. A caller that takes a turn in its own task attaches no handle, and is not raised; what is before it is.
///
/// If several may run at once, their tasks could begin in another order than their turns were given. There, the next turn is given only when the
/// task of the last one has begun: `begin`.
///
/// Invariants, checked by `checkInvariants()` after each step of the tests:
/// 1. An ID is a slot and a serial, which is not used again before 2³⁸ others have been, so a late event finds nothing.
/// 2. The line is in the order of `enqueue`, with those that run: at most `capacity`, all before `next`.
/// 3. An entry has its turn exactly if its serial is at most `lastTurn`: no turn comes before that of an earlier entry.
/// 4. If there is room, and the last that got its turn has begun, no entry waits.
/// 5. Levels never rise towards the end: whatever is before an entry has been raised to what that one has.
/// 6. Whoever drains waits for something that is still in line.
struct TurnStateMachine<Waiter, Job> {
    typealias Slot = SlotTable<Entry>.Index

    typealias ID = Ticket

    enum Phase: UInt8 {
        case expected, parked, running
    }

    /// With trivial jobs and waiters it is trivial itself, and cheap to look at.
    struct Entry: Ticketed, Linked {
        let serial: UInt64
        var job: Job?
        /// There if it is parked.
        var waiter: Waiter?
        var links = Links()
        var phase = Phase.expected
        /// The priority that it has, or has been raised to for the sake of somebody behind it.
        var level: UInt8
        /// Its handle was not there yet when it was to be raised.
        var isToBeRaised = false
    }

    typealias DrainID = MarkTable<UInt64, Waiter>.ID

    /// How many may run at once.
    let capacity: Int

    private(set) var entries = SlotTable<Entry>()
    /// All that have not left, in the order of `enqueue`.
    private var line = Chain()
    /// The first that waits for its turn.
    private var next = Chain.none
    private(set) var runningCount = 0
    /// How many run or wait.
    private(set) var count = 0
    private var drainers = MarkTable<UInt64, Waiter>()
    /// From 1, so that there is one before each.
    private var nextSerial: UInt64 = 1
    /// The serial of the entry that was the last to get its turn.
    private(set) var lastTurn: UInt64 = 0
    /// Whether the last that got its turn has not begun, and others wait for that.
    private var isAwaited = false

    init(capacity: Int) {
        self.capacity = capacity
    }

    // MARK: Coming

    struct Place {
        let id: ID
        /// Something before it has less priority. The caller goes on with `raise(forNew:to:)`.
        let isUrgent: Bool
        /// It is its turn already.
        let hasTurn: Bool
    }

    /// Enters somebody at the end of the line.
    ///
    /// - Parameter level: The priority of its task.
    /// - Complexity: O(1).
    mutating func enqueue(level: UInt8) -> Place {
        let serial = nextSerial
        nextSerial += 1
        let slot = entries.insert(Entry(serial: serial, level: level))
        let isUrgent = !line.isEmpty && entries[line.last].level < level
        line.append(slot, in: &entries)
        count += 1
        let hasTurn = hasRoom
        if hasTurn {
            giveTurn(to: slot)
        } else if next == Chain.none {
            next = slot
        }
        return Place(id: ID(serial: serial, slot: slot), isUrgent: isUrgent, hasTurn: hasTurn)
    }

    /// Brings the handle of a task that has been made, or does nothing if that has left already.
    ///
    /// - Returns: What it is to be raised to; 0: nothing.
    mutating func attach(_ id: ID, _ job: Job) -> UInt8 {
        guard isThere(id) else { return 0 }
        entries[id.slot].job = job
        guard entries[id.slot].isToBeRaised else { return 0 }
        entries[id.slot].isToBeRaised = false
        return entries[id.slot].level
    }

    // MARK: Waiting

    /// A task has come before its turn.
    ///
    /// - Returns: With what the waiter is to be resumed at once; `nil`: it waits.
    mutating func park(_ id: ID, _ waiter: Waiter) -> WaitOutcome? {
        guard isThere(id) else { return .left }
        if entries[id.slot].phase == .running { return .reached }
        entries[id.slot].phase = .parked
        entries[id.slot].waiter = waiter
        return nil
    }

    // MARK: Beginning

    /// The task of a turn has begun. Not needed where one runs at a time.
    ///
    /// - Returns: Whose turn has come, if it was parked.
    mutating func begin(_ id: ID) -> Waiter? {
        guard isThere(id) else { return nil }
        endWait(for: id.slot)
        return callNext()
    }

    private mutating func endWait(for slot: Slot) {
        if entries[slot].serial == lastTurn { isAwaited = false }
    }

    private var hasRoom: Bool { runningCount < capacity && !isAwaited }

    private mutating func callNext() -> Waiter? {
        let slot = next
        guard slot != Chain.none, hasRoom else { return nil }
        next = entries[slot].links.newer
        giveTurn(to: slot)
        return Self.take(&entries[slot].waiter)
    }

    private mutating func giveTurn(to slot: Slot) {
        entries[slot].phase = .running
        lastTurn = entries[slot].serial
        runningCount += 1
        isAwaited = capacity > 1
    }

    // MARK: Lending

    /// Gives a turn that has no entry in the line, which must be empty: see ``TurnGate``.
    ///
    /// - Returns: `nil` if the line is not empty.
    mutating func lend() -> ID? {
        guard count == 0 else { return nil }
        lastTurn = nextSerial
        nextSerial += 1
        return ID(serial: lastTurn, slot: 0)
    }

    /// Turns have been given without the line since it was empty. The one that has not ended gets its entry.
    mutating func takeBack(_ word: Int64) {
        precondition(count == 0, "the line is lent while it is empty")
        let serial = TurnGate.serial(word)
        lastTurn = serial
        nextSerial = serial + 1
        guard TurnGate.isTaken(word) else { return }
        // The caller's task is not raised: as if it had been already.
        let slot = entries.insert(Entry(serial: serial, level: .max))
        precondition(slot == 0, "the first slot of an empty table is 0")
        line.append(slot, in: &entries)
        count = 1
        giveTurn(to: slot)
        isAwaited = false
    }

    // MARK: Leaving

    struct Departure {
        /// Whose turn has come, if it was parked.
        var calling: Waiter?
        /// The one that has left, if it was parked.
        var leaving: Waiter?
        /// All that a drainer waited for has left: the caller goes on with `takeDrained`.
        var hasDrained = false
    }

    /// Ends a turn, and gives the next one. A second report, or a late one, finds nothing.
    ///
    /// - Complexity: O(1).
    mutating func finish(_ id: ID) -> Departure {
        guard isThere(id), entries[id.slot].phase == .running else { return Departure() }
        runningCount -= 1
        endWait(for: id.slot)
        remove(id.slot)
        return Departure(calling: callNext(), hasDrained: hasDrained)
    }

    /// Leaves the line before its turn; too late for one that has it.
    ///
    /// - Complexity: O(1).
    mutating func leave(_ id: ID) -> Departure {
        guard isThere(id), entries[id.slot].phase != .running else { return Departure() }
        let waiter = Self.take(&entries[id.slot].waiter)
        if next == id.slot { next = entries[id.slot].links.newer }
        remove(id.slot)
        return Departure(leaving: waiter, hasDrained: hasDrained)
    }

    private mutating func remove(_ slot: Slot) {
        line.remove(slot, in: &entries)
        count -= 1
        entries.discard(slot)
    }

    // Static: a copy of the machine, kept for the call, would make the change copy the whole line.
    private static func take(_ waiter: inout Waiter?) -> Waiter? {
        defer { waiter = nil }
        return waiter
    }

    // MARK: Raising

    /// Somebody who waits in line has been raised. So is what is before it.
    ///
    /// - Returns: The tasks to be raised.
    /// - Complexity: O(*n*) in the number of those that are raised.
    mutating func raise(before id: ID, to level: UInt8) -> [Job] {
        guard isThere(id), entries[id.slot].phase != .running else { return [] }
        entries[id.slot].level = max(entries[id.slot].level, level)
        return raise(from: entries[id.slot].links.older, to: level)
    }

    /// Somebody urgent has been enqueued. What is before it is raised, also if it has its turn already: those who come to wait behind it stop raising
    /// at it, and count on it to have raised what is before.
    ///
    /// - Returns: The tasks to be raised.
    /// - Complexity: O(*n*) in the number of those that are raised.
    mutating func raise(forNew id: ID, to level: UInt8) -> [Job] {
        isThere(id) ? raise(from: entries[id.slot].links.older, to: level) : []
    }

    /// Somebody waits for all that is in line.
    ///
    /// - Returns: The tasks to be raised.
    /// - Complexity: O(*n*) in the number of those that are raised.
    mutating func raiseAll(to level: UInt8) -> [Job] {
        raise(from: line.last, to: level)
    }

    private mutating func raise(from newest: Slot, to level: UInt8) -> [Job] {
        var jobs: [Job] = []
        var slot = newest
        while slot != Chain.none, entries[slot].level < level {
            entries[slot].level = level
            if let job = entries[slot].job {
                jobs.append(job)
            } else {
                entries[slot].isToBeRaised = true
            }
            slot = entries[slot].links.older
        }
        return jobs
    }

    // MARK: Draining

    /// - Returns: `nil`: there is nobody to wait for.
    mutating func enrollDrainer() -> DrainID? {
        count == 0 ? nil : drainers.enroll(for: entries[line.last].serial)
    }

    /// - Returns: With what the waiter is to be resumed at once.
    mutating func parkDrainer(_ id: DrainID, _ waiter: Waiter) -> WaitOutcome? {
        drainers.park(id, waiter)
    }

    mutating func drainerLeaves(_ id: DrainID) -> Waiter? {
        drainers.leave(id)
    }

    /// - Returns: Those who have nobody to wait for any more.
    /// - Complexity: O(*n* log *m*) for *n* of *m* drainers.
    mutating func takeDrained() -> [Waiter] {
        drainers.wake(upTo: drainedMark)
    }

    private var hasDrained: Bool { drainers.lowest.map { $0 <= drainedMark } ?? false }

    /// The last serial before which nothing is in line.
    private var drainedMark: UInt64 { line.isEmpty ? .max : entries[line.first].serial - 1 }

    // MARK: Looking

    var drainerCount: Int { drainers.count }

    /// Whether it has its turn, and has not ended.
    func isRunning(_ id: ID) -> Bool {
        isThere(id) && entries[id.slot].phase == .running
    }

    /// Whether it is in line.
    private func isThere(_ id: ID) -> Bool { entries.contains(id) }
}

extension TurnStateMachine.Departure: Sendable where Waiter: Sendable, Job: Sendable {}

extension TurnStateMachine {
    /// Traps if an invariant does not hold. O(*n*).
    func checkInvariants() {
        line.checkLinks(in: entries)
        let slots = line.slots(in: entries)
        var (running, firstThatWaits) = (0, Chain.none)
        for slot in slots {
            let entry = entries[slot]
            let before = entry.links.older
            if before != Chain.none {
                precondition(entry.serial > entries[before].serial, "the line is in the order of the calls")
                precondition(entry.level <= entries[before].level, "what is before is raised")
            }
            if entry.phase == .running {
                running += 1
                precondition(firstThatWaits == Chain.none, "who runs is before who waits")
            } else if firstThatWaits == Chain.none {
                firstThatWaits = slot
            }
            precondition((entry.phase == .running) == (entry.serial <= lastTurn), "turns are given in order")
            precondition((entry.phase == .parked) == (entry.waiter != nil), "who is parked has a waiter")
        }
        precondition(slots.count == count && running == runningCount, "the entries are counted")
        precondition(runningCount <= capacity, "not more run than may")
        precondition(next == firstThatWaits, "next is the first that waits")
        precondition(next == Chain.none || !hasRoom, "nobody waits while there is room")
        precondition(!isAwaited || slots.contains { entries[$0].serial == lastTurn }, "who is awaited is in line")
        precondition(drainers.count == 0 || !line.isEmpty, "drainers wait for somebody")
        precondition(entries.count == count, "an entry in the table is in line")
    }
}
