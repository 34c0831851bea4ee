import TestSupport
import Testing

@testable import TaskControl

/// Plays events to the machine and to the model, as the storage would, and compares all that comes back.
///
/// A value: a search copies it and continues from both copies.
struct RegistryDriver: MachineDriver {
    var machine: RegistryMachine
    var model = RegistryModel()
    private(set) var ids: [RegistryMachine.ID] = []
    private(set) var places: [Place] = []
    private(set) var attached: Set<Int> = []
    /// The tasks that do not call `begin`, and were registered before they were created.
    private(set) var reserved: Set<Int> = []
    /// The tasks whose own flag is set.
    private(set) var flagged: Set<Int> = []
    /// The machine's answers to one event, and to those that follow from it.
    private var retired: [RegistryMachine.ID] = []
    private var liveCountChange: Int32 = 0
    private var startsWaitingTask = false
    /// Whether the observers of the owner are notified.
    private var isNews = false
    /// The tasks that a newer task has replaced before they began.
    private var obsolete: Set<Int> = []
    /// The tasks that waited before the event.
    private var waiting: Set<Int> = []
    var drainers: [Drainer] = []
    var drainerIDs: [RegistryMachine.DrainID] = []
    /// The keys that are drained; `nil` for a drainer of all.
    var drainerKeys: [String?] = []
    var laneDrainerIDs: [Int: RegistryMachine.LaneDrainID] = [:]
    /// The priority that each task's handle has been raised to.
    private var raised: [Int: UInt8] = [:]
    /// How many wait for the handle of each task.
    private(set) var followers: [Int: Int] = [:]
    /// The intervals that have begun, and whether the handle of their timer is attached.
    var timers: [RegistryMachine.IntervalID: Bool] = [:]

    init(limit: Int? = nil, isOrdered: Bool = false, bound: RegistryMachine.Bound? = nil) {
        machine = RegistryMachine(limit: limit, isOrdered: isOrdered, bound: bound)
        model.limit = limit
        model.isOrdered = isOrdered
        model.bound = bound
    }

    /// Same signature, same future.
    var signature: Int {
        var hasher = Hasher()
        hasher.combine(model.tasks)
        hasher.combine(model.isClosed)
        hasher.combine(places)
        hasher.combine(attached)
        hasher.combine(flagged)
        hasher.combine(drainers)
        hasher.combine(drainerKeys)
        hasher.combine(raised)
        hasher.combine(followers)
        hasher.combine(model.intervals)
        hasher.combine(model.line)
        hasher.combine(model.raisedBefore)
        hasher.combine(model.successors)
        hasher.combine(model.levels)
        hasher.combine(model.givenLevels)
        hasher.combine(model.isPaused)
        hasher.combine(model.arrivals)
        hasher.combine(model.tasks.map { machine.entries[ids[$0.number].slot].raisedBefore })
        hasher.combine(Set(timers.filter(\.value).map { model.key(of: $0.key, ids) }))
        return hasher.finalize()
    }

    mutating func play(_ event: Event) {
        (retired, liveCountChange, startsWaitingTask, isNews, model.retired) = ([], 0, false, false, [])
        let before = observed
        waiting = Set(model.tasks.filter(\.phase.waits).map(\.number))
        let liveCount = machine.liveCount
        var effects = RegistryMachine.Effects()
        switch event {
        case .add(let key, let behavior): add(key, behavior)
        case .reserve: reserve()
        case .insert(let key): insert(key)
        case .attach(let number):
            machine.attach(ids[number], job: Word(number), &effects)
            note(effects)
            let isCancelled = model[number].map { !$0.phase.isLive && !$0.isAttached } ?? false
            #expect(effects.raisingTo == model[number]?.raisedTo ?? 0)
            #expect(effects.waking == takeFollowers(number))
            raised[number] = max(raised[number, default: 0], effects.raisingTo)
            model[number]?.isAttached = true
            attached.insert(number)
            cancelled(effects, isCancelled ? [number] : [])
        case .begin(let number, let isCancelled): begin(number, isCancelled)
        case .park(let number): park(number)
        case .cancelHandle(let number): wake(flag(number))
        case .attachTimer(let key): attachTimer(key)
        case .intervalEnded(let key): intervalEnded(key)
        case .quietTimeEnded(let number, let isCancelled): quietTimeEnded(number, isCancelled)
        case .finish(let number): finish(number)
        case .cancelKey(let key):
            machine.cancel(key: _ErasedKey(key), &effects)
            note(effects)
            let jobs = model.cancel(model.live(key).map(\.number))
            #expect(Set(effects.waking) == model.promoteAll())
            wake(effects.waking)
            cancelled(effects, jobs)
        case .cancelOne(let number):
            machine.cancel(ids[number], &effects)
            note(effects)
            var expected = RegistryModel.Consequences()
            model.drop(number, &expected)
            carryOut(effects, expected)
        case .cancelKeys(let keys):
            machine.cancel(keys: keys.map { _ErasedKey($0) }, &effects)
            note(effects)
            let jobs = keys.flatMap { model.cancel(model.live($0).map(\.number)) }
            #expect(Set(effects.waking) == model.promoteAll())
            wake(effects.waking)
            cancelled(effects, jobs)
        case .cancelAll:
            machine.cancelAll(&effects)
            note(effects)
            #expect(effects.waking == [])
            // In the order of the table, which reuses slots.
            let timerCount = model.isClosed ? timers.values.count { $0 } : 0
            cancelled(effects, model.cancel(model.tasks.map(\.number)), isOrdered: false, timers: timerCount)
        case .cancelNotBegun:
            machine.cancelNotBegun(&effects)
            note(effects)
            #expect(effects.waking == [])
            let notBegun = model.tasks.filter { $0.phase.isLive && $0.phase != .running }
            cancelled(effects, model.cancel(notBegun.map(\.number)), isOrdered: false)
        case .beginReserved(let number):
            #expect(machine.beginReserved(ids[number]) == model[number]!.phase.isLive)
            if model[number]!.phase == .starting { model[number]!.phase = .running }
        case .close:
            machine.close()
            model.isClosed = true
        case .enrollDrainer(let key): enrollDrainer(key)
        case .parkDrainer(let number):
            #expect(machine.parkDrainer(drainerIDs[number], Word(1_000 + number)) == nil)
            drainers[number] = .parked
        case .drainerLeaves(let number): drainerLeaves(number)
        case .follow(let number): follow(number)
        case .raise(let number, let priority):
            model.raise(before: number, to: priority)
            let jobs = machine.raise(before: ids[number], to: priority).map(\.number)
            #expect(!jobs.contains(number))
            raise(jobs, to: priority)
            if let task = model[number] { raised[number] = max(raised[number, default: 0], task.raisedTo) }
        case .raiseAll(nil, let priority):
            model.raise(model.tasks.map(\.number), to: priority)
            raise(machine.raiseAll(to: priority).map(\.number), to: priority)
        case .raiseAll(let key?, let priority):
            model.raise(model.linked(key).map(\.number), to: priority)
            // As a caller does that waits for the end of the tasks of the key.
            guard let drainer = machine.enrollDrainer(of: _ErasedKey(key)) else { break }
            raise(machine.raiseAll(for: drainer, to: priority).map(\.number), to: priority)
            #expect(machine.drainerLeaves(drainer) == nil)
            #expect(machine.parkDrainer(drainer.id, 0) == .left)
        case .pause:
            let hasPaused = machine.pause(&effects)
            #expect(hasPaused)
            note(effects)
            model.pause()
            #expect(effects.waking == [])
            var again = RegistryMachine.Effects()
            let pausesAgain = machine.pause(&again)
            #expect(!pausesAgain)
        case .resume:
            let hasResumed = machine.endPause(&effects)
            #expect(hasResumed)
            note(effects)
            #expect(Set(effects.waking) == model.resume())
            wake(effects.waking)
            var again = RegistryMachine.Effects()
            let resumesAgain = machine.endPause(&again)
            #expect(!resumesAgain)
        case .moveToFront(let key):
            let waits = machine.moveToFront(_ErasedKey(key), &effects)
            #expect(waits == model.moveToFront(key))
            note(effects)
        case .setPriority(let priority, let key):
            let isLive = machine.setPriority(priority, of: _ErasedKey(key), &effects)
            #expect(isLive == model.setPriority(priority, of: key))
            note(effects)
        }
        #expect(machine.liveCount == liveCount + Int(liveCountChange))
        #expect(isNews || observed == before, "observers see each change")
        check()
    }

    /// The state of the keys that an owner shows.
    private var observed: [[Bool]] {
        ["a", "b", "c"].map { _ErasedKey($0) }.map {
            [machine.isLive($0), machine.isRunning($0), machine.isWaiting($0)]
        }
    }

    mutating func note(_ effects: borrowing RegistryMachine.Effects) {
        retired += effects.actions?.retired ?? []
        liveCountChange += effects.liveCountChange
        startsWaitingTask = startsWaitingTask || effects.startsWaitingTask
        isNews = isNews || effects.liveCountChange != 0 || effects.waitingCountChange != 0 || effects.startsWaitingTask
        for (target, priority) in effects.actions?.raising ?? [] { raise([target.job.number], to: priority) }
    }

    private func check() {
        machine.checkInvariants()
        #expect(machine.liveCount == model.liveCount)
        #expect(Set(machine.liveKeys.map(\.string)) == model.liveKeys)
        #expect(Set(retired) == Set(model.retired.map { ids[$0] }) && retired.count == model.retired.count)
        for key in ["a", "b"] { #expect(machine.isLive(_ErasedKey(key)) == model.liveKeys.contains(key)) }
        for (number, id) in ids.enumerated() {
            #expect(machine.phase(of: id) == model[number]?.phase)
        }
        let line = machine.limit.map { limit in
            limit.line.slots(in: limit.places).map { place in ids.lastIndex { $0.slot == limit.places[place].entry } }
        }
        #expect((line ?? []) == model.line)
        // Observers see that a task no longer waits, also where the number of tasks stays the same.
        let hasStarted = model.tasks.contains { waiting.contains($0.number) && $0.phase.isLive && !$0.phase.waits }
        #expect(startsWaitingTask || !hasStarted)
        // A task that another waits for has been raised, if it has a handle.
        for task in model.tasks where task.isAttached { #expect(raised[task.number, default: 0] >= task.raisedTo) }
    }

    // MARK: Events

    private mutating func add(_ key: String?, _ behavior: TaskStoreDuplicateKeyBehavior) {
        var effects = RegistryMachine.Effects()
        let number = ids.count
        let priority: UInt8 = model.isOrdered ? [2, 1, 3][number % 3] : 0
        let registration = machine.add(
            key: key.map { _ErasedKey($0) },
            behavior: behavior,
            priority: priority,
            isCancelled: { [flagged] in flagged.contains($0.number) },
            &effects
        )
        note(effects)
        var expected = RegistryModel.Consequences()
        if let key, behavior == .preferPrevious, !model.isClosed { expected = model.cancelFlaggedStanding(for: key) }
        if check(registration, isDuplicate: behavior == .preferPrevious, key) {
            noteObsolete(key, behavior)
            let more = model.add(number, key: key, behavior: behavior, priority: priority)
            expected.cancelled += more.cancelled
            expected.woken.formUnion(more.woken)
            places.append(.unstarted)
        }
        carryOut(effects, expected)
        if ids.count > number { dropOneTooMany(number) }
    }

    /// As the storage does after a task was added, or has begun to wait.
    private mutating func dropOneTooMany(_ newest: Int) {
        var effects = RegistryMachine.Effects()
        let dropped = machine.dropOneTooMany(ids[newest], &effects)
        note(effects)
        let expected = model.dropOneTooMany(newest)
        #expect(dropped == expected.map { ids[$0.dropped] })
        #expect(Set(effects.waking) == expected?.woken ?? [])
        if let dropped { #expect(machine.isDropped(dropped)) }
        wake(effects.waking)
        cancelled(effects, [])
    }

    /// A task that has not begun does not begin after a newer call that replaces it.
    private mutating func noteObsolete(_ key: String?, _ behavior: TaskStoreDuplicateKeyBehavior) {
        for task in model.tasks where task.key == key && places[task.number] != .running {
            switch behavior.kind {
            case .keepLatest, .cancelPrevious: obsolete.insert(task.number)
            case .debounce: if task.afterQuietTime != nil { obsolete.insert(task.number) }
            case .wait, .runConcurrently, .preferPrevious, .throttle: break
            }
        }
    }

    private mutating func reserve() {
        var effects = RegistryMachine.Effects()
        let registration = machine.insert(nil, &effects)
        note(effects)
        if check(registration, isDuplicate: false, nil) {
            model.tasks.append(.init(number: ids.count - 1, key: nil, phase: .starting))
            reserved.insert(ids.count - 1)
            places.append(.running)
        }
        carryOut(effects, RegistryModel.Consequences())
    }

    private mutating func insert(_ key: String?) {
        let number = ids.count
        var effects = RegistryMachine.Effects()
        let registration = machine.insert(
            Word(number),
            key: key.map { _ErasedKey($0) },
            isCancelled: { [flagged] in flagged.contains($0.number) },
            &effects
        )
        note(effects)
        var expected = RegistryModel.Consequences()
        if let key, !model.isClosed { expected = model.cancelFlaggedStanding(for: key) }
        if check(registration, isDuplicate: true, key) {
            model.tasks.append(.init(number: number, key: key, phase: .running, isAttached: true))
            attached.insert(number)
            places.append(.running)
        }
        carryOut(effects, expected)
    }

    /// - Returns: Whether a task was registered, which has an ID from now on.
    private mutating func check(
        _ registration: RegistryMachine.Registration,
        isDuplicate: Bool,
        _ key: String?
    ) -> Bool {
        let standing = isDuplicate ? key.flatMap(model.standing(for:)) : nil
        switch registration {
        case .added(let id):
            #expect(!model.isClosed && standing == nil)
            ids.append(id)
            return true
        case .existing(let id, let job):
            #expect(!model.isClosed && id == standing.map { ids[$0] })
            #expect(job?.number == standing.flatMap { model[$0]?.isAttached == true ? $0 : nil })
        case .refused:
            #expect(model.isClosed)
        }
        return false
    }

    mutating func carryOut(_ effects: borrowing RegistryMachine.Effects, _ expected: RegistryModel.Consequences) {
        #expect(Set(effects.waking) == expected.woken)
        wake(effects.waking)
        cancelled(effects, expected.cancelled)
    }

    private mutating func follow(_ number: Int) {
        let isParked = machine.follow(ids[number], Word(Self.follower(of: number)))
        #expect(isParked == (model[number]?.isAttached == false))
        if isParked { followers[number, default: 0] += 1 }
        #expect(machine.job(of: ids[number])?.number == (model[number]?.isAttached == true ? number : nil))
    }

    private static func follower(of number: Int) -> Int { 2_000 + number }

    private mutating func takeFollowers(_ number: Int) -> [Int] {
        Array(repeating: Self.follower(of: number), count: followers.removeValue(forKey: number) ?? 0)
    }

    /// No task is raised twice to the same priority, or to less.
    private mutating func raise(_ jobs: [Int], to priority: UInt8) {
        for job in jobs {
            #expect(raised[job, default: 0] < priority)
            raised[job] = priority
        }
    }

    private mutating func begin(_ number: Int, _ isCancelled: Bool) {
        if isCancelled { flag(number) }
        attachItself(number)
        let phase = model[number]?.phase
        var effects = RegistryMachine.Effects()
        let start = machine.begin(ids[number], isCancelled: isCancelled, &effects)
        note(effects)
        let hasActions = effects.actions != nil
        let replaces = phase == .queued && model[number]!.replaces && !model.isPaused
        #expect(start == .skip || phase == .admitted || replaces || !hasActions)
        var expected = RegistryModel.Consequences()
        if replaces, !isCancelled { expected = model.replaceOlder(number) }
        switch start {
        case .run:
            #expect(!obsolete.contains(number))
            let isAdmitted = model[number]?.phase == .admitted
            #expect((phase == .starting || isAdmitted) && !isCancelled)
            model[number]?.phase = .running
            places[number] = .running
            if isAdmitted { beginAdmitted(number, effects, expected) }
        case .wait:
            #expect((phase == .waiting || model[number]?.phase == .queued) && !isCancelled)
            places[number] = .aboutToPark
            carryOut(effects, expected)
        case .throttle(let interval):
            #expect(phase == .throttled && !isCancelled && interval == .seconds(2))
            places[number] = .aboutToPark
        case .quiet(let quietTime):
            #expect(phase == .quiet && !isCancelled && quietTime == .seconds(1))
            places[number] = .sleeping
        case .skip:
            #expect(phase == .skipped || phase == .left || phase == .leaving || isCancelled)
            skipped(number, effects.waking)
        }
    }

    /// A task that begins before its creator has attached its handle attaches the handle itself.
    private mutating func attachItself(_ number: Int) {
        let isNeeded = model[number].map { !$0.isAttached && $0.phase.isLive } ?? false
        let needsJob = machine.needsJob(ids[number])
        #expect(needsJob == isNeeded)
        guard isNeeded else { return }
        var effects = RegistryMachine.Effects()
        machine.attach(ids[number], job: Word(number), &effects)
        #expect(effects.waking == takeFollowers(number))
        raised[number] = effects.raisingTo
        model[number]?.isAttached = true
        cancelled(effects, [])
    }

    private mutating func park(_ number: Int) {
        // A task that can free the permit that it would wait for does so first.
        let mustReplace = machine.sides[ids[number].slot]?.mustReplace == true
        if machine.park(ids[number], Word(number)) {
            #expect(!mustReplace)
            #expect(model[number].map { [.waiting, .throttled, .queued].contains($0.phase) } == true)
            model[number]?.isParked = true
            places[number] = .parked
        } else {
            #expect(mustReplace || model[number].map { [.waiting, .throttled, .queued].contains($0.phase) } != true)
            places[number] = .unstarted
        }
    }

    private mutating func quietTimeEnded(_ number: Int, _ isCancelled: Bool) {
        let phase = model[number]?.phase
        if isCancelled { flag(number) }
        var effects = RegistryMachine.Effects()
        let start = machine.quietTimeEnded(ids[number], isCancelled: isCancelled, &effects)
        note(effects)
        switch start {
        case .run, .wait:
            #expect(phase == .quiet && !isCancelled)
            #expect(!obsolete.contains(number))
            let jobs = endQuietTime(number)
            #expect((start == .run) == (places[number] == .running))
            #expect(Set(effects.waking) == model.promoteAll())
            wake(effects.waking)
            cancelled(effects, jobs)
            if start == .wait { dropOneTooMany(number) }
        case .skip:
            #expect(phase == .skipped || isCancelled)
            skipped(number, effects.waking)
        case .quiet, .throttle: #expect(Bool(false), "a quiet time ends once")
        }
    }

    /// - Returns: The jobs that must be cancelled.
    private mutating func endQuietTime(_ number: Int) -> [Int] {
        let older = model.linked(model[number]!.key!).prefix { $0.number != number }
        let keepsRunning = model[number]?.afterQuietTime == .keepLatest
        let replaced = older.filter { !keepsRunning && !model.isPaused || $0.isToCome }
        let estate = model.replace(replaced.map(\.number))
        var woken = Set<Int>()
        if !keepsRunning || model.linked(model[number]!.key!).first?.number == number {
            model.start(number, as: .running, replacing: estate, &woken)
        } else {
            model[number]?.phase = .waiting
            model.claim(number, of: estate)
        }
        places[number] = model[number]?.phase == .running ? .running : .unstarted
        model.noteArrival(number)
        return estate.jobs
    }

    private mutating func skipped(_ number: Int, _ waking: [Int]) {
        #expect(Set(waking) == model.skip(number))
        wake(waking)
        finish(number)
    }

    private mutating func finish(_ number: Int) {
        places[number] = .done
        var effects = RegistryMachine.Effects()
        let released = machine.finish(ids[number], &effects)
        note(effects)
        let key = model[number]?.key
        var woken = model.finish(number)
        #expect(released?.string == (model.isInUse(key) ? nil : key))
        if model.tasks.isEmpty {
            woken.formUnion(drained { $0 == nil })
        }
        if let key, !model.tasks.contains(where: { $0.key == key }) { woken.formUnion(drained { $0 == key }) }
        let following = takeFollowers(number)
        #expect(effects.waking.filter { $0 >= 2_000 } == following)
        #expect(Set(effects.waking) == woken.union(following))
        wake(effects.waking.filter { $0 < 1_000 })
        cancelled(effects, [])
        // A late report finds nothing.
        var late = RegistryMachine.Effects()
        let releasedLate = machine.finish(ids[number], &late)
        let isEmpty = late.isEmpty
        #expect(isEmpty && releasedLate == nil)
    }

    // MARK: Effects, as the storage has them

    /// A task that is woken begins again.
    mutating func wake(_ waiters: [Int]) {
        for number in waiters {
            #expect(places[number] == .parked)
            places[number] = .unstarted
        }
    }

    mutating func cancelled(
        _ effects: borrowing RegistryMachine.Effects,
        _ expected: [Int],
        isOrdered: Bool = true,
        timers: Int = 0
    ) {
        let all = effects.cancelling + (effects.actions?.stopping ?? []).map(\.job.number)
        let jobs = all.filter { $0 < Self.timer }
        #expect(all.count - jobs.count == timers)
        #expect((isOrdered ? jobs : jobs.sorted()) == expected, "the oldest task is cancelled first")
        for job in jobs { wake(flag(job)) }
    }

    /// The job is cancelled: a task that is parked, or about to be, learns of it in its handler.
    @discardableResult
    private mutating func flag(_ number: Int) -> [Int] {
        flagged.insert(number)
        model[number]?.isFlagged = true
        return places[number].isWaiting ? left(number) : []
    }

    private mutating func left(_ number: Int) -> [Int] {
        let wasParked = places[number] == .parked
        var effects = RegistryMachine.Effects()
        machine.leave(ids[number], &effects)
        note(effects)
        let woken = effects.waking
        var expected = Set<Int>()
        model.leave(number)
        if wasParked {
            expected.insert(number)
            model[number]?.isParked = false
        }
        expected.formUnion(model.promoteAll())
        #expect(Set(woken) == expected)
        return woken
    }
}

/// In these tests, a key is a string.
extension _ErasedKey {
    var string: String { unwrapped(as: String.self) }
}

extension RegistryMachine.Effects {
    var waking: [Int] { (actions?.waking ?? []).map(\.number) }

    var cancelling: [Int] { (actions?.cancelling ?? []).map(\.job.number) }

    var isEmpty: Bool {
        actions == nil && liveCountChange == 0 && raisingTo == 0
    }
}
