/// The order of the tasks in a queue, and whose turn it is. Pure: no lock, task or closure.
///
///     enqueue ──▶ expected ─────────given or begin──▶ running ──finish──▶ (gone)
///                    │                         ▲
///                    └──begin──▶ asked ──begin─┤        its turn has come
///                                  │           │
///                                  └──park──▶ parked ──▶ called
///
///     expected, asked, parked, called ──leave──▶ (gone)  cancelled before its turn
///
/// An entry is there before its task is; `attach` brings the task's handle. A task that comes asks `begin`; if it is not its
/// turn it parks, and asks again when it is resumed. A caller that takes a turn in its own task attaches no handle, and is not raised; the entries
/// before it are.
///
/// Where one entry runs at a time, an entry whose task has not come is given its turn as soon as it is free, and the task need not ask. A task that
/// has asked before must ask again, so that a cancellation before that takes its turn from it at once.
///
/// While the line is empty, callers take turns without it: see ``TurnGate``.
///
/// Invariants, checked by `checkInvariants()` after each step of the tests:
/// 1. An ID is a slot and a serial, which is not used again before 2³⁸ others have been, so a late event finds nothing.
/// 2. The line is in the order of `enqueue`, with the running entries: at most `capacity`, all before `next`.
/// 3. No entry begins before all entries before it have begun: only `next` is ever called, and only with room for it.
/// 4. If there is room, `next` is not parked: no entry sleeps through its turn. Where one runs at a time, `next` was called.
/// 5. Levels never rise towards the end: all entries before an entry have been raised to the level of that entry.
/// 6. A drainer waits for an entry that is still in line.
struct TurnStateMachine<Waiter, Job> {
    typealias Slot = SlotTable<Entry>.Index

    typealias ID = Ticket

    enum Phase: UInt8 {
        /// `asked`: its task has asked too early, and has not parked yet.
        case expected, asked, parked, called, running
    }

    /// A task or a caller in the line. An entry is trivial if its job and waiter are, and so cheap to read.
    struct Entry: Ticketed, Linked {
        let serial: UInt64
        var job: Job?
        /// The waiter of a parked entry.
        var waiter: Waiter?
        var links = Links()
        var phase = Phase.expected
        /// The priority that the entry has, or has been raised to because of an entry behind it.
        var level: UInt8
        /// Whether the priority of the task must be raised when its handle arrives.
        var isToBeRaised = false
    }

    typealias DrainID = MarkTable<UInt64, Waiter>.ID

    /// The number of entries that may run at once; `nil` if the queue only determines the order, and a task that has begun has left the line.
    let capacity: Int?

    private(set) var entries = SlotTable<Entry>()
    /// The entries that have not left, in the order of `enqueue`.
    private var line = Chain()
    /// The first entry that has not begun.
    private var next = Chain.none
    private(set) var runningCount = 0
    /// The number of entries that run or wait.
    private(set) var count = 0
    private var drainers = MarkTable<UInt64, Waiter>()
    /// The serial of the next entry. It begins with 1, so that there is a serial before each.
    private var nextSerial: UInt64 = 1
    /// The serial of the entry that was the last to be given its turn before its task asked; 0: none.
    private var lastGiven: UInt64 = 0

    init(capacity: Int?) {
        self.capacity = capacity
    }

    // MARK: Coming

    struct Place {
        let id: ID
        /// Whether an entry before the new entry has a lower priority. The caller then continues with `raise`.
        let isUrgent: Bool
    }

    /// Appends an entry to the end of the line.
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
        if next == Chain.none {
            next = slot
            giveNext()
        }
        return Place(id: ID(serial: serial, slot: slot), isUrgent: isUrgent)
    }

    /// Attaches the handle of a task that has been created, or does nothing if the task has left already.
    ///
    /// - Returns: The priority to which the task must be raised; 0: none.
    mutating func attach(_ id: ID, _ job: Job) -> UInt8 {
        guard isThere(id) else { return 0 }
        entries[id.slot].job = job
        guard entries[id.slot].isToBeRaised else { return 0 }
        entries[id.slot].isToBeRaised = false
        return entries[id.slot].level
    }

    // MARK: Beginning

    enum BeginAction {
        /// The turn of the task has come. The next entry may begin too, if its waiter is returned.
        case run(calling: Waiter?)
        case wait
        /// The task has left the line; its turn will never come.
        case gone
    }

    /// Begins the turn of a task, if its turn has come.
    ///
    /// - Complexity: O(1).
    mutating func begin(_ id: ID) -> BeginAction {
        guard isThere(id) else { return .gone }
        if entries[id.slot].phase == .running { return .run(calling: nil) }
        guard isTurn(of: id.slot) else {
            if entries[id.slot].phase == .expected { entries[id.slot].phase = .asked }
            return .wait
        }
        next = entries[id.slot].links.newer
        if capacity == nil {
            remove(id.slot)
        } else {
            entries[id.slot].phase = .running
            runningCount += 1
        }
        return .run(calling: callNext())
    }

    /// Parks a task, if its turn has not come.
    ///
    /// - Returns: Whether the task must sleep. If not, the task must ask again.
    mutating func park(_ id: ID, _ waiter: Waiter) -> Bool {
        guard isThere(id), entries[id.slot].phase != .running, !isTurn(of: id.slot) else { return false }
        entries[id.slot].phase = .parked
        entries[id.slot].waiter = waiter
        return true
    }

    private var hasRoom: Bool { capacity.map { runningCount < $0 } ?? true }

    private func isTurn(of slot: Slot) -> Bool { slot == next && hasRoom }

    private mutating func callNext() -> Waiter? {
        guard next != Chain.none, hasRoom else { return nil }
        guard entries[next].phase == .parked else {
            giveNext()
            return nil
        }
        entries[next].phase = .called
        return Self.take(&entries[next].waiter)
    }

    /// Gives the next entry its turn before its task asks.
    @inline(__always)
    private mutating func giveNext() {
        guard capacity == 1, runningCount == 0, entries[next].phase == .expected else { return }
        entries[next].phase = .running
        runningCount = 1
        lastGiven = entries[next].serial
        next = entries[next].links.newer
    }

    // MARK: Turns without an entry

    /// The gate after each event: lent while the line is empty.
    var gate: TurnGate {
        count == 0 && capacity != nil ? .free(after: nextSerial - 1) : .line(lastGiven: lastGiven)
    }

    /// Takes the gate back before an event. The turn of a caller that has taken it gets its entry.
    mutating func takeBack(_ gate: TurnGate) {
        precondition(count == 0, "the gate is lent while the line is empty")
        nextSerial = gate.serial + 1
        guard gate.isTaken else { return }
        // The caller's task is not raised: as if it had been already.
        let slot = entries.insert(Entry(serial: gate.serial, phase: .running, level: .max))
        precondition(slot == gate.turn.slot, "the first slot of an empty table is 0")
        line.append(slot, in: &entries)
        count = 1
        runningCount = 1
    }

    // MARK: Leaving

    struct Departure {
        /// The waiter whose turn has come.
        var calling: Waiter?
        /// The waiter of the entry that has left, if it was parked.
        var leaving: Waiter?
        /// Whether all entries that a drainer waited for have left: the caller continues with `takeDrained`.
        var hasDrained = false

        /// Whether the departure resumes tasks other than the task that has left.
        var concernsOthers: Bool { calling != nil || hasDrained }
    }

    /// Ends a turn. A second report, or a late report, has no effect.
    ///
    /// - Complexity: O(1).
    mutating func finish(_ id: ID) -> Departure {
        guard isThere(id), entries[id.slot].phase == .running else { return Departure() }
        runningCount -= 1
        return depart(id.slot)
    }

    /// Removes an entry from the line before its turn. Has no effect on an entry whose turn has begun.
    ///
    /// - Complexity: O(1).
    mutating func leave(_ id: ID) -> Departure {
        guard isThere(id), entries[id.slot].phase != .running else { return Departure() }
        let waiter = Self.take(&entries[id.slot].waiter)
        // It may be the entry that all others wait for.
        if next == id.slot { next = entries[id.slot].links.newer }
        var departure = depart(id.slot)
        departure.leaving = waiter
        return departure
    }

    private mutating func depart(_ slot: Slot) -> Departure {
        remove(slot)
        let hasDrained = drainers.lowest.map { $0 <= drainedMark } ?? false
        return Departure(calling: callNext(), hasDrained: hasDrained)
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

    /// Raises the entries before an entry that has been raised.
    ///
    /// - Returns: The tasks to be raised.
    /// - Complexity: O(*n*) in the number of those that are raised.
    mutating func raise(before id: ID, to level: UInt8) -> [Job] {
        guard isThere(id), entries[id.slot].phase != .running else { return [] }
        entries[id.slot].level = max(entries[id.slot].level, level)
        return raise(from: entries[id.slot].links.older, to: level)
    }

    /// Raises all entries, since a caller waits for all of them.
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

    /// Adds a caller that waits until all present entries have left.
    ///
    /// - Returns: The identity of the caller; `nil` if the line is empty.
    mutating func enrollDrainer() -> DrainID? {
        precondition(capacity != nil, "a task that has begun has left this line: its end is not seen")
        return count == 0 ? nil : drainers.enroll(for: entries[line.last].serial)
    }

    /// Parks a drainer.
    ///
    /// - Returns: The result with which the waiter must be resumed at once.
    mutating func parkDrainer(_ id: DrainID, _ waiter: Waiter) -> WaitOutcome? {
        drainers.park(id, waiter)
    }

    mutating func drainerLeaves(_ id: DrainID) -> Waiter? {
        drainers.leave(id)
    }

    /// Removes the drainers that have nothing to wait for any more.
    ///
    /// - Returns: The drainers, to be resumed.
    /// - Complexity: O(*n* log *m*) for *n* of *m* drainers.
    mutating func takeDrained() -> [Waiter] {
        drainers.wake(upTo: drainedMark)
    }

    /// The last serial before which nothing is in line.
    private var drainedMark: UInt64 { line.isEmpty ? .max : entries[line.first].serial - 1 }

    // MARK: Looking

    var drainerCount: Int { drainers.count }

    /// Returns whether an entry has begun, and has not ended.
    func isRunning(_ id: ID) -> Bool {
        isThere(id) && entries[id.slot].phase == .running
    }

    /// Returns whether an entry is in line.
    private func isThere(_ id: ID) -> Bool { entries.contains(id) }
}

extension TurnStateMachine.Departure: Sendable where Waiter: Sendable, Job: Sendable {}

extension TurnStateMachine {
    /// Traps if an invariant does not hold. O(*n*).
    func checkInvariants() {
        line.checkLinks(in: entries)
        let slots = line.slots(in: entries)
        var (running, hasPassedNext) = (0, false)
        for slot in slots {
            let entry = entries[slot]
            let before = entry.links.older
            if before != Chain.none {
                precondition(entry.serial > entries[before].serial, "the line is in the order of the calls")
                precondition(entry.level <= entries[before].level, "entries before an entry are raised")
            }
            if slot == next { hasPassedNext = true }
            switch entry.phase {
            case .running:
                running += 1
                precondition(!hasPassedNext, "an entry that runs is before the next one")
            case .expected:
                precondition(hasPassedNext, "an entry that waits is not before the next one")
                precondition(capacity != 1 || !isTurn(of: slot), "an entry whose task has not come is given its turn")
            case .asked:
                precondition(hasPassedNext, "an entry that waits is not before the next one")
            case .parked:
                precondition(hasPassedNext && !isTurn(of: slot), "no entry sleeps through its turn")
            case .called: precondition(slot == next && hasRoom, "an entry that is called is the next one")
            }
            precondition((entry.phase == .parked) == (entry.waiter != nil), "a parked entry has a waiter")
        }
        precondition(slots.count == count && running == runningCount, "the entries are counted")
        precondition(runningCount <= capacity ?? 0, "not more run than may")
        precondition(hasPassedNext == (next != Chain.none), "next is in line")
        precondition(drainers.count == 0 || !line.isEmpty, "drainers wait for an entry")
        precondition(entries.count == count, "an entry in the table is in line")
    }
}
