/// The state of every owner of tasks: which tasks live, under which key, and whose turn it is. Pure: no lock, task or clock, and no
/// closure except one that reads whether a task is cancelled.
///
/// The life of an entry:
///
///     add ──┬──▶ starting ──begin──▶ running ──cancel──▶ cancelled
///           ├──▶ waiting ──(first in its lane)──▶ starting
///           └──▶ quiet ──quietTimeEnded──▶ running
///
///     insert ──▶ running                              a task that has started already
///     starting, waiting, quiet ──cancel──▶ skipped    its body never runs
///     any ──finish──▶ (gone)
///
/// An entry is registered before its task is created. `attach` brings the task's handle, at any moment of that life, or after it. Each task
/// asks `begin` before its body runs: a task that is cancelled before that never runs its body, and leaves its lane at once.
///
/// A *lane* links the entries of one key, oldest first, except those that are `skipped`. A `waiting` entry waits until all entries before it in
/// its lane have left it. An entry without a key has no lane; a registry of those is a plain bag.
///
/// Invariants, checked by `checkInvariants()` after each step of the tests:
/// 1. An ID is a slot and a serial, so a late event of a finished task finds nothing.
/// 2. The first entry in a lane is never `waiting`.
/// 3. `liveCount`, and each lane's, counts `waiting`, `quiet`, `starting` and `running`: cancelled is not finished, but it is not live.
/// 4. All entries of a lane have the one key object that the lane is found by, so that the last of them takes it out of the table, and
///    no key is released while the lock is held.
/// 5. Whatever is before an entry in its lane has been raised to at least what that entry has been raised to.
/// 6. A parked waiter belongs to a `waiting` entry, or to a `skipped` one that the cancellation of its task is about to wake.
struct TaskRegistryStateMachine<Key: Hashable, Job, Waiter> {
    typealias ID = Ticket
    typealias Slot = Ticket.Slot

    enum Phase: UInt8 {
        case waiting, quiet
        /// Free to start; its task has not asked `begin` yet.
        case starting
        case running, cancelled, skipped
        /// Skipped by the cancellation of its own task, which reports that when it is resumed.
        case left

        var isLive: Bool { rawValue <= Phase.running.rawValue }
        var isLinked: Bool { rawValue <= Phase.cancelled.rawValue }
    }

    /// Packed, because there may be a million of them.
    struct Entry {
        let key: Key?
        var job: Job?
        /// Neighbors in the lane.
        var older = none
        var newer = none
        /// 48 bits of serial, 8 of priority, 8 of phase.
        private var packed: UInt64

        init(serial: UInt64, key: Key?, job: Job?, phase: Phase) {
            self.key = key
            self.job = job
            packed = serial << 16 | UInt64(phase.rawValue)
        }

        var serial: UInt64 { packed >> 16 }

        /// The priority to which a waiting task has raised the entry and all that is before it in its lane. 0: none.
        var raisedTo: UInt8 {
            get { UInt8(truncatingIfNeeded: packed >> 8) }
            set { packed = packed & ~0xFF00 | UInt64(newValue) << 8 }
        }

        var phase: Phase {
            get { Phase(rawValue: UInt8(truncatingIfNeeded: packed))! }
            set { packed = packed & ~0xFF | UInt64(newValue.rawValue) }
        }
    }

    /// The part of an entry that few have.
    struct Side {
        /// The task itself, parked until its turn.
        var parked: Waiter?
        /// Waiters for the handle of the task, which is being created.
        var followers: [Waiter] = []
        var quietTime: Duration?

        var isEmpty: Bool { parked == nil && followers.isEmpty && quietTime == nil }
    }

    /// No slot.
    static var none: Slot { -1 }

    /// The entries of one key, linked through `Entry.older` and `Entry.newer`.
    struct Lane {
        var oldest: Slot
        var newest: Slot
        var liveCount: Int32
    }

    typealias DrainID = WaiterTable<Waiter, WaitOutcome>.ID

    var entries = SlotTable<Entry>()
    var lanes: [Key: Lane] = [:]
    var side: [Slot: Side] = [:]
    private var drainers = WaiterTable<Waiter, WaitOutcome>()
    private var nextSerial: UInt64 = 0
    private(set) var isClosed = false
    /// The number of entries that are neither finished nor cancelled.
    var liveCount = 0

    // MARK: Registering

    /// A task that goes on in place of a new one.
    struct Existing {
        let id: ID
        /// `nil`: the task is being created at this moment.
        let job: Job?
    }

    enum Registration {
        case added(ID)
        case existing(Existing)
        case refused
    }

    /// Registers a task without a key that is about to be created.
    ///
    /// - Parameter asksToBegin: Whether the task asks `begin`. If not, its maker decides when it begins, and it counts as running.
    /// - Returns: `nil` if the registry is closed.
    /// - Complexity: O(1).
    mutating func add(asksToBegin: Bool = true) -> Answer<ID?> {
        var effects = Effects()
        guard !isClosed else { return Answer(value: nil, effects: effects) }
        let id = enter(key: nil, isFirst: true, job: nil, phase: asksToBegin ? .starting : .running, &effects)
        return Answer(value: id, effects: effects)
    }

    /// Registers a task that is about to be created. Its order among the other tasks of its key is settled here.
    ///
    /// - Parameter isCancelled: Whether a task was cancelled through its own handle. Must only read that.
    /// - Complexity: O(1); under a behavior that cancels, O(*n*) in the number of tasks it cancels.
    mutating func add(
        key: Key,
        behavior: TaskStoreDuplicateKeyBehavior,
        isCancelled: (Job) -> Bool
    ) -> Answer<Registration> {
        var effects = Effects()
        guard !isClosed else { return Answer(value: .refused, effects: effects) }
        var isFirst = true
        let former = formerKey(key)
        if former != nil {
            if behavior == .preferPrevious, let existing = standing(for: key, isCancelled, &effects) {
                return Answer(value: .existing(existing), effects: effects)
            }
            makeRoom(in: key, for: behavior, isCancelled, &effects)
            isFirst = lanes[key] == nil
        }
        let phase: Phase
        switch behavior.kind {
        case .debounce: phase = .quiet
        case .wait, .keepLatest, .cancelPrevious(wait: true): phase = isFirst ? .starting : .waiting
        case .cancelPrevious(wait: false), .runConcurrently, .preferPrevious: phase = .starting
        }
        let id = enter(key: former ?? key, isFirst: isFirst, job: nil, phase: phase, &effects)
        if case .debounce(let quietTime) = behavior.kind { side[id.slot] = Side(quietTime: quietTime) }
        if !isFirst { promote(key, &effects) }
        return Answer(value: .added(id), effects: effects)
    }

    /// Registers a task that has started already. It is refused in favor of a task that lives under its key.
    mutating func insert(_ job: Job, key: Key?, isCancelled: (Job) -> Bool) -> Answer<Registration> {
        var effects = Effects()
        guard !isClosed else { return Answer(value: .refused, effects: effects) }
        let former = key.flatMap(formerKey)
        if let key, former != nil, let existing = standing(for: key, isCancelled, &effects) {
            return Answer(value: .existing(existing), effects: effects)
        }
        let isFirst = key.map { lanes[$0] == nil } ?? true
        let id = enter(key: former ?? key, isFirst: isFirst, job: job, phase: .running, &effects)
        return Answer(value: .added(id), effects: effects)
    }

    private mutating func enter(
        key: Key?,
        isFirst: Bool,
        job: Job?,
        phase: Phase,
        _ effects: inout Effects
    ) -> ID {
        defer { nextSerial += 1 }
        let slot = entries.insert(Entry(serial: nextSerial, key: key, job: job, phase: phase))
        changeLiveCount(by: 1, &effects)
        if let key { link(slot, key, isFirst: isFirst) }
        return ID(serial: nextSerial, slot: slot)
    }

    /// The task exists. It may have ended already.
    mutating func attach(_ id: ID, job: Job) -> Effects {
        var effects = Effects()
        guard let phase = phase(of: id) else { return effects }
        entries[id.slot].job = job
        effects.raisingTo = entries[id.slot].raisedTo
        if !phase.isLive { effects.cancel(job) }
        if !side.isEmpty { effects.wake(takeFollowers(id.slot)) }
        return effects
    }

    /// A caller was handed a task that is being created, and waits for its handle.
    ///
    /// - Returns: Whether the waiter is parked; if not, the handle is there, or the task has ended.
    mutating func follow(_ id: ID, _ waiter: Waiter) -> Bool {
        guard phase(of: id) != nil, entries[id.slot].job == nil else { return false }
        side[id.slot, default: Side()].followers.append(waiter)
        return true
    }

    /// `nil`: the task is being created, or has ended.
    func job(of id: ID) -> Job? {
        phase(of: id) == nil ? nil : entries[id.slot].job
    }

    // MARK: Running

    enum Start: Equatable {
        case run
        /// Park until woken, then begin again.
        case wait
        /// Sleep for that time, then `quietTimeEnded`.
        case quiet(Duration)
        case skip
    }

    /// A task asks whether its body may run: at its start, and when it was woken.
    mutating func begin(_ id: ID, isCancelled: Bool) -> Answer<Start> {
        var effects = Effects()
        switch phase(of: id) {
        case .starting where !isCancelled:
            entries[id.slot].phase = .running
            return Answer(value: .run, effects: effects)
        case .waiting where !isCancelled: return Answer(value: .wait, effects: effects)
        case .quiet where !isCancelled:
            return Answer(value: .quiet(side[id.slot]?.quietTime ?? .zero), effects: effects)
        case .starting, .waiting, .quiet: skip(id.slot, &effects)
        case .skipped: break
        case .left: report(id.slot, &effects)
        case .running, .cancelled, nil: preconditionFailure("A task begins once.")
        }
        return Answer(value: .skip, effects: effects)
    }

    /// - Returns: Whether the waiter is parked; if not, it must be resumed at once.
    mutating func park(_ id: ID, _ waiter: Waiter) -> Bool {
        switch phase(of: id) {
        case .waiting:
            precondition(side[id.slot]?.parked == nil, "A task parks once at a time.")
            side[id.slot, default: Side()].parked = waiter
            return true
        case .starting, .skipped, .left:
            return false
        case .quiet, .running, .cancelled, nil:
            preconditionFailure("A task parks while it waits for its turn.")
        }
    }

    /// The task was cancelled, perhaps while it was parked. This makes no other task the first of its lane, because a waiting task never is. So the
    /// only waiter to be woken is its own.
    mutating func leave(_ id: ID) -> Effects {
        var effects = Effects()
        switch phase(of: id) {
        case .waiting:
            leave(id.slot, &effects)
            effects.wake(takeParked(id.slot))
        case .skipped: effects.wake(takeParked(id.slot))
        case .quiet, .starting, .running, .cancelled, .left, nil: break
        }
        return effects
    }

    /// No newer task of the kind has come: older ones are cancelled now, and this one runs.
    mutating func quietTimeEnded(_ id: ID, isCancelled: Bool) -> Answer<Start> {
        var effects = Effects()
        switch phase(of: id) {
        case .quiet where !isCancelled:
            cancelOlder(than: id.slot, &effects)
            entries[id.slot].phase = .running
            return Answer(value: .run, effects: effects)
        case .quiet: skip(id.slot, &effects)
        case .skipped: break
        case .waiting, .starting, .running, .cancelled, .left, nil:
            preconditionFailure("Only a task that waits for a quiet time sees its end.")
        }
        return Answer(value: .skip, effects: effects)
    }

    /// The task has ended. A second report has no effect.
    mutating func finish(_ id: ID) -> Effects {
        var effects = Effects()
        guard let phase = phase(of: id) else { return effects }
        if phase.isLinked, unlink(id.slot), let key = entries[id.slot].key { promote(key, &effects) }
        if phase.isLive { changeLiveCount(by: -1, &effects) }
        if !side.isEmpty { effects.wake(removeSide(id.slot)?.followers ?? []) }
        effects.released = entries.remove(id.slot)
        if entries.isEmpty { effects.wake(drainers.wakeAll(with: .reached)) }
        return effects
    }

    // MARK: Raising

    /// A task waits for its turn at this priority: the tasks before it in its lane must have that too.
    ///
    /// - Returns: The tasks that have not been raised that far yet. A task that is being created is raised by `attach`.
    /// - Complexity: O(*n*) in their number: each is raised once to each priority.
    mutating func raise(before id: ID, to priority: UInt8) -> [Job] {
        guard phase(of: id) == .waiting, entries[id.slot].raisedTo < priority else { return [] }
        entries[id.slot].raisedTo = priority
        var jobs: [Job] = []
        var slot = entries[id.slot].older
        while slot != Self.none, entries[slot].raisedTo < priority {
            entries[slot].raisedTo = priority
            if let job = entries[slot].job { jobs.append(job) }
            slot = entries[slot].older
        }
        return jobs
    }

    /// A caller waits for all tasks at this priority.
    ///
    /// - Complexity: O(*n*) in the number of tasks.
    mutating func raiseAll(to priority: UInt8) -> [Job] {
        var jobs: [Job] = []
        for slot in 0..<entries.extent where entries.isOccupied(slot) && entries[slot].raisedTo < priority {
            entries[slot].raisedTo = priority
            if let job = entries[slot].job { jobs.append(job) }
        }
        return jobs
    }

    // MARK: Closing and draining

    /// Refuses every later task.
    mutating func close() {
        isClosed = true
    }

    /// - Returns: `nil` if there is nothing to wait for.
    mutating func enrollDrainer() -> DrainID? {
        entries.isEmpty ? nil : drainers.enroll()
    }

    mutating func parkDrainer(_ id: DrainID, _ waiter: Waiter) -> WaitOutcome? {
        drainers.park(id, waiter)
    }

    mutating func drainerLeaves(_ id: DrainID) -> Waiter? {
        drainers.leave(id, with: .left)
    }

    // MARK: Bookkeeping

    /// `nil`: finished.
    @inline(__always)
    func phase(of id: ID) -> Phase? {
        guard entries.isOccupied(id.slot), id.has(serial: entries[id.slot].serial) else { return nil }
        return entries[id.slot].phase
    }

    /// Takes the waiter of a parked task.
    mutating func takeParked(_ slot: Slot) -> Waiter? {
        changeSide(slot) { $0.parked.take() } ?? nil
    }

    private mutating func takeFollowers(_ slot: Slot) -> [Waiter] {
        changeSide(slot) { side in
            defer { side.followers = [] }
            return side.followers
        } ?? []
    }

    private mutating func changeSide<Value>(_ slot: Slot, _ change: (inout Side) -> Value) -> Value? {
        guard !side.isEmpty, let index = side.index(forKey: slot) else { return nil }
        let value = change(&side.values[index])
        if side.values[index].isEmpty { removeSide(slot) }
        return value
    }

    @discardableResult
    private mutating func removeSide(_ slot: Slot) -> Side? {
        guard let removed = side.removeValue(forKey: slot) else { return nil }
        side.shrinkIfMostlyEmpty()
        return removed
    }
}
