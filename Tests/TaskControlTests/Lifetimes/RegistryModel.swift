@testable import TaskControl

typealias RegistryMachine = TaskRegistryStateMachine

/// The expected behavior of the registry, in the most naive form: one list, scanned for everything.
///
/// Tasks, their jobs and their waiters have one number.
struct RegistryModel {
    typealias Phase = RegistryMachine.Phase

    struct Task: Hashable {
        let number: Int
        let key: String?
        var phase: Phase
        var isAttached = false
        var isParked = false
        /// Whether it was cancelled through its own handle.
        var isFlagged = false
        /// The highest priority of those that wait for it.
        var raisedTo: UInt8 = 0
        /// The rule after a quiet time of a debounced task.
        var afterQuietTime: TaskStoreDuplicateKeyBehavior.AfterQuietTime?
        /// Whether it claims the interval of its key, which has not begun.
        var claims = false

        /// Whether it cancels those before it when it begins.
        var replaces: Bool { claims || afterQuietTime == .cancelPrevious }
        var hasPermit: Bool { [.starting, .admitted, .running, .cancelled].contains(phase) }
        /// Whether it has not begun, and a newer task may replace it.
        var isToCome: Bool { [.waiting, .quiet, .throttled, .queued, .starting, .admitted].contains(phase) }

        var isKnownToBeFlagged: Bool { isAttached && isFlagged }
    }

    var tasks: [Task] = []
    /// The tasks that were cancelled while they were live.
    var retired: [Int] = []
    var isClosed = false
    /// How many may run at once.
    var limit: Int?
    /// The tasks that have a permit, and then those that wait for one.
    var line: [Int] = []
    /// The highest priority for which those before a task in line were raised, for it or for one behind it.
    var raisedBefore: [Int: UInt8] = [:]
    /// The rank of each task in line that has no permit.
    var levels: [Int: RegistryMachine.Limit.Level] = [:]
    /// The rank of each task.
    var givenLevels: [Int: RegistryMachine.Limit.Level] = [:]
    /// Whether the rank is the priority.
    var isOrdered = false
    var isPaused = false
    var bound: RegistryMachine.Bound?
    /// The tasks that have come to wait.
    var arrivals: [Int] = []
    /// The task of a key that has replaced one with a permit, and has none.
    var successors: [String: Int] = [:]
    /// The interval of a key: the number of the task that has begun it, or `nil` while an admitted task claims it.
    var intervals: [String: Int?] = [:]

    subscript(number: Int) -> Task? {
        get { tasks.first { $0.number == number } }
        set { tasks = tasks.compactMap { $0.number == number ? newValue : $0 } }
    }

    func linked(_ key: String) -> [Task] { tasks.filter { $0.key == key && $0.phase.isLinked } }
    func live(_ key: String) -> [Task] { linked(key).filter(\.phase.isLive) }
    var liveKeys: Set<String> { Set(tasks.filter(\.phase.isLive).compactMap(\.key)) }
    var liveCount: Int { tasks.filter(\.phase.isLive).count }

    /// Whether a key has tasks or an interval.
    func isInUse(_ key: String?) -> Bool {
        tasks.contains { $0.key == key } || key.map { intervals[$0] != nil } ?? false
    }

    /// The key of an interval that has begun.
    func key(of id: RegistryMachine.IntervalID, _ ids: [RegistryMachine.ID]) -> String? {
        intervals.first {
            $0.value.map { RegistryMachine.IntervalID(serial: UInt64($0), slot: id.slot) == id } ?? false
        }?.key
    }

    func standing(for key: String) -> Int? {
        let live = live(key)
        let running = live.last { [.running, .starting, .admitted].contains($0.phase) }
        return (running ?? live.last)?.number
    }

    /// Cancels the tasks that would stand for a key, and were cancelled through their own handles.
    mutating func cancelFlaggedStanding(for key: String) -> Consequences {
        var consequences = Consequences()
        while let number = standing(for: key), self[number]!.isKnownToBeFlagged { drop(number, &consequences) }
        return consequences
    }

    mutating func drop(_ number: Int, _ consequences: inout Consequences) {
        let estate = replace([number])
        consequences.cancelled += estate.jobs
        consequences.woken.formUnion(bequeath(estate, self[number]?.key))
    }

    /// - Returns: The jobs that must be cancelled: those that exist already, in the order of `numbers`.
    mutating func cancel(_ numbers: [Int]) -> [Int] {
        replace(numbers).jobs
    }

    /// The place and the claim that cancelled tasks leave to the one that replaces them.
    struct Estate {
        var jobs: [Int] = []
        /// The first place in line of those that have not begun.
        var place: Int?
        var hasPermit = false
        var raisedBefore: UInt8 = 0
        var level: RegistryMachine.Limit.Level = 0
        /// Whether one of them had a permit, or should have received that of one that it has replaced.
        var claims = false
    }

    mutating func replace(_ numbers: [Int]) -> Estate {
        var estate = Estate()
        for number in numbers {
            guard var task = self[number], task.phase.isLive else { continue }
            giveIntervalUp(task)
            let isSuccessor = successors.values.contains(number)
            if limit != nil, task.hasPermit || isSuccessor { estate.claims = true }
            successors = successors.filter { $0.value != number }
            if task.phase != .running { leavePlace(task, to: &estate) }
            task.claims = false
            task.phase = task.phase == .running ? .cancelled : .skipped
            self[number] = task
            retired.append(number)
            if task.isAttached { estate.jobs.append(number) }
        }
        tidyLine()
        return estate
    }

    private func leavePlace(_ task: Task, to estate: inout Estate) {
        guard let place = line.firstIndex(of: task.number), place <= estate.place ?? place else { return }
        // A pause takes the permit back.
        if isPaused, task.hasPermit { return }
        estate.level = levels[task.number, default: 0]
        (estate.place, estate.hasPermit) = (place, task.hasPermit)
        estate.raisedBefore = raisedBefore[task.number, default: 0]
    }

    /// A task has ended.
    mutating func finish(_ number: Int) -> Set<Int> {
        guard let task = self[number] else { return [] }
        var estate = Estate()
        giveIntervalUp(task)
        leavePlace(task, to: &estate)
        self[number] = nil
        tidyLine()
        return bequeath(estate, task.key)
    }

    /// Removes those from the line that have ended, or will not begin.
    mutating func tidyLine() {
        line = line.filter { self[$0].map { $0.hasPermit || $0.phase == .queued } ?? false }
        raisedBefore = raisedBefore.filter { [line] in line.contains($0.key) }
        levels = levels.filter { [line] in line.contains($0.key) }
    }

    /// A task that waits is cancelled by its own handler, and reports that when it continues.
    mutating func leave(_ number: Int) {
        let phase = self[number]?.phase
        guard phase == .waiting || phase == .throttled || phase == .queued else { return }
        self[number]?.phase = phase == .waiting ? .left : .leaving
        successors = successors.filter { $0.value != number }
        tidyLine()
    }

    /// A task that does not run continues.
    mutating func skip(_ number: Int) -> Set<Int> {
        var consequences = Consequences()
        if self[number]?.phase == .left {
            self[number]?.phase = .skipped
            retired.append(number)
        } else {
            drop(number, &consequences)
        }
        return consequences.woken
    }

    /// A task that should have begun an interval does not.
    mutating func giveIntervalUp(_ task: Task) {
        if let key = task.key, task.claims { intervals[key] = nil }
    }

    /// - Returns: The tasks that are woken, since it is their turn.
    mutating func promoteAll() -> Set<Int> {
        var woken = passPermitsOn()
        for task in tasks where task.phase == .throttled {
            guard let key = task.key, intervals[key] == nil else { continue }
            intervals[key] = .some(nil)
            self[task.number]?.claims = true
            start(task.number, as: .admitted, &woken)
        }
        for key in Set(tasks.compactMap(\.key)) {
            guard let first = linked(key).first, first.phase == .waiting else { continue }
            start(first.number, as: .starting, &woken)
        }
        return woken
    }

    // MARK: The limit

    var hasPermits: Bool { !isPaused && limit.map { tasks.count(where: \.hasPermit) < $0 } ?? true }

    /// A task may start, or waits for a permit, at the place that those leave which it replaces, or at the end of the line.
    mutating func start(_ number: Int, as phase: Phase, replacing estate: Estate = Estate(), _ woken: inout Set<Int>) {
        let hasPermit = hasPermits
        self[number]?.phase = hasPermit ? phase : .queued
        if hasPermit || self[number]!.replaces && !isPaused {
            if self[number]!.isParked { woken.insert(number) }
            self[number]?.isParked = false
        }
        guard limit != nil else { return }
        takePlace(number, of: estate)
        if !hasPermit { raise(before: number, to: self[number]!.raisedTo) }
    }

    /// - Returns: The one of two places in line that is first is that of the task.
    private mutating func takePlace(_ number: Int, of estate: Estate) {
        let own = line.firstIndex(of: number)
        if let place = estate.place, place <= own ?? place {
            if let own { line.remove(at: own) }
            line.insert(number, at: place)
            raisedBefore[number] = estate.raisedBefore
            levels[number] = estate.level
            if !self[number]!.hasPermit, level(of: number) > estate.level {
                putInLine(number, at: level(of: number))
            }
        } else if own == nil {
            putInLine(number, at: level(of: number))
        }
        raise([number], to: priorityBehind(number))
        claim(number, of: estate)
    }

    /// A task that has replaced one with a permit receives the next permit of its key.
    mutating func claim(_ number: Int, of estate: Estate) {
        guard let key = self[number]!.key else { return }
        if estate.claims { successors[key] = number }
        if self[number]!.hasPermit, successors[key] == number { successors[key] = nil }
    }

    /// A task that waits for a permit replaces the older ones of its key.
    mutating func replaceOlder(_ number: Int) -> Consequences {
        let estate = replace(live(self[number]!.key!).map(\.number).filter { $0 < number })
        if hasPermits { self[number]?.phase = .admitted }
        takePlace(number, of: estate)
        return Consequences(cancelled: estate.jobs, woken: promoteAll())
    }

    /// A task of a key has given up its place in line. If it had a permit, the successor of the key receives it, if it may
    /// start; otherwise the first in line does.
    private mutating func bequeath(_ estate: Estate, _ key: String?) -> Set<Int> {
        var (woken, estate) = (Set<Int>(), estate)
        estate.claims = false
        if estate.hasPermit, let key, let heir = successors[key] {
            let isQueued = self[heir]?.phase == .queued
            if isQueued || self[heir]?.phase == .waiting && linked(key).first?.number == heir {
                start(heir, as: isQueued && self[heir]!.replaces ? .admitted : .starting, replacing: estate, &woken)
            }
        }
        return woken.union(promoteAll())
    }

    /// - Returns: The tasks that are woken, since they have a permit.
    mutating func passPermitsOn() -> Set<Int> {
        var woken = Set<Int>()
        while hasPermits, let first = line.first(where: { self[$0]?.phase == .queued }) {
            let replaces = self[first]!.replaces
            self[first]?.phase = replaces ? .admitted : .starting
            if self[first]!.isParked { woken.insert(first) }
            self[first]?.isParked = false
            successors = successors.filter { $0.value != first }
        }
        return woken
    }

    mutating func raise(_ numbers: [Int], to priority: UInt8) {
        for number in numbers { self[number]?.raisedTo.formMax(priority) }
    }

    /// All that it waits for, and itself, since it has that priority.
    mutating func raise(before number: Int, to priority: UInt8) {
        guard let task = self[number], [.waiting, .throttled, .queued].contains(task.phase) else { return }
        raise([number], to: priority)
        if task.phase == .waiting {
            raise(linked(task.key!).map(\.number).filter { $0 < number }, to: priority)
        }
        if task.phase == .queued {
            let before = line.prefix { $0 != number }
            raise(Array(before), to: priority)
            for place in before + [number] { raisedBefore[place, default: 0].formMax(priority) }
        }
    }

    /// The tasks that an event cancels and wakes.
    struct Consequences {
        var cancelled: [Int] = []
        var woken = Set<Int>()
    }

    mutating func add(
        _ number: Int,
        key: String?,
        behavior: TaskStoreDuplicateKeyBehavior,
        priority: UInt8 = 0
    ) -> Consequences {
        var consequences = Consequences()
        var (phase, estate) = (Phase.starting, Estate())
        if let key {
            if behavior == .wait || behavior == .keepLatest {
                // A task that was cancelled before it began holds up no other.
                while let first = linked(key).first, first.isKnownToBeFlagged,
                    [.starting, .quiet, .throttled, .queued, .leaving, .admitted].contains(first.phase)
                {
                    drop(first.number, &consequences)
                }
            }
            // Nor does one that should have begun an interval.
            while case .throttle = behavior.kind, let claimant = linked(key).first(where: \.claims),
                claimant.isKnownToBeFlagged
            {
                drop(claimant.number, &consequences)
            }
            let before = live(key).filter { task in
                switch behavior.kind {
                case .cancelPrevious: true
                case .keepLatest: task.isToCome
                case .debounce: task.isToCome && task.afterQuietTime != nil
                case .throttle: task.phase == .throttled
                case .wait, .runConcurrently, .preferPrevious: false
                }
            }
            estate = replace(before.map(\.number))
            consequences.cancelled += estate.jobs
            switch behavior.kind {
            case .wait, .keepLatest, .cancelPrevious(wait: true): if !linked(key).isEmpty { phase = .waiting }
            case .debounce: phase = .quiet
            case .throttle: phase = .throttled
            case .cancelPrevious(wait: false), .runConcurrently, .preferPrevious: break
            }
        }
        var task = Task(number: number, key: key, phase: phase)
        if case .debounce(_, let rule) = behavior.kind { task.afterQuietTime = rule }
        // Until it has started, it has no permit.
        if phase == .starting { task.phase = .queued }
        if isOrdered { givenLevels[number] = .init(priority) }
        tasks.append(task)
        if phase == .starting {
            start(number, as: .starting, replacing: estate, &consequences.woken)
        } else {
            claim(number, of: estate)
        }
        consequences.woken.formUnion(promoteAll())
        noteArrival(number)
        return consequences
    }
}

/// The order of the waiting, pauses, and the bound.
extension RegistryModel {
    func level(of number: Int) -> RegistryMachine.Limit.Level { givenLevels[number, default: 0] }

    func priorityBehind(_ number: Int) -> UInt8 {
        line.drop { $0 != number }.dropFirst().map { raisedBefore[$0, default: 0] }.max() ?? 0
    }

    /// The last place of a level, or the first place without a permit.
    mutating func putInLine(_ number: Int, at level: RegistryMachine.Limit.Level, isFirst: Bool = false) {
        line.removeAll { $0 == number }
        (raisedBefore[number], levels[number]) = (nil, level)
        let before = line.lastIndex { other in
            self[other]!.hasPermit || !isFirst && !self[number]!.hasPermit && levels[other]! >= level
        }
        line.insert(number, at: before.map { $0 + 1 } ?? 0)
    }

    private mutating func move(_ number: Int, to level: RegistryMachine.Limit.Level, isFirst: Bool = false) {
        putInLine(number, at: level, isFirst: isFirst)
        raise([number], to: priorityBehind(number))
        raise(before: number, to: self[number]!.raisedTo)
    }

    mutating func moveToFront(_ key: String) -> Bool {
        let waiting = linked(key).filter { [.waiting, .quiet, .throttled, .queued].contains($0.phase) }
        if limit == nil { return !waiting.isEmpty }
        for task in waiting.reversed() {
            givenLevels[task.number] = RegistryMachine.Limit.front
            if task.phase == .queued { move(task.number, to: RegistryMachine.Limit.front, isFirst: true) }
        }
        return !waiting.isEmpty
    }

    mutating func setPriority(_ priority: UInt8, of key: String) -> Bool {
        let live = live(key)
        raise(live.map(\.number), to: priority)
        for task in live where isOrdered && [.waiting, .quiet, .throttled, .queued].contains(task.phase) {
            givenLevels[task.number] = .init(priority)
            if task.phase == .queued { move(task.number, to: .init(priority)) }
        }
        return !live.isEmpty
    }

    mutating func pause() {
        if limit == nil {
            limit = .max
            line = tasks.filter(\.hasPermit).map(\.number)
        }
        isPaused = true
        for number in line.reversed() where [.starting, .admitted].contains(self[number]!.phase) {
            self[number]!.phase = .queued
            move(number, to: RegistryMachine.Limit.front, isFirst: true)
        }
    }

    /// - Returns: The tasks that are woken: they have a permit, or replace others.
    mutating func resume() -> Set<Int> {
        isPaused = false
        var woken = passPermitsOn()
        for number in line where self[number]!.phase == .queued && self[number]!.replaces && self[number]!.isParked {
            woken.insert(number)
            self[number]!.isParked = false
        }
        return woken
    }

    mutating func noteArrival(_ number: Int) {
        if bound?.dropsOldest == true, self[number]!.phase.isBounded { arrivals.append(number) }
    }

    /// - Returns: The task that is removed, and those that are woken.
    mutating func dropOneTooMany(_ newest: Int) -> (dropped: Int, woken: Set<Int>)? {
        guard let bound, self[newest]!.phase.isBounded, tasks.count(where: \.phase.isBounded) > bound.count else {
            return nil
        }
        var dropped = newest
        if bound.dropsOldest, let index = arrivals.firstIndex(where: { self[$0]?.phase.isBounded ?? false }) {
            dropped = arrivals[index]
            arrivals.removeSubrange(...index)
        }
        let isParked = self[dropped]!.isParked
        var consequences = Consequences()
        drop(dropped, &consequences)
        retired.removeAll { $0 == dropped }
        self[dropped]!.isParked = false
        if isParked { consequences.woken.insert(dropped) }
        return (dropped, consequences.woken)
    }
}

extension UInt8 {
    fileprivate mutating func formMax(_ other: UInt8) {
        self = Swift.max(self, other)
    }
}
