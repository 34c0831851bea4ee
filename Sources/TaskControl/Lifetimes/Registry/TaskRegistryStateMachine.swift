/// The state of every owner of tasks: which tasks live, under which key, and whose turn it is. Pure: no lock, task or clock, and no
/// closure except one that reads whether a task is cancelled.
///
/// The life of an entry:
///
///     add ──┬──▶ starting ──begin──▶ running ──cancel──▶ cancelled
///           ├──▶ waiting ──(first in its lane)──▶ starting
///           ├──▶ quiet ──quietTimeEnded──▶ running
///           ├──▶ admitted ──begin──▶ running
///           └──▶ throttled ──(its lane has no interval)──▶ admitted
///
///     insert ──▶ running                              a task that has started already
///     any that has not begun ──cancel──▶ skipped      its body never runs
///     any ──finish──▶ (gone)
///
/// An entry is registered before its task is created. `attach` brings the task's handle, at any moment of that life, or after it. Each task
/// asks `begin` before its body runs: a task that is cancelled before that never runs its body, and leaves its lane at once. A task without a key
/// asks only if it may have been cancelled: its serial is below `suspectSerial`, or its own handle was cancelled. If it does not ask, it stays
/// `starting` while it runs, which nothing distinguishes: it has no lane in which another task could wait for it.
///
/// A *lane* links the entries of one key, oldest first, except those that are `skipped`. A `waiting` entry waits until all entries before it in
/// its lane have left it. An entry without a key has no lane; a registry of those is a plain bag.
///
/// An `admitted` entry claims the interval of its lane, which begins when the entry begins: see `Interval`.
///
/// Invariants, checked by `checkInvariants()` after each step of the tests:
/// 1. An ID is a slot and a serial, so a late event of a finished task finds nothing.
/// 2. The first entry in a lane is never `waiting`.
/// 3. `liveCount`, and each lane's, counts `waiting`, `quiet`, `starting` and `running`: cancelled is not finished, but it is not live.
/// 4. A lane lasts until the last entry of its key has finished and its interval has ended, and has the one key object that it is found by: so a key
///    is released by `finish` and `intervalEnded` alone, which pass it on to where the lock is free.
/// 5. Whatever is before an entry in its lane has been raised to at least what that entry has been raised to.
/// 6. A parked waiter belongs to a `waiting` or `throttled` entry, or to a `skipped` one that the cancellation of its task is about to wake.
/// 7. A lane with a `throttled` entry has an interval, which has begun or is claimed by an `admitted` entry.
struct TaskRegistryStateMachine<Key: Hashable, Job, Waiter> {
    typealias ID = Ticket
    typealias Slot = Ticket.Slot
    typealias DrainID = WaiterTable<Waiter, WaitOutcome>.ID

    var entries = SlotTable<Entry>()
    var lanes = KeyTable<Lane>()
    var sides: [Slot: Side] = [:]
    /// The intervals of the lanes that have one.
    var intervals: [Slot: Interval] = [:]
    var drainers = WaiterTable<Waiter, WaitOutcome>()
    /// The waiters for the end of a lane's tasks.
    var laneDrainers: [Slot: Chain] = [:]
    private var nextSerial: UInt64 = 0
    /// Greater than the serial of each entry that was cancelled without a key.
    private(set) var suspectSerial: UInt64 = 0
    var isClosed = false
    /// The number of entries that are neither finished nor cancelled.
    var liveCount = 0

    // MARK: Registering

    enum Registration<Added> {
        case added(Added)
        /// A task with the same key continues in place of the new one. Without a job, it is being created at this moment.
        case existing(ID, Job?)
        /// The registry is closed.
        case refused
    }

    /// Registers a task that is about to be created. Its order among the other tasks of its key is settled here.
    ///
    /// - Parameters:
    ///   - behavior: Ignored for a task without a key.
    ///   - isCancelled: Whether a task was cancelled through its own handle. Must only read that.
    /// - Complexity: O(1); under a behavior that cancels, O(*n*) in the number of tasks it cancels.
    mutating func add(
        key: Key?,
        behavior: TaskStoreDuplicateKeyBehavior,
        isCancelled: (Job) -> Bool,
        _ effects: inout Effects
    ) -> Registration<ID> {
        guard let key else { return add(&effects).map { .added($0) } ?? .refused }
        guard !isClosed else { return .refused }
        let existing = lanes.index(of: key)
        if let existing {
            if case .preferPrevious = behavior.kind, let standing = standing(in: existing, isCancelled, &effects) {
                return .existing(standing, entries[standing.slot].job)
            }
            makeRoom(in: existing, for: behavior, isCancelled, &effects)
        }
        let lane = existing ?? lanes.insert(Lane(key: key))
        let phase: Phase =
            switch behavior.kind {
            case .debounce: .quiet
            case .throttle: intervals[lane] == nil ? .admitted : .throttled
            // If it is the first of its lane, it is promoted below.
            case .wait, .keepLatest, .cancelPrevious(wait: true): existing == nil ? .starting : .waiting
            case .cancelPrevious(wait: false), .runConcurrently, .preferPrevious: .starting
            }
        let id = enter(lane, phase: phase, &effects)
        switch behavior.kind {
        case .debounce(let time): sides[id.slot] = Side(time: time)
        case .throttle(let time):
            sides[id.slot] = Side(time: time)
            takePlace(id.slot, phase)
        case .cancelPrevious, .wait, .runConcurrently, .preferPrevious, .keepLatest: break
        }
        if existing != nil { promote(lane, &effects) }
        return .added(id)
    }

    /// Registers a task without a key that is about to be created.
    ///
    /// - Returns: `nil` if the registry is closed.
    /// - Complexity: O(1).
    mutating func add(_ effects: inout Effects) -> ID? {
        isClosed ? nil : enter(phase: .starting, &effects)
    }

    /// Registers a task that does not ask `begin`: it has started already, or its maker decides when it begins. It is refused in favor of a task
    /// that lives under its key.
    ///
    /// - Parameter job: `nil`: the task is about to be created.
    mutating func insert(
        _ job: Job?,
        key: Key? = nil,
        isCancelled: (Job) -> Bool = { _ in false },
        _ effects: inout Effects
    ) -> Registration<ID> {
        guard !isClosed else { return .refused }
        guard let key else { return .added(enter(job: job, phase: .running, &effects)) }
        let lane = lanes.index(of: key)
        if let lane, let standing = standing(in: lane, isCancelled, &effects) {
            return .existing(standing, entries[standing.slot].job)
        }
        return .added(enter(lane ?? lanes.insert(Lane(key: key)), job: job, phase: .running, &effects))
    }

    @inline(__always)
    private mutating func enter(
        _ lane: Slot = Chain.none,
        job: Job? = nil,
        phase: Phase,
        _ effects: inout Effects
    ) -> ID {
        let id = ID(
            serial: nextSerial,
            slot: entries.insert(Entry(serial: nextSerial, lane: lane, job: job, phase: phase))
        )
        nextSerial += 1
        liveCount += 1
        effects.liveCountChange += 1
        if lane != Chain.none {
            lanes[lane].chain.append(id.slot, in: &entries)
            lanes[lane].entryCount += 1
            lanes[lane].liveCount += 1
        }
        return id
    }

    /// The task exists. It may have ended already.
    mutating func attach(_ id: ID, job: Job, _ effects: inout Effects) {
        guard let phase = phase(of: id) else { return }
        entries[id.slot].job = job
        effects.raisingTo = entries[id.slot].raisedTo
        if !phase.isLive { effects.cancel(job) }
        guard !sides.isEmpty, let followers = sides[id.slot]?.followers else { return }
        sides[id.slot]?.followers = []
        effects.wake(followers)
    }

    /// A caller has received a task that is being created, and waits for its handle.
    ///
    /// - Returns: Whether the waiter is parked; if not, the handle is there, or the task has ended.
    mutating func follow(_ id: ID, _ waiter: Waiter) -> Bool {
        guard entries.contains(id), entries[id.slot].job == nil else { return false }
        sides[id.slot, default: Side()].followers.append(waiter)
        return true
    }

    /// `nil`: the task is being created, or has ended.
    func job(of id: ID) -> Job? {
        entries.contains(id) ? entries[id.slot].job : nil
    }

    // MARK: Running

    enum Start: Equatable {
        case run
        /// Park until woken, then begin again.
        case wait
        /// Sleep for that time, then `quietTimeEnded`.
        case quiet(Duration)
        /// Park until woken, then begin again: an interval has not ended yet, which has that length if it is the task's own.
        case throttle(Duration)
        case skip
    }

    /// A task asks whether its body may run: at its start, and when it was woken.
    mutating func begin(_ id: ID, isCancelled: Bool, _ effects: inout Effects) -> Start {
        switch phase(of: id) {
        case .starting where !isCancelled:
            entries[id.slot].phase = .running
            return .run
        case .waiting where !isCancelled: return .wait
        case .quiet where !isCancelled: return .quiet(sides[id.slot]?.time ?? .zero)
        case .admitted where !isCancelled:
            cancelLane(entries[id.slot].lane, before: id.slot, &effects)
            entries[id.slot].phase = .running
            beginInterval(id, &effects)
            return .run
        case .throttled where !isCancelled: return .throttle(sides[id.slot]?.time ?? .zero)
        case .starting, .waiting, .quiet, .admitted, .throttled, .leaving: skip(id.slot, &effects)
        case .skipped: break
        case .left:
            entries[id.slot].phase = .skipped
            effects.retire(id)
        case .running, .cancelled, nil: preconditionFailure("A task begins once.")
        }
        return .skip
    }

    /// - Returns: Whether the waiter is parked; if not, it must be resumed at once.
    mutating func park(_ id: ID, _ waiter: Waiter) -> Bool {
        switch phase(of: id) {
        case .waiting, .throttled:
            precondition(sides[id.slot]?.parked == nil, "A task parks once at a time.")
            sides[id.slot, default: Side()].parked = waiter
            return true
        case .starting, .admitted, .leaving, .skipped, .left:
            return false
        case .quiet, .running, .cancelled, nil:
            preconditionFailure("A task parks while it waits for its turn.")
        }
    }

    /// The task was cancelled, perhaps while it was parked. The only waiter that this wakes is its own: a waiting task is never the first of its
    /// lane, so no other becomes the first, and a task that waits for an interval stays in its lane until it continues.
    mutating func leave(_ id: ID, _ effects: inout Effects) {
        let phase = phase(of: id)
        if phase == .waiting {
            unlink(id.slot)
            entries[id.slot].phase = .left
            changeLiveCount(of: id.slot, by: -1, &effects)
        }
        if phase == .throttled {
            givePlaceUp(id.slot)
            entries[id.slot].phase = .leaving
        }
        if phase == .waiting || phase == .throttled || phase == .skipped { effects.wake(takeParked(id.slot)) }
    }

    /// No newer task of the kind has come: older ones are cancelled now, and this one runs.
    mutating func quietTimeEnded(_ id: ID, isCancelled: Bool, _ effects: inout Effects) -> Start {
        switch phase(of: id) {
        case .quiet where !isCancelled:
            cancelLane(entries[id.slot].lane, before: id.slot, &effects)
            entries[id.slot].phase = .running
            // A cancelled entry may have claimed the interval that a newer entry waits for.
            promote(entries[id.slot].lane, &effects)
            return .run
        case .quiet: skip(id.slot, &effects)
        case .skipped: break
        case .waiting, .throttled, .leaving, .starting, .admitted, .running, .cancelled, .left, nil:
            preconditionFailure("Only a task that waits for a quiet time sees its end.")
        }
        return .skip
    }

    /// A task that was cancelled before its body ran continues without the body.
    private mutating func skip(_ slot: Slot, _ effects: inout Effects) {
        retire(slot, &effects)
        promote(entries[slot].lane, &effects)
    }

    /// The task has ended. A second report has no effect.
    ///
    /// - Returns: A key of the user, which must be released with the lock free.
    mutating func finish(_ id: ID, _ effects: inout Effects) -> Key? {
        guard let phase = phase(of: id) else { return nil }
        let lane = entries[id.slot].lane
        // The lane is removed with its only entry.
        if lane != Chain.none, phase.isLinked, lanes[lane].entryCount > 1 || !intervals.isEmpty {
            givePlaceUp(id.slot)
            unlink(id.slot)
            promote(lane, &effects)
        }
        entries.discard(id.slot)
        if phase.isLive {
            liveCount -= 1
            effects.liveCountChange -= 1
        }
        if !sides.isEmpty, let side = sides.removeValue(forKey: id.slot) {
            sides.shrinkIfMostlyEmpty()
            effects.wake(side.followers)
        }
        if entries.isEmpty { effects.wake(drainers.wakeAll(with: .reached)) }
        guard lane != Chain.none else { return nil }
        if phase.isLive { lanes[lane].liveCount -= 1 }
        if !laneDrainers.isEmpty { wakeDrainers(of: lane, &effects) }
        return leaveLane(lane)
    }

    /// An entry was cancelled. Without a key, its task must learn of that when it starts.
    mutating func suspect(_ slot: Slot) {
        if entries[slot].lane == Chain.none { suspectSerial = max(suspectSerial, entries[slot].serial + 1) }
    }

    // MARK: Raising

    /// A task waits for its turn at this priority: the tasks before it in its lane must have that too.
    ///
    /// - Returns: The tasks that have not been raised that far yet. A task that is being created is raised by `attach`.
    /// - Complexity: O(*n*) in their number: each is raised once to each priority.
    mutating func raise(before id: ID, to priority: UInt8) -> [Job] {
        guard phase(of: id) == .waiting else { return [] }
        var jobs: [Job] = []
        var slot = id.slot
        while slot != Chain.none, entries[slot].raisedTo < priority {
            entries[slot].raisedTo = priority
            if slot != id.slot, let job = entries[slot].job { jobs.append(job) }
            slot = entries[slot].links.older
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

    /// A caller waits for all tasks of a key at this priority.
    ///
    /// - Complexity: O(*n*) in the number of tasks under the key.
    mutating func raiseAll(of key: Key, to priority: UInt8) -> [Job] {
        guard let lane = lanes.index(of: key) else { return [] }
        var jobs: [Job] = []
        var slot = lanes[lane].chain.last
        while slot != Chain.none {
            if entries[slot].raisedTo < priority {
                entries[slot].raisedTo = priority
                if let job = entries[slot].job { jobs.append(job) }
            }
            slot = entries[slot].links.older
        }
        return jobs
    }

    // MARK: Bookkeeping

    /// The key of an entry that has not finished.
    func key(of id: ID) -> Key? {
        guard entries.contains(id), entries[id.slot].lane != Chain.none else { return nil }
        return lanes[entries[id.slot].lane].key
    }

    /// `nil`: finished.
    @inline(__always)
    func phase(of id: ID) -> Phase? {
        entries.contains(id) ? entries[id.slot].phase : nil
    }

    /// Takes the waiter of a parked task.
    mutating func takeParked(_ slot: Slot) -> Waiter? {
        sides.isEmpty ? nil : sides[slot]?.parked.take() ?? nil
    }
}
