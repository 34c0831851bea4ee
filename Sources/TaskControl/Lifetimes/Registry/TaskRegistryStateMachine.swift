/// The state of each type that owns tasks: the registered tasks, their keys, and which of them may run. Pure: a value
/// without a lock, task or clock, and without a closure except one that reads whether a task is cancelled.
///
/// An *entry* is a registered task. It is *live* until it has finished or was cancelled. A *lane* links the entries of
/// one key, oldest first, except those that are `skipped` or `left`. An entry without a key has no lane. A `waiting`
/// entry waits until all entries before it have left the lane. A `quiet` entry waits for its quiet time (the behavior
/// `debounce`). A `throttled` entry waits for the end of the interval of its lane (the behavior `throttle`). An
/// `admitted` entry has that behavior too, but need not wait: it claims the interval, which begins when the entry
/// begins (see ``Interval``). If the registry has a limit, a `queued` entry may start under its key, and waits for a
/// permit (see ``Limit``). An entry *replaces* others if its behavior cancels them.
///
/// The life of an entry:
///
///     add ──┬──▶ starting ──begin──▶ running ──cancel──▶ cancelled
///           ├──▶ waiting ──(first in its lane)──▶ starting
///           ├──▶ quiet ──quietTimeEnded──▶ running
///           ├──▶ admitted ──begin──▶ running
///           └──▶ throttled ──(its lane has no interval)──▶ admitted
///
///     starting, admitted ──(no permit is available, or a pause)──▶ queued ──(a permit is)──▶ starting, admitted
///     quiet ──quietTimeEnded──▶ queued, or waiting if the rule after the quiet time is `keepLatest`
///
///     insert ──▶ running                              a task that has started already
///     insert ──▶ starting ──beginReserved──▶ running  a task that is about to be created, and does not call `begin`
///     any that has not begun ──cancel──▶ skipped      its body never runs
///     any ──finish──▶ (gone)
///
/// An entry is registered before its task is created. `attach` stores the task's handle, at any time until the task has
/// ended, and does nothing after that. Each task calls `begin` before its body runs: a task that is cancelled before
/// that never runs its body, and leaves its lane at once. A task that calls `begin` before its handle is attached
/// attaches the handle itself, so that a cancellation by its own body reaches it at once.
///
/// Invariants, checked by `checkInvariants()` after each step of the tests:
/// 1. An ID consists of a slot and a serial number, so a late event of a finished task finds no entry.
/// 2. The first entry in a lane is never `waiting`.
/// 3. `liveCount` is the number of live entries, and that of each lane is the number of its live entries. A cancelled
///    entry has not finished, but is not live.
/// 4. A lane exists until the last entry of its key has finished and its interval has ended, and it contains the
///    machine's only copy of the key. So keys are removed only by `finish` and `intervalEnded`, which return the key:
///    the caller releases it after unlocking.
/// 5. Each entry in a lane has been escalated at least to each priority for which an entry after it has escalated those
///    before it. The same holds for the line of a limit.
/// 6. A parked waiter belongs to a `waiting`, `throttled` or `queued` entry, or to a `skipped` one that the cancellation
///    of its task is about to wake.
/// 7. A lane with a `throttled` entry has an interval, which has begun or is claimed by an entry that has not begun.
/// 8. An entry has a permit from `starting` or `admitted` on until it has finished, or was cancelled before it began.
///    No entry is `queued` while a permit is available, unless the registry is paused: then each entry that has not begun
///    waits.
/// 9. An entry that cancels the older entries of its lane when it begins is not parked as `queued` while one of them is
///    live: it would wait for a permit that it should free itself. Except while the registry is paused.
struct TaskRegistryStateMachine {
    typealias Key = _ErasedKey
    /// The handle of a task, which the machine does not retain.
    typealias Job = Word
    /// The continuation of a task or caller that waits.
    typealias Waiter = Word
    typealias ID = Ticket
    typealias Slot = Ticket.Slot
    typealias DrainID = WaiterTable.ID

    var entries = SlotTable<Entry>()
    var lanes = LaneTable()
    var sides: [Slot: Side] = [:]
    /// The intervals of the behavior `throttle`, by the slots of the lanes of their keys: see ``Lane``.
    var intervals = RareDictionary<Slot, Interval>()
    var drainers = WaiterTable()
    /// The waiters for the end of the tasks of one key, by the slot of the ``Lane`` of the key.
    var laneDrainers = RareDictionary<Slot, Chain>()
    private var nextSerial: UInt64 = 0
    /// The tasks that were added since `cancelAll` was last called, including tasks that are no longer live; `nil` if
    /// `cancelAll` was not called since the registry was last empty. So `cancelAll` need not look again at the tasks
    /// that it has cancelled and that still run.
    var addedSinceCancelAll: ContiguousArray<ID>?
    var isClosed = false
    /// The permits of a registry that limits how many of its tasks run; `nil` without a limit.
    var limit: Limit?
    /// The number of tasks that have neither finished nor been cancelled.
    var liveCount = 0
    /// Whether the tasks that wait for a permit receive it in the order of their priorities.
    let isOrdered: Bool
    /// The number of tasks that may wait; `nil` for any number.
    let bound: Bound?
    /// The number of tasks that wait for older tasks of their key, for the end of an interval, or for a permit.
    var waitingCount = 0
    /// The tasks that have come to wait, the oldest first, and others that no longer wait, if the oldest must be dropped.
    var arrivals: ContiguousArray<ID> = []
    /// The number of the first `arrivals` that were dropped or passed.
    var takenArrivals = 0

    /// The number of tasks that may wait at once, and which one is dropped if another one comes.
    struct Bound {
        let count: Int
        let dropsOldest: Bool
    }

    /// Creates the state of a registry without tasks.
    ///
    /// - Parameters:
    ///   - limit: The number of tasks that may run at once; `nil` for any number. A registry with a limit has only tasks
    ///     with keys.
    ///   - isOrdered: Whether the tasks that wait for a permit receive it in the order of their priorities.
    ///   - bound: The number of tasks that may wait.
    init(limit: Int? = nil, isOrdered: Bool = false, bound: Bound? = nil) {
        self.limit = limit.map { Limit(size: $0) }
        self.isOrdered = isOrdered
        self.bound = bound
    }

    // MARK: Registering

    enum Registration {
        case added(ID)
        /// A task with the same key is preferred to the new one, which was not added. The job, which is the handle of
        /// the existing task, is `nil` while that task is being created.
        case existing(ID, Job?)
        /// The task was not added, because the registry is closed.
        case refused
    }

    /// Registers a task that is about to be created. The order of the calls is the order of the tasks of a key.
    ///
    /// - Parameters:
    ///   - key: The key; `nil` for none.
    ///   - behavior: The rule for the new task and for the present tasks of the key. Ignored for a task without a key.
    ///   - priority: The raw priority of the task. Needed if the tasks are ordered by their priorities, otherwise 0.
    ///   - mustFinish: Whether the task is cancelled only by its own ID or key. Ignored for a task with a key.
    ///   - isCancelled: Returns whether a task was cancelled through its own handle. Must have no other effect.
    ///   - effects: Receives the actions for the storage (the ``TaskRegistry``).
    /// - Complexity: O(1) amortized; under a behavior that cancels, O(*n*) in the number of tasks it cancels. Under
    ///   `preferPrevious`, O(*n*) in the number of tasks of the key.
    mutating func add(
        key: Key?,
        behavior: TaskStoreDuplicateKeyBehavior,
        priority: UInt8 = 0,
        mustFinish: Bool = false,
        isCancelled: (Job) -> Bool,
        _ effects: inout Effects
    ) -> Registration {
        guard !isClosed else { return .refused }
        guard let key else {
            let id = enter(phase: .starting, &effects)
            if mustFinish { sides[id.slot, default: Side()].mustFinish = true }
            return .added(id)
        }
        let existing = lanes.slot(of: key)
        if let existing {
            if case .preferPrevious = behavior.kind, let standing = standing(in: existing, isCancelled, &effects) {
                let isForeign = !sides.isEmpty && sides[standing.slot]?.isForeign == true
                return .existing(standing, isForeign ? nil : entries[standing.slot].job)
            }
            makeRoom(in: existing, for: behavior, isCancelled, &effects)
        }
        let lane = existing ?? lanes.insert(key)
        let phase: Phase =
            switch behavior.kind {
            case .debounce: .quiet
            case .throttle: intervals[lane] == nil ? .admitted : .throttled
            case .wait, .keepLatest, .cancelPrevious(wait: true): lanes[lane].chain.isEmpty ? .starting : .waiting
            case .cancelPrevious(wait: false), .runConcurrently, .preferPrevious: .starting
            }
        let id = enter(lane, phase: phase, &effects)
        if priority > 0 { sides[id.slot, default: Side()].level = Limit.Level(priority) }
        switch behavior.kind {
        case .debounce(let time, let rule):
            sides[id.slot, default: Side()].time = time
            sides[id.slot]?.afterQuietTime = rule
            lanes[lane].debounced = id.slot
        case .throttle(let time):
            sides[id.slot, default: Side()].time = time
            takePlace(id.slot, phase)
        case .cancelPrevious, .wait, .runConcurrently, .preferPrevious, .keepLatest: break
        }
        if limit != nil {
            if phase.waits { claim(id.slot) } else { start(id.slot, as: phase, &effects) }
        }
        if existing != nil { promote(lane, &effects) }
        noteArrival(id)
        return .added(id)
    }

    /// Registers a task that does not call `begin`: it has already started, or the code that creates it decides when it
    /// begins, and the task then calls `beginReserved`. Without a `behavior`, the task is not added if its key has a task that has neither
    /// finished nor been cancelled.
    ///
    /// - Parameters:
    ///   - job: The handle of the task; `nil` if the task is about to be created.
    ///   - key: The key; `nil` for none.
    ///   - behavior: The rule for the present tasks of the key, for a task that runs already and whose value is of any type:
    ///     it does not wait, so only `cancelPrevious` and `runConcurrently` make sense.
    ///   - subject: The identity of the task in events: see `setSubject(_:of:)`.
    ///   - isCancelled: Returns whether a task was cancelled through its own handle. Must have no other effect.
    ///   - effects: Receives the actions for the storage.
    mutating func insert(
        _ job: Job?,
        key: Key? = nil,
        behavior: TaskStoreDuplicateKeyBehavior? = nil,
        subject: TaskEvent.Identity? = nil,
        isCancelled: (Job) -> Bool = { _ in false },
        _ effects: inout Effects
    ) -> Registration {
        guard !isClosed else { return .refused }
        let lane = key.flatMap { lanes.slot(of: $0) }
        if let behavior, let lane {
            makeRoom(in: lane, for: behavior, isCancelled, &effects)
        } else if let lane, let standing = standing(in: lane, isCancelled, &effects) {
            return .existing(standing, entries[standing.slot].job)
        }
        let id = enter(
            lane ?? key.map { lanes.insert($0) } ?? Chain.none,
            job: job,
            phase: job == nil ? .starting : .running,
            &effects
        )
        if let subject { setSubject(subject, of: id) }
        if behavior != nil { sides[id.slot, default: Side()].isForeign = true }
        if limit != nil { adoptPlace(id.slot, &effects) }
        if behavior != nil, let lane { promote(lane, &effects) }
        return .added(id)
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
        if phase.waits {
            effects.waitingCountChange += 1
            if phase.isBounded { waitingCount += 1 }
        }
        if lane != Chain.none {
            lanes[lane].chain.append(id.slot, in: &entries)
            lanes[lane].entryCount += 1
            lanes[lane].liveCount += 1
        }
        if addedSinceCancelAll != nil {
            addedSinceCancelAll?.append(id)
            tidyAdded()
        }
        return id
    }

    /// Returns whether the handle of a live task is not attached. If so, the task attaches it before it begins.
    @inline(__always)
    func needsJob(_ id: ID) -> Bool {
        entries.contains(id) && entries[id.slot].job == nil && entries[id.slot].phase.isLive
    }

    /// Attaches the handle of a task that has been created. Does nothing if the task has already ended.
    mutating func attach(_ id: ID, job: Job, _ effects: inout Effects) {
        guard let phase = phase(of: id) else { return }
        effects.raisingTo = entries[id.slot].raisedTo
        // The task has attached the handle itself, and begun.
        guard entries[id.slot].job == nil else { return }
        entries[id.slot].job = job
        if !phase.isLive { effects.cancel(job) }
        guard !sides.isEmpty, let followers = sides[id.slot]?.followers else { return }
        sides[id.slot]?.followers = []
        effects.wake(followers)
    }

    /// Stores the continuation of a caller that waits for the handle of a task that is being created, or for the end of a
    /// task whose value is of any type.
    ///
    /// - Returns: Whether the continuation was stored, and the caller must wait. If not, the handle is attached, or the
    ///   task has ended.
    mutating func follow(_ id: ID, _ waiter: Waiter) -> Bool {
        guard entries.contains(id), entries[id.slot].job == nil || sides[id.slot]?.isForeign == true else {
            return false
        }
        sides[id.slot, default: Side()].followers.append(waiter)
        return true
    }

    /// Returns the handle of a task; `nil` if the task is being created, or has ended.
    func job(of id: ID) -> Job? {
        entries.contains(id) ? entries[id.slot].job : nil
    }

    // MARK: Running

    enum Start: Equatable {
        case run
        /// The task must call `park(_:_:)` and suspend until it is resumed, and then call `begin` again.
        case wait
        /// The task must sleep for the given time, and then call `quietTimeEnded`.
        case quiet(Duration)
        /// The task must call `park(_:_:)` and suspend until it is resumed, and then call `begin` again: an interval
        /// has not ended yet. The value is the length of the interval that the task itself will begin.
        case throttle(Duration)
        case skip
    }

    /// Decides whether the body of a task may run. Called by the task when it starts, and again when it is resumed
    /// after a wait. Traps if the task has already begun, or has ended.
    ///
    /// - Parameters:
    ///   - id: The task.
    ///   - isCancelled: Whether the task was cancelled, including through its own handle.
    ///   - effects: Receives the actions for the storage.
    mutating func begin(_ id: ID, isCancelled: Bool, _ effects: inout Effects) -> Start {
        switch phase(of: id) {
        case .starting where !isCancelled:
            entries[id.slot].phase = .running
            return .run
        case .waiting where !isCancelled: return .wait
        case .queued where !isCancelled:
            guard !isPaused, sides[id.slot]?.cancelsOlder == true, replaceOlder(id.slot, &effects) else { return .wait }
            return begin(id, isCancelled: false, &effects)
        case .quiet where !isCancelled: return .quiet(sides[id.slot]?.time ?? .zero)
        case .admitted where !isCancelled:
            cancelLane(entries[id.slot].lane, before: id.slot, &effects)
            // A cancelled entry may have had a permit.
            if limit != nil { passPermitsOn(&effects) }
            entries[id.slot].phase = .running
            beginInterval(id, &effects)
            return .run
        case .throttled where !isCancelled: return .throttle(sides[id.slot]?.time ?? .zero)
        case .starting, .waiting, .quiet, .admitted, .throttled, .queued, .leaving: skip(id.slot, &effects)
        case .skipped: break
        case .left:
            entries[id.slot].phase = .skipped
            effects.retire(id)
        case .running, .cancelled, nil: preconditionFailure("A task begins once.")
        }
        return .skip
    }

    /// Records that a task begins that `insert` has registered before it was created. May be called more than once.
    ///
    /// - Returns: Whether the task is registered and was not cancelled.
    mutating func beginReserved(_ id: ID) -> Bool {
        guard let phase = phase(of: id), phase.isLive else { return false }
        if phase == .starting { entries[id.slot].phase = .running }
        return true
    }

    /// Stores the continuation of a task that waits for the tasks before it, for the end of an interval, or for a permit.
    /// Traps if the task waits for a quiet time, has begun, or has ended.
    ///
    /// - Returns: Whether the continuation was stored, and the task must wait. If not, the task must be resumed at
    ///   once.
    mutating func park(_ id: ID, _ waiter: Waiter) -> Bool {
        switch phase(of: id) {
        case .queued where sides[id.slot]?.mustReplace == true: return false
        case .waiting, .throttled, .queued:
            precondition(sides[id.slot]?.parked == nil, "A task parks once at a time.")
            sides[id.slot, default: Side()].parked = waiter
            return true
        case .starting, .admitted, .leaving, .skipped, .left:
            return false
        case .quiet, .running, .cancelled, nil:
            preconditionFailure("A task parks while it waits for its turn.")
        }
    }

    /// Records that a waiting task was cancelled through its own handle. Wakes no other task, so the task's
    /// cancellation handler may call this function: a waiting task is never the first in its ``Lane``, so no other task
    /// becomes the first, and a task that waits for an interval or a permit stays in its lane until it continues.
    mutating func leave(_ id: ID, _ effects: inout Effects) {
        let phase = phase(of: id)
        if limit != nil, phase == .waiting || phase == .queued { leaveLine(id.slot) }
        if phase?.isBounded == true { waitingCount -= 1 }
        if phase == .waiting {
            unlink(id.slot)
            entries[id.slot].phase = .left
            changeLiveCount(of: id.slot, by: -1, &effects)
        }
        if phase == .throttled {
            givePlaceUp(id.slot)
            entries[id.slot].phase = .leaving
        }
        if phase == .queued { entries[id.slot].phase = .leaving }
        if let phase, phase.waits && phase != .quiet && phase != .leaving || phase == .skipped {
            effects.wake(takeParked(id.slot))
        }
    }

    /// Records that the quiet time of a task has ended, and decides whether its body may run. Cancels the
    /// older tasks of its key. If the rule of the task is `keepLatest`, cancels only those that have not begun, and the
    /// task then waits for the others. Traps if the task has no quiet time, has already begun, or has ended.
    ///
    /// - Parameters:
    ///   - id: The task.
    ///   - isCancelled: Whether the task was cancelled, including through its own handle.
    ///   - effects: Receives the actions for the storage.
    /// - Returns: `run` if the body may run; `wait` if the task must call `begin` again, which lets it wait; otherwise
    ///   `skip`.
    mutating func quietTimeEnded(_ id: ID, isCancelled: Bool, _ effects: inout Effects) -> Start {
        switch phase(of: id) {
        case .quiet where !isCancelled:
            let lane = entries[id.slot].lane
            let keepsRunning = sides[id.slot]?.afterQuietTime == .keepLatest
            // In a pause, the task cancels those that run when it begins.
            cancelLane(lane, before: id.slot, onlyNotBegun: keepsRunning || isPaused, &effects)
            if keepsRunning, lanes[lane].chain.first != id.slot {
                entries[id.slot].phase = .waiting
                waitingCount += 1
                if limit != nil { claim(id.slot) }
            } else {
                start(id.slot, as: .starting, &effects)
            }
            // A cancelled entry may have had a permit, or claimed the interval that a newer entry waits for.
            promote(lane, &effects)
            guard entries[id.slot].phase == .starting else {
                noteArrival(id)
                return .wait
            }
            entries[id.slot].phase = .running
            return .run
        case .quiet: skip(id.slot, &effects)
        case .skipped: break
        case .waiting, .throttled, .queued, .leaving, .starting, .admitted, .running, .cancelled, .left, nil:
            preconditionFailure("Only a task that waits for a quiet time sees its end.")
        }
        return .skip
    }

    /// Cancels the entry of a task that was cancelled through its own handle before its body ran. The body never runs.
    private mutating func skip(_ slot: Slot, _ effects: inout Effects) {
        retire(slot, &effects)
        promote(entries[slot].lane, &effects)
    }

    /// Removes a task that has ended. Has no effect if the task was removed before.
    ///
    /// - Returns: The key of the task, if the machine no longer stores it; otherwise `nil`. The caller must keep the
    ///   key until it has released the lock.
    mutating func finish(_ id: ID, _ effects: inout Effects) -> Key? {
        guard let phase = phase(of: id) else { return nil }
        let lane = entries[id.slot].lane
        if limit != nil { leavePlace(id.slot) }
        // The lane is removed with its only entry.
        if lane != Chain.none, phase.isLinked, lanes[lane].entryCount > 1 || !intervals.isEmpty {
            givePlaceUp(id.slot)
            unlink(id.slot)
            promote(lane, &effects)
        }
        entries.discard(id.slot)
        if limit != nil { passPermitsOn(&effects) }
        if phase.isLive {
            liveCount -= 1
            effects.liveCountChange -= 1
        }
        if !sides.isEmpty, let side = sides.removeValue(forKey: id.slot) {
            sides.shrinkIfMostlyEmpty()
            effects.wake(side.followers)
        }
        if addedSinceCancelAll != nil { tidyAdded() }
        if entries.isEmpty { effects.wake(drainers.wakeAll(with: .reached)) }
        guard lane != Chain.none else { return nil }
        if phase.isLive { lanes[lane].liveCount -= 1 }
        if !laneDrainers.isEmpty { wakeDrainers(of: lane, &effects) }
        return leaveLane(lane)
    }

    // MARK: Bookkeeping

    /// Sets the identity in events of a task that is not identified by its ID in this registry: an `AsyncTask`, or a
    /// task of a queue. Does nothing if the task has finished.
    mutating func setSubject(_ subject: TaskEvent.Identity, of id: ID) {
        if entries.contains(id) { sides[id.slot, default: Side()].subject = subject }
    }

    /// Returns the identity in events that was set for a task; `nil` if none was set, or if the task has finished.
    func subject(of id: ID) -> TaskEvent.Identity? {
        entries.contains(id) ? sides[id.slot]?.subject : nil
    }

    /// Stores the name of a task, for the report of a shutdown. Does nothing if the task has finished.
    mutating func setName(_ name: String, of id: ID) {
        if entries.contains(id) { sides[id.slot, default: Side()].name = name }
    }

    /// Returns the text that names a task in the report of a shutdown: its name, or that of its key.
    func text(of id: ID) -> String {
        let name = entries.contains(id) ? sides[id.slot]?.name : nil
        return name ?? key(of: id)?.text ?? "a task"
    }

    /// Stores the cause of cancellation of a task that is being created: `attach` cancels it later. Does nothing if the
    /// handle of the task is attached, if a cause is already stored, or if the task has finished.
    ///
    /// - Parameter cause: The cause. If it contains a key, that must be the machine's copy: see `key(equalTo:)`.
    mutating func setCause(_ cause: RecordedCause, of id: ID) {
        guard entries.contains(id), entries[id.slot].job == nil, sides[id.slot]?.cause == nil else { return }
        sides[id.slot, default: Side()].cause = cause
    }

    /// Returns the cause of cancellation of a task that was cancelled while it was being created.
    func cause(of id: ID) -> RecordedCause? {
        entries.contains(id) ? sides[id.slot]?.cause : nil
    }

    /// Returns the machine's copy of a key that has tasks or an interval; `nil` for other keys.
    func key(equalTo key: Key) -> Key? { lanes.slot(of: key).map { lanes.key(at: $0) } }

    /// Returns the key of a task; `nil` if the task has no key, or has finished.
    func key(of id: ID) -> Key? {
        guard entries.contains(id), entries[id.slot].lane != Chain.none else { return nil }
        return lanes.key(at: entries[id.slot].lane)
    }

    /// Returns the phase of a task; `nil` if the task has finished.
    @inline(__always)
    func phase(of id: ID) -> Phase? {
        entries.contains(id) ? entries[id.slot].phase : nil
    }

    /// Removes and returns the continuation that `park(_:_:)` has stored for a task; `nil` if there is none.
    mutating func takeParked(_ slot: Slot) -> Waiter? {
        sides.isEmpty ? nil : sides[slot]?.parked.take() ?? nil
    }
}

extension TaskRegistryStateMachine {
    enum Phase: UInt8 {
        /// A task that waited for an interval or a permit, and whose own handle was cancelled. It has been resumed, but has not
        /// called `begin` again.
        case leaving
        case waiting, quiet
        /// A task with the behavior `throttle` that waits for the end of the interval of its key.
        case throttled
        /// A task that may start under its key, and waits for a permit of the registry's ``Limit``.
        case queued
        /// A task that may start, and has not called `begin` yet.
        case starting
        /// A task that may start, and cancels the older tasks of its key when it calls `begin`: one with the behavior
        /// `throttle`, which then also begins an interval, or one with the behavior `debounce` that was `queued`.
        case admitted
        case running, cancelled, skipped
        /// A task that waited for older tasks of its key, and whose own handle was cancelled. It will never run, and
        /// reports its cancellation when it has been resumed.
        case left

        var isLive: Bool { rawValue <= Phase.running.rawValue }
        /// Whether the task waits to start: for older tasks, for a quiet time, for the end of an interval, or for a permit.
        var waits: Bool { rawValue <= Phase.queued.rawValue }
        /// Whether the task waits for older tasks, for the end of an interval, or for a permit: then it counts for the bound.
        var isBounded: Bool { self == .waiting || self == .throttled || self == .queued }
        /// Whether the task has not begun, and was not cancelled.
        var isReplaceable: Bool { rawValue < Phase.running.rawValue && self != .leaving }
        /// Whether the task has a permit, if the registry has a limit.
        var hasPermit: Bool { !waits && isLinked }
        var isLinked: Bool { rawValue <= Phase.cancelled.rawValue }
    }

    /// A registered task. Packed into four words, because a registry may contain a million entries.
    struct Entry: Ticketed, Linked {
        /// The slot of the ``Lane`` of the task's key; `Chain.none` if the task has no key.
        let lane: Slot
        var links = Links()
        /// The place of the task in the line of a registry with a ``Limit``; `Chain.none` if the task has none.
        var place = Chain.none
        var job: Job?
        private let serialLow: UInt32
        private let serialHigh: UInt8
        /// The raw priority to which the tasks before this one in its lane were escalated, for this task or for a newer
        /// one; 0 for none.
        var raisedBefore: UInt8 = 0
        /// The raw priority to which the task was escalated through the registry; 0 for none.
        var raisedTo: UInt8 = 0
        var phase: Phase

        init(serial: UInt64, lane: Slot, job: Job?, phase: Phase) {
            self.lane = lane
            self.job = job
            self.phase = phase
            serialLow = UInt32(truncatingIfNeeded: serial)
            serialHigh = UInt8(truncatingIfNeeded: serial >> 32)
        }

        /// The lowest 40 bits of the serial number.
        var serial: UInt64 { UInt64(serialHigh) << 32 | UInt64(serialLow) }
    }

    /// The properties that only few entries have, stored apart from ``Entry``.
    struct Side {
        /// The continuation of the task, while the task waits for older tasks of its key, for an interval, or for a permit.
        var parked: Waiter?
        /// The waiters for the handle of the task, while the task is being created.
        var followers: [Waiter] = []
        /// The quiet time of a task with the behavior `debounce`, or the length of the interval of a task with the
        /// behavior `throttle`; `nil` for other tasks.
        var time: Duration?
        /// The rule for the running tasks at the end of the quiet time of a task with the behavior `debounce`; `nil` for
        /// other tasks.
        var afterQuietTime: TaskStoreDuplicateKeyBehavior.AfterQuietTime?
        /// The name of the task; `nil` if it has none.
        var name: String?
        /// The identity in events of a task that is not identified by its ID in this registry.
        var subject: TaskEvent.Identity?
        /// The cause of cancellation of a task that was cancelled while it was being created.
        var cause: RecordedCause?

        /// Whether the task must call `begin` before it waits for a permit: to cancel the older tasks of its key, which may have that permit.
        var mustReplace = false
        /// The rank of the task in line.
        var level: Limit.Level = 0
        /// Whether the task was removed because too many tasks waited.
        var isDropped = false
        /// Whether the task is not cancelled together with all others.
        var mustFinish = false
        /// Whether the value of the task is of any type, so that the handle of the task can't be returned or awaited.
        var isForeign = false

        /// Whether the task cancels the older tasks of its key when it begins.
        var cancelsOlder: Bool { time != nil && afterQuietTime != .keepLatest }
    }
}

extension TaskRegistryStateMachine {
    /// The effects of one decision, which the storage (the ``TaskRegistry``) must perform after it has released the
    /// lock. Each function of the machine adds its effects to the value that the caller passes.
    ///
    /// Not copyable, because copying this value would retain its contents, and a value is created for each event of a
    /// task.
    struct Effects: ~Copyable {
        /// The effects on tasks other than the one for which the machine was called. An object, because most decisions
        /// have no such effects: a reference that is `nil` costs almost nothing.
        final class Actions {
            /// The waiters to resume.
            fileprivate(set) var waking: [Waiter] = []
            /// The tasks to cancel; among the tasks of one key, the oldest first.
            fileprivate(set) var cancelling: [Target] = []
            /// The tasks that the decision has recorded as cancelled. They have not finished.
            fileprivate(set) var retired: [ID] = []
            /// The tasks to escalate, and their raw priorities.
            fileprivate(set) var raising: [(target: Target, priority: UInt8)] = []
            /// The timer tasks to cancel. No cause of their cancellation is recorded.
            fileprivate(set) var stopping: [Target] = []
            /// The interval of the behavior `throttle` that has begun, and its length. The storage must create the timer
            /// of the interval; `nil` if no interval has begun.
            fileprivate(set) var interval: (id: IntervalID, time: Duration)?
            /// The cause of the cancellations, which the storage sets.
            var cause = RecordedCause.known(.unknown)
            /// The moment of the decision, and the `retired` tasks with their identities, for their events. Set by the
            /// storage; `nil` if no observer is registered.
            var report: (moment: EventMoment, tasks: [(id: ID, subject: TaskEvent.Identity)])?

            /// Stores the handles of the tasks that a decision has an effect on. Called by the storage.
            ///
            /// - Parameter task: Returns the retained handle of a task.
            func retainTasks(_ task: (Job) -> _TaskHandle) {
                for index in cancelling.indices { cancelling[index].task = task(cancelling[index].job) }
                for index in raising.indices { raising[index].target.task = task(raising[index].target.job) }
                for index in stopping.indices { stopping[index].task = task(stopping[index].job) }
            }
        }

        /// A task that a decision has an effect on.
        struct Target {
            let job: Job
            /// The retained handle of the task, since the task may end as soon as the lock is released. `nil` until the
            /// storage sets it.
            fileprivate(set) var task: _TaskHandle?

            fileprivate init(_ job: Job) { self.job = job }
        }

        /// The effects on other tasks; `nil` if there are none.
        private(set) var actions: Actions?
        /// The change of the number of live tasks: the number of those that were added, minus the number of those that
        /// were cancelled or that finished without having been cancelled.
        var liveCountChange: Int32 = 0
        /// The number of tasks that were added and wait to start, minus the number of tasks that were cancelled while they
        /// waited.
        var waitingCountChange: Int32 = 0
        /// Whether a task that has waited may start or has begun.
        var startsWaitingTask = false
        /// The raw priority to which the task whose handle `attach` has stored must be escalated; 0 for none.
        var raisingTo: UInt8 = 0
        /// Whether the change must be reported to the observers of the owner. Set by the storage.
        var isNews = false

        mutating func wake(_ waiters: [Waiter]) {
            if !waiters.isEmpty { act().waking += waiters }
        }

        mutating func wake(_ waiter: Waiter?) {
            if let waiter { act().waking.append(waiter) }
        }

        /// Adds a task to cancel.
        ///
        /// - Parameter job: The handle of the task; `nil` if the task is being created: `attach` then cancels it.
        mutating func cancel(_ job: Job?) {
            if let job { act().cancelling.append(Target(job)) }
        }

        mutating func raise(_ jobs: [Job], to priority: UInt8) {
            if !jobs.isEmpty { act().raising += jobs.map { (Target($0), priority) } }
        }

        mutating func stop(_ timer: Job?) {
            if let timer { act().stopping.append(Target(timer)) }
        }

        mutating func retire(_ id: ID) {
            act().retired.append(id)
        }

        mutating func begin(_ id: IntervalID, lasting time: Duration) {
            act().interval = (id, time)
        }

        var cancellingCount: Int { actions?.cancelling.count ?? 0 }

        /// Reverses the order of the tasks to cancel that a search from the newest task of a key to its oldest has
        /// added: the oldest task is then cancelled first.
        ///
        /// - Parameter former: The number of tasks to cancel that were added before the search. Their order is kept.
        mutating func reverseCancelling(after former: Int) {
            actions?.cancelling[former...].reverse()
        }

        private mutating func act() -> Actions {
            if let actions { return actions }
            let new = Actions()
            actions = new
            return new
        }
    }
}
