/// The books of every owner of tasks: which tasks live, under which key, and whose turn it is. Pure: no lock, task, clock or closure.
///
/// The life of an entry:
///
///     add ──┬──▶ running ──cancel──▶ cancelled
///           ├──▶ waiting ──(first in its lane)──▶ ready ──begin──▶ running
///           └──▶ quiet ──quietTimeEnded──▶ running
///
///     insert ──▶ running                           a task that has started already
///     ready, waiting, quiet ──cancel──▶ skipped    its body never runs
///     any ──finish──▶ (gone)
///
/// An entry is there before its task is (law 2). `attach` brings the task's handle, at any moment of that life, or after it. An entry
/// that has nothing to wait for is `running` from the start; its task asks `mayStart` first, since it may have been cancelled before it was
/// there to be told (law 8).
///
/// A *lane* is what is linked under one key, oldest first: everything but `skipped`. `waiting` means: until all that is before it in its
/// lane has ended. An entry without a key has no lane; a registry of those is a plain bag.
///
/// Invariants, checked by `checkInvariants()` after each step of the tests:
/// 1. An ID is a slot and a serial that is never used again, so a late event of a finished task finds nothing (law 3).
/// 2. The first in a lane is never `waiting`.
/// 3. `liveCount`, and each lane's, counts `waiting`, `quiet`, `ready` and `running`: cancelled is not finished, but it is not live (law 7).
/// 4. All entries of a lane have the one key object that the lane is found by, so that the last of them takes it out of the books, and
///    no key is let go of in here (law 1).
/// 5. Whatever is before an entry in its lane has been raised to at least what that one has been raised to (law 12).
/// 6. A parked waiter belongs to a `waiting` entry, or to a `skipped` one that the cancellation of its task is about to wake.
struct TaskRegistryStateMachine<Key: Hashable, Job, Waiter> {
    typealias Slot = SlotTable<Entry>.Index

    struct ID: Hashable, Sendable {
        // The larger one first: whoever keeps an ID can put something into the gap behind it.
        let serial: UInt64
        let slot: Slot

        /// What the entry's task goes by elsewhere, if it was entered with that.
        var number: UInt64? { serial & Self.isNumber == 0 ? nil : serial & ~Self.isNumber }

        /// Set in the serial of an entry that was entered with a number: the others never get there.
        static var isNumber: UInt64 { 1 << 47 }
    }

    enum Phase: UInt8 {
        case waiting, quiet, ready, running, cancelled, skipped
        /// Skipped by the cancellation of its own task, which reports that when it is resumed.
        case left

        var isLive: Bool { rawValue <= Phase.running.rawValue }
        var isLinked: Bool { rawValue <= Phase.cancelled.rawValue }
    }

    /// Packed, for there may be a million of them.
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

        /// What it, and all that is before it in its lane, has been raised to for the sake of somebody who waits. 0: nothing.
        var raisedTo: UInt8 {
            get { UInt8(truncatingIfNeeded: packed >> 8) }
            set { packed = packed & ~0xFF00 | UInt64(newValue) << 8 }
        }

        var phase: Phase {
            get { Phase(rawValue: UInt8(truncatingIfNeeded: packed))! }
            set { packed = packed & ~0xFF | UInt64(newValue.rawValue) }
        }
    }

    /// The slot that nothing is in.
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
    private var parked: [Slot: Waiter] = [:]
    /// Who waits for the handle of a task that is being created.
    private var followers: [Slot: [Waiter]] = [:]
    private var quietTimes: [Slot: Duration] = [:]
    private var drainers = WaiterTable<Waiter, WaitOutcome>()
    private var nextSerial: UInt64 = 0
    private(set) var isClosed = false
    /// How many are neither finished nor cancelled.
    var liveCount = 0
    /// Whether anybody has ever asked what is running: until then nobody needs to hear of changes.
    var isObserved = false
    /// Which were live and no longer are, without having finished; `nil`: nobody wants to know.
    var retired: [ID]?

    // MARK: Registering

    /// What goes on in a newcomer's place.
    ///
    /// Its job may have been cancelled behind the registry's back: whoever is handed this looks, and if so cancels its ID too, and asks
    /// again. `nil`: that task is being created at this moment.
    struct Existing {
        let id: ID
        let job: Job?
    }

    enum AddAction {
        /// - mustBegin: Whether there is something to wait for: a turn, or a quiet time.
        case added(ID, mustBegin: Bool, Effects?)
        case existing(Existing)
        case refused
    }

    struct Effects {
        var cancelling: [Job] = []
        var waking: [Waiter] = []
    }

    /// Enters a task without a key that is about to be created.
    ///
    /// - Returns: `nil` if the registry is closed.
    /// - Complexity: O(1).
    mutating func add(number: UInt64? = nil) -> ID? {
        isClosed ? nil : enter(key: nil, isFirst: true, job: nil, phase: .running, number: number)
    }

    /// Enters a task that is about to be created. Its order among the others of its key is settled here.
    ///
    /// - Complexity: O(1); under a behavior that cancels, O(*n*) in the number of tasks it cancels.
    mutating func add(key: Key, behavior: TaskStoreDuplicateKeyBehavior) -> AddAction {
        if isClosed { return .refused }
        var effects: Effects?
        var isFirst = true
        let former = formerKey(key)
        if former != nil {
            if behavior == .preferPrevious, let existing = newestLive(key) { return .existing(existing) }
            effects = Effects(cancelling: makeRoom(in: key, for: behavior))
            isFirst = lanes[key] == nil
        }
        let phase: Phase
        switch behavior.kind {
        case .debounce: phase = .quiet
        case .wait, .keepLatest, .cancelPrevious(wait: true): phase = isFirst ? .running : .waiting
        case .cancelPrevious(wait: false), .runConcurrently, .preferPrevious: phase = .running
        }
        let id = enter(key: former ?? key, isFirst: isFirst, job: nil, phase: phase)
        if case .debounce(let quietTime) = behavior.kind { quietTimes[id.slot] = quietTime }
        if !isFirst { effects?.waking = promote(key) }
        return .added(id, mustBegin: phase != .running, effects)
    }

    /// What was decided about a task while it was being created.
    struct AttachAction {
        var isToBeCancelled = false
        /// 0: none.
        var raisingTo: UInt8 = 0
        var waking: [Waiter] = []
    }

    /// The task exists.
    mutating func attach(_ id: ID, job: Job) -> AttachAction {
        // It may have ended already.
        guard let phase = phase(of: id) else { return AttachAction() }
        entries[id.slot].job = job
        return AttachAction(
            isToBeCancelled: !phase.isLive,
            raisingTo: entries[id.slot].raisedTo,
            waking: takeFollowers(id.slot)
        )
    }

    /// Somebody was handed a task that is being created.
    ///
    /// - Returns: Whether the waiter is parked; if not, the task is there, or has ended.
    mutating func follow(_ id: ID, _ waiter: Waiter) -> Bool {
        guard phase(of: id) != nil, entries[id.slot].job == nil else { return false }
        followers[id.slot, default: []].append(waiter)
        return true
    }

    /// `nil`: it is being created, or has ended.
    func job(of id: ID) -> Job? {
        phase(of: id) == nil ? nil : entries[id.slot].job
    }

    private mutating func takeFollowers(_ slot: Slot) -> [Waiter] {
        guard !followers.isEmpty, let waiters = followers.removeValue(forKey: slot) else { return [] }
        followers.shrinkIfMostlyEmpty()
        return waiters
    }

    enum InsertAction {
        case inserted(ID)
        case existing(Existing)
        case refused
    }

    /// Registers a task that has started already. With a key it is refused in favor of one that lives under it.
    ///
    /// - Parameter number: What it goes by elsewhere: unique, and below 2⁴⁷.
    mutating func insert(_ job: Job, key: Key?, number: UInt64? = nil) -> InsertAction {
        if isClosed { return .refused }
        if let key, let existing = newestLive(key) { return .existing(existing) }
        let former = key.flatMap(formerKey)
        let id = enter(key: former ?? key, isFirst: former == nil, job: job, phase: .running, number: number)
        return .inserted(id)
    }

    private mutating func enter(key: Key?, isFirst: Bool, job: Job?, phase: Phase, number: UInt64? = nil) -> ID {
        defer { nextSerial += 1 }
        let serial = number.map { $0 | ID.isNumber } ?? nextSerial
        let slot = entries.insert(Entry(serial: serial, key: key, job: job, phase: phase))
        liveCount += 1
        if let key { link(slot, key, isFirst: isFirst) }
        return ID(serial: serial, slot: slot)
    }

    // MARK: Running

    /// Whether a task that had nothing to wait for may start.
    func mayStart(_ id: ID) -> Bool {
        phase(of: id) == .running
    }

    enum BeginAction {
        case run
        /// Park until woken, then begin again.
        case wait
        /// Sleep that long, then `quietTimeEnded`.
        case quiet(Duration)
        case skip(waking: [Waiter])
    }

    /// A task that had something to wait for has been given a thread, for the first time or because it was woken.
    mutating func begin(_ id: ID, isCancelled: Bool) -> BeginAction {
        switch phase(of: id) {
        case .ready where !isCancelled:
            entries[id.slot].phase = .running
            return .run
        case .waiting where !isCancelled: return .wait
        case .quiet where !isCancelled: return .quiet(quietTimes[id.slot] ?? .zero)
        case .ready, .waiting, .quiet: return .skip(waking: skip(id.slot))
        case .skipped: return .skip(waking: [])
        case .left:
            report(id.slot)
            return .skip(waking: [])
        case .running, .cancelled, nil:
            preconditionFailure("A task begins once, and only if it had something to wait for.")
        }
    }

    /// - Returns: Whether the waiter is parked; if not, it is to be resumed at once.
    mutating func park(_ id: ID, _ waiter: Waiter) -> Bool {
        switch phase(of: id) {
        case .waiting:
            let other = parked.updateValue(waiter, forKey: id.slot)
            precondition(other == nil, "A task parks once at a time.")
            return true
        case .ready, .skipped, .left:
            return false
        case .quiet, .running, .cancelled, nil:
            preconditionFailure("A task parks while it waits for its turn.")
        }
    }

    /// The task was cancelled, perhaps while it was parked. Nobody else's turn comes by that: a task that waits is never first in its lane.
    ///
    /// - Returns: Its own waiter, if it was parked.
    mutating func leave(_ id: ID) -> Waiter? {
        switch phase(of: id) {
        case .waiting:
            leave(id.slot)
            return takeParked(id.slot).first
        case .skipped: return takeParked(id.slot).first
        case .quiet, .ready, .running, .cancelled, .left, nil: return nil
        }
    }

    enum QuietTimeAction {
        case run(cancelling: [Job])
        case skip(waking: [Waiter])
    }

    /// Nothing newer has come: what is older is cancelled now, and this one runs.
    mutating func quietTimeEnded(_ id: ID, isCancelled: Bool) -> QuietTimeAction {
        switch phase(of: id) {
        case .quiet:
            if isCancelled { return .skip(waking: skip(id.slot)) }
            let cancelling = cancelOlder(than: id.slot)
            entries[id.slot].phase = .running
            return .run(cancelling: cancelling)
        case .skipped:
            return .skip(waking: [])
        case .waiting, .ready, .running, .cancelled, .left, nil:
            preconditionFailure("Only a task that waits for a quiet time sees its end.")
        }
    }

    struct FinishAction {
        /// Released by the caller, outside the lock, with all that hangs on it.
        var entry: Entry?
        var waking: [Waiter] = []
    }

    /// The task has ended. Of an ID that is gone already this is no news.
    mutating func finish(_ id: ID) -> FinishAction {
        guard let phase = phase(of: id) else { return FinishAction() }
        var waking: [Waiter] = []
        if phase.isLinked, unlink(id.slot), let key = entries[id.slot].key { waking = promote(key) }
        if phase.isLive { liveCount -= 1 }
        if !quietTimes.isEmpty {
            quietTimes[id.slot] = nil
            quietTimes.shrinkIfMostlyEmpty()
        }
        if !followers.isEmpty { waking += takeFollowers(id.slot) }
        let entry = entries.remove(id.slot)
        if entries.isEmpty { waking += drainers.wakeAll(with: .reached) }
        return FinishAction(entry: entry, waking: waking)
    }

    // MARK: Raising

    /// Somebody waits for a turn at this priority: what is before it in its lane is to have that too (law 12).
    ///
    /// - Returns: Those that have not been raised so far yet. A task that is being created is, by `attach`.
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

    /// Somebody waits for all that is here.
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

    // MARK: Cancelling

    /// - Complexity: O(*n*) in the number of tasks, and of the places left empty before the last of them.
    mutating func cancelAll() -> [Job] {
        guard liveCount > 0 else { return [] }
        var cancelled: [Job] = []
        cancelled.reserveCapacity(liveCount)
        for slot in 0..<entries.extent where entries.isOccupied(slot) {
            if let job = cancel(slot) { cancelled.append(job) }
        }
        return cancelled
    }

    /// - Complexity: O(*n*) in the number of tasks under the key.
    mutating func cancel(key: Key) -> [Job] {
        cancelLane(key) { _ in true }
    }

    /// Of an ID that is gone already this is no news.
    mutating func cancel(_ id: ID) -> (Job?, waking: [Waiter]) {
        guard phase(of: id) != nil else { return (nil, []) }
        let job = cancel(id.slot)
        return (job, entries[id.slot].key.map { promote($0) } ?? [])
    }

    /// Refuses whatever comes from now on.
    mutating func close() {
        isClosed = true
    }

    // MARK: Draining

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

    // MARK: Inside

    /// What it holds memory for, in entries, keys and those who wait.
    var capacity: Int {
        max(entries.capacity, lanes.capacity, max(parked.capacity, followers.capacity, quietTimes.capacity))
    }

    /// `nil`: finished.
    @inline(__always)
    func phase(of id: ID) -> Phase? {
        guard entries.isOccupied(id.slot), entries[id.slot].serial == id.serial else { return nil }
        return entries[id.slot].phase
    }

    mutating func takeParked(_ slot: Slot) -> [Waiter] {
        guard !parked.isEmpty, let waiter = parked.removeValue(forKey: slot) else { return [] }
        parked.shrinkIfMostlyEmpty()
        return [waiter]
    }

    /// For the tests: the books agree with themselves.
    func checkInvariants() {
        var live = 0
        var linked = 0
        for slot in 0..<entries.extent where entries.isOccupied(slot) {
            let entry = entries[slot]
            if entry.phase.isLive { live += 1 }
            if entry.phase.isLinked, entry.key != nil { linked += 1 }
            precondition(parked[slot] == nil || [.waiting, .skipped].contains(entry.phase), "Who is parked waits.")
        }
        precondition(live == liveCount, "The live count is right.")
        precondition(parked.keys.allSatisfy(entries.isOccupied), "Who is parked is registered.")
        for slot in followers.keys {
            precondition(entries.isOccupied(slot) && entries[slot].job == nil, "Who is followed is being created.")
        }
        precondition(quietTimes.keys.allSatisfy(entries.isOccupied), "Who has a quiet time is registered.")
        for (key, lane) in lanes {
            var (slot, older, liveInLane) = (lane.oldest, Self.none, Int32(0))
            precondition(entries[lane.oldest].phase != .waiting, "The first in a lane never waits.")
            var raisedTo = UInt8.max
            while slot != Self.none {
                let entry = entries[slot]
                precondition(entry.raisedTo <= raisedTo, "Who waits has raised all that is before it.")
                raisedTo = entry.raisedTo
                precondition(entry.key == key && entry.older == older && entry.phase.isLinked, "A lane links its own.")
                if entry.phase.isLive { liveInLane += 1 }
                linked -= 1
                (older, slot) = (slot, entry.newer)
            }
            precondition(older == lane.newest && liveInLane == lane.liveCount, "A lane knows its end and its count.")
        }
        precondition(linked == 0, "What has a key is in its lane.")
    }
}
