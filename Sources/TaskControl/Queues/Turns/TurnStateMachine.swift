/// The order of the tasks in a queue, and whose turn has come. A pure value: no lock, task or closure.
///
///     enqueue ──▶ expected ─────────given or begin──▶ running ──finish──▶ (gone)
///                    │                         ▲
///                    └──begin──▶ asked ──begin─┤        its turn has come
///                                  │           │
///                                  └──park──▶ parked ──▶ called
///
///     expected, asked, parked, called ──leave──▶ (gone)  cancelled before its turn
///
/// The *line* of a queue consists of one entry for each task, or caller of `run`, that runs or waits. An entry exists
/// before its task does; `attach` adds the handle of the task. The task calls `begin`. If its turn has not come, it
/// parks, which means that its continuation is stored, and calls `begin` again when it is resumed. A caller that takes
/// a turn in its own task attaches no handle, and is not raised; the entries before it are.
///
/// If `capacity` is 1, an entry whose task has not called `begin` yet is given its turn as soon as the turn is free,
/// and the task need not ask for it. A task that has called `begin` too early must call it again, so that a
/// cancellation in between removes the task from the queue at once.
///
/// While the line is empty, the storage may give turns that have no entries, and tells the machine with `catchUp`.
///
/// While the queue is paused, no turn comes. An entry that runs or was called before has its turn.
///
/// Invariants, checked by `checkInvariants()` after each step of the tests:
/// 1. An ID is a slot and a serial number that is not used again before 2³⁸ others were, so an event that comes after
///    the end of its entry finds nothing.
/// 2. The line is in the order of `enqueue`, and includes the running entries: at most `capacity`, all before `next`.
/// 3. No entry begins before all entries before it have begun: only `next` is ever called, and only while fewer than
///    `capacity` entries run.
/// 4. While fewer than `capacity` entries run, and the queue is not paused, `next` is not parked: no entry sleeps through
///    its turn. If `capacity` is 1, the task of `next` has then called `begin`; otherwise it would have been given its turn.
/// 5. The priorities never rise towards the end of the line: all entries before an entry have been raised to its
///    priority.
/// 6. A caller of `drain` waits for an entry that is still in the line.
struct TurnStateMachine {
    /// The continuation of a task or caller that waits.
    typealias Waiter = Word
    /// The handle of a task, which the machine does not retain.
    typealias Job = Word
    typealias Slot = SlotTable<Entry>.Index

    typealias ID = Ticket

    enum Phase: UInt8 {
        /// `expected`: the task has not called `begin`. `asked`: it has called `begin` before its turn, and has not
        /// parked. `parked`: its continuation is stored. `called`: its turn has come, it was resumed, and it must call
        /// `begin` again. `running`: its turn has begun.
        case expected, asked, parked, called, running
    }

    /// A task, or a caller of `run`, in the queue.
    struct Entry: Ticketed, Linked {
        let serial: UInt64
        var job: Job?
        /// The continuation of the task; `nil` unless the task is parked.
        var waiter: Waiter?
        var links = Links()
        var phase = Phase.expected
        /// The raw priority that the entry has, or has been raised to because of an entry behind it.
        var level: UInt8
        /// Whether the priority of the task must be raised when its handle is attached.
        var isToBeRaised = false
    }

    typealias DrainID = MarkTable<UInt64>.ID

    /// The number of entries that may run at once; `nil` if the queue determines only the order in which tasks begin,
    /// and a task leaves the queue when it begins.
    let capacity: Int?

    private(set) var entries = SlotTable<Entry>()
    /// The entries that have not left, in the order of `enqueue`.
    private var line = Chain()
    /// The slot of the first entry whose turn has not begun; `Chain.none` if there is none.
    private var next = Chain.none
    private(set) var runningCount = 0
    private(set) var isPaused = false
    /// The number of entries that run or wait.
    private(set) var count = 0
    private var drainers = MarkTable<UInt64>()
    /// The serial number of the next entry. The first is 1, so that a smaller number exists for each entry.
    private(set) var nextSerial: UInt64 = 1
    /// The serial number of the entry that was the last to be given its turn before its task called `begin`; 0 if there
    /// is none.
    private(set) var lastGiven: UInt64 = 0

    init(capacity: Int?) {
        self.capacity = capacity
    }

    // MARK: Coming

    struct Place {
        let id: ID
        /// Whether an entry before the new entry has a lower priority. If so, `raise(before:to:)` must be called.
        let isUrgent: Bool
    }

    /// Adds an entry for a new task or caller to the end of the queue.
    ///
    /// - Parameter level: The raw priority of the task or caller.
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

    /// Attaches the handle of a task that was created for an entry. Has no effect if the task has left the queue
    /// already.
    ///
    /// - Returns: The raw priority to which the task must be raised; 0 if it need not be raised.
    mutating func attach(_ id: ID, _ job: Job) -> UInt8 {
        guard isThere(id) else { return 0 }
        entries[id.slot].job = job
        guard entries[id.slot].isToBeRaised else { return 0 }
        entries[id.slot].isToBeRaised = false
        return entries[id.slot].level
    }

    // MARK: Beginning

    enum BeginAction {
        /// The turn of the task has begun. `calling` is the continuation of the next task, to be resumed, if that task
        /// may begin too.
        case run(calling: Waiter?)
        case wait
        /// The task has left the queue; its turn will never come.
        case gone
    }

    /// Begins the turn of a task, if the turn has come.
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

    /// Stores the continuation of a task, if its turn has not come.
    ///
    /// - Returns: Whether the task must wait. If not, the task must call `begin` again at once.
    mutating func park(_ id: ID, _ waiter: Waiter) -> Bool {
        guard isThere(id), entries[id.slot].phase != .running, !isTurn(of: id.slot) else { return false }
        entries[id.slot].phase = .parked
        entries[id.slot].waiter = waiter
        return true
    }

    private var hasRoom: Bool { !isPaused && capacity.map { runningCount < $0 } ?? true }

    private func isTurn(of slot: Slot) -> Bool { slot == next && (hasRoom || entries[slot].phase == .called) }

    private mutating func callNext() -> Waiter? {
        guard next != Chain.none, hasRoom else { return nil }
        guard entries[next].phase == .parked else {
            giveNext()
            return nil
        }
        entries[next].phase = .called
        return Self.take(&entries[next].waiter)
    }

    /// Begins the turn of the next entry, if `capacity` is 1, no entry runs, and the task of that entry has not called
    /// `begin` yet.
    @inline(__always)
    private mutating func giveNext() {
        guard capacity == 1, hasRoom, entries[next].phase == .expected else { return }
        entries[next].phase = .running
        runningCount = 1
        lastGiven = entries[next].serial
        next = entries[next].links.newer
    }

    // MARK: Turns without an entry

    /// Whether a caller can have its turn without an entry: the line is empty, the number of turns is limited, and the
    /// queue is not paused.
    var isIdle: Bool { count == 0 && capacity != nil && !isPaused }

    /// Takes note of turns that had no entries, and adds an entry for the last of them if that has not ended.
    ///
    /// - Parameters:
    ///   - serial: The serial number of the last turn.
    ///   - isRunning: Whether that turn has not ended.
    mutating func catchUp(after serial: UInt64, isRunning: Bool) {
        precondition(count == 0, "turns have no entries only while the line is empty")
        nextSerial = serial + 1
        guard isRunning else { return }
        // The caller's task cannot be raised: with the highest priority, it counts as raised already.
        let slot = entries.insert(Entry(serial: serial, phase: .running, level: .max))
        precondition(slot == 0, "the first slot of an empty table is 0")
        line.append(slot, in: &entries)
        count = 1
        runningCount = 1
    }

    // MARK: Pausing

    /// Lets no turn come until `endPause` is called.
    ///
    /// - Returns: Whether the queue was not paused before.
    mutating func pause() -> Bool {
        defer { isPaused = true }
        return !isPaused
    }

    /// Lets turns come again.
    ///
    /// - Returns: Whether the queue was paused, and the continuation of the task whose turn has come, to be resumed.
    mutating func endPause() -> (hasChanged: Bool, calling: Waiter?) {
        guard isPaused else { return (false, nil) }
        isPaused = false
        return (true, callNext())
    }

    // MARK: Leaving

    struct Departure: Sendable {
        /// The continuation of the task whose turn has come, to be resumed; `nil` if there is none.
        var calling: Waiter?
        /// The continuation of the task that has left, to be resumed; `nil` if the task was not parked.
        var leaving: Waiter?
        /// Whether all entries that some caller of `drain` waited for have left. If so, `takeDrained()` must be called.
        var hasDrained = false

        /// Whether the departure resumes tasks other than the task that has left.
        var concernsOthers: Bool { calling != nil || hasDrained }
    }

    /// Ends a turn. Has no effect if the turn has not begun, or has ended before.
    ///
    /// - Complexity: O(1).
    mutating func finish(_ id: ID) -> Departure {
        guard isThere(id), entries[id.slot].phase == .running else { return Departure() }
        runningCount -= 1
        return depart(id.slot)
    }

    /// Removes an entry from the queue before its turn. Has no effect on an entry whose turn has begun.
    ///
    /// - Complexity: O(1).
    mutating func leave(_ id: ID) -> Departure {
        guard isThere(id), entries[id.slot].phase != .running else { return Departure() }
        let waiter = Self.take(&entries[id.slot].waiter)
        // The entry may be the one that all others wait for.
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

    // Static, because a method would keep a copy of the machine for the call, and the change would then copy the whole
    // table.
    private static func take(_ waiter: inout Waiter?) -> Waiter? {
        defer { waiter = nil }
        return waiter
    }

    // MARK: Raising

    /// Raises an entry whose turn has not begun, and all entries before it, to a priority.
    ///
    /// - Returns: The tasks that must be raised. A task whose handle is not attached yet is not among them: `attach`
    ///   returns its priority.
    /// - Complexity: O(*n*) in the number of entries that are raised.
    mutating func raise(before id: ID, to level: UInt8) -> [Job] {
        guard isThere(id), entries[id.slot].phase != .running else { return [] }
        entries[id.slot].level = max(entries[id.slot].level, level)
        return raise(from: entries[id.slot].links.older, to: level)
    }

    /// Raises all entries to the priority of a caller that waits for all of them.
    ///
    /// - Returns: The tasks that must be raised. A task whose handle is not attached yet is not among them: `attach`
    ///   returns its priority.
    /// - Complexity: O(*n*) in the number of entries that are raised.
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
    /// - Returns: The identity of the caller, which must then call `parkDrainer(_:_:)`, and that of the last entry; `nil`
    ///   if the queue is empty.
    mutating func enrollDrainer() -> (id: DrainID, last: ID)? {
        precondition(capacity != nil, "a task that has begun has left this line: its end is not seen")
        if count == 0 { return nil }
        return (drainers.enroll(for: entries[line.last].serial), ID(serial: entries[line.last].serial, slot: line.last))
    }

    /// Stores the continuation of a caller of `drain`.
    ///
    /// - Returns: The outcome with which the continuation must be resumed at once; `nil` if the caller must wait.
    mutating func parkDrainer(_ id: DrainID, _ waiter: Waiter) -> WaitOutcome? {
        drainers.park(id, waiter)
    }

    mutating func drainerLeaves(_ id: DrainID) -> Waiter? {
        drainers.leave(id)
    }

    /// Removes the callers of `drain` for which all entries that they waited for have left.
    ///
    /// - Returns: The continuations of these callers, to be resumed.
    /// - Complexity: O(*n* log *m*) for *n* of *m* callers of `drain`.
    mutating func takeDrained() -> [Waiter] {
        drainers.wake(upTo: drainedMark)
    }

    /// The highest serial number for which neither an entry with this number nor one with a lower number is in the
    /// queue.
    private var drainedMark: UInt64 { line.isEmpty ? .max : entries[line.first].serial - 1 }

    // MARK: Looking

    var drainerCount: Int { drainers.count }

    /// The number of callers of `drain` for which memory is allocated.
    var drainerCapacity: Int { drainers.capacity }

    /// Returns whether the turn of an entry has begun, and has not ended.
    func isRunning(_ id: ID) -> Bool {
        isThere(id) && entries[id.slot].phase == .running
    }

    /// Returns whether an entry is in the queue.
    private func isThere(_ id: ID) -> Bool { entries.contains(id) }
}

extension TurnStateMachine {
    /// Traps if one of the invariants in the documentation of the type does not hold. Takes O(*n*) time in the number
    /// of entries.
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
            case .called: precondition(slot == next, "an entry that is called is the next one")
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
