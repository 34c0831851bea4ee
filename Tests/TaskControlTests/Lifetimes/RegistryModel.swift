@testable import TaskControl

typealias RegistryMachine = TaskRegistryStateMachine<String, Int, Int>

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
        /// Whether it waits for something other than its own end.
        var isToCome: Bool { [.waiting, .quiet, .throttled, .queued].contains(phase) }

        var isKnownToBeFlagged: Bool { isAttached && isFlagged }
    }

    var tasks: [Task] = []
    /// The tasks that were cancelled while they were live.
    var retired: [Int] = []
    var isClosed = false
    /// How many may run at once.
    var limit: Int?
    /// The tasks that wait for a permit.
    var line: [Int] = []
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

    private mutating func drop(_ number: Int, _ consequences: inout Consequences) {
        consequences.cancelled += cancel([number])
        consequences.woken.formUnion(promoteAll())
    }

    /// - Returns: The jobs that must be cancelled: those that exist already, in the order of `numbers`.
    mutating func cancel(_ numbers: [Int]) -> [Int] {
        var jobs: [Int] = []
        for number in numbers {
            guard var task = self[number], task.phase.isLive else { continue }
            giveIntervalUp(task)
            line.removeAll { $0 == number }
            task.claims = false
            task.phase = task.phase == .running ? .cancelled : .skipped
            self[number] = task
            retired.append(number)
            if task.isAttached { jobs.append(number) }
        }
        return jobs
    }

    /// A task that waits is cancelled by its own handler, and reports that when it continues.
    mutating func leave(_ number: Int) {
        switch self[number]?.phase {
        case .waiting: self[number]?.phase = .left
        case .throttled: self[number]?.phase = .leaving
        case .queued:
            self[number]?.phase = .leaving
            line.removeAll { $0 == number }
        default: break
        }
    }

    /// A task that does not run continues.
    mutating func skip(_ number: Int) {
        guard self[number]?.phase == .left else { return _ = cancel([number]) }
        self[number]?.phase = .skipped
        retired.append(number)
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

    var hasPermits: Bool { limit.map { tasks.count(where: \.hasPermit) < $0 } ?? true }

    /// A task may start, or waits for a permit.
    mutating func start(_ number: Int, as phase: Phase, _ woken: inout Set<Int>) {
        guard hasPermits else {
            self[number]?.phase = .queued
            return line.append(number)
        }
        self[number]?.phase = phase
        if self[number]!.isParked { woken.insert(number) }
        self[number]?.isParked = false
    }

    /// - Returns: The tasks that are woken, since they have a permit.
    mutating func passPermitsOn() -> Set<Int> {
        var woken = Set<Int>()
        while hasPermits, !line.isEmpty {
            let first = line.removeFirst()
            start(first, as: self[first]!.replaces ? .admitted : .starting, &woken)
        }
        return woken
    }

    mutating func raise(_ numbers: [Int], to priority: UInt8) {
        for number in numbers { self[number]?.raisedTo.formMax(priority) }
    }

    /// All that it waits for, and itself, since it has that priority.
    mutating func raise(before number: Int, to priority: UInt8) {
        if self[number]?.phase == .queued {
            return raise(line.prefix { $0 != number } + tasks.filter(\.hasPermit).map(\.number), to: priority)
        }
        guard let task = self[number], task.phase == .waiting else { return }
        raise(linked(task.key!).map(\.number).filter { $0 <= number }, to: priority)
    }

    /// The tasks that an event cancels and wakes.
    struct Consequences {
        var cancelled: [Int] = []
        var woken = Set<Int>()
    }

    mutating func add(_ number: Int, key: String?, behavior: TaskStoreDuplicateKeyBehavior) -> Consequences {
        var consequences = Consequences()
        var phase = Phase.starting
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
            let before = live(key)
            switch behavior.kind {
            case .cancelPrevious: consequences.cancelled += cancel(before.map(\.number))
            case .keepLatest:
                consequences.cancelled += cancel(before.filter(\.isToCome).map(\.number))
            case .debounce:
                let debounced = before.filter { $0.isToCome && $0.afterQuietTime != nil }
                consequences.cancelled += cancel(debounced.map(\.number))
            case .throttle: consequences.cancelled += cancel(before.filter { $0.phase == .throttled }.map(\.number))
            case .wait, .runConcurrently, .preferPrevious: break
            }
            switch behavior.kind {
            case .wait, .keepLatest, .cancelPrevious(wait: true): if !linked(key).isEmpty { phase = .waiting }
            case .debounce: phase = .quiet
            case .throttle: phase = .throttled
            case .cancelPrevious(wait: false), .runConcurrently, .preferPrevious: break
            }
        }
        consequences.woken.formUnion(passPermitsOn())
        var task = Task(number: number, key: key, phase: phase)
        if case .debounce(_, let rule) = behavior.kind { task.afterQuietTime = rule }
        // Until it has started, it has no permit.
        if phase == .starting { task.phase = .queued }
        tasks.append(task)
        if phase == .starting { start(number, as: .starting, &consequences.woken) }
        consequences.woken.formUnion(promoteAll())
        return consequences
    }
}

extension UInt8 {
    fileprivate mutating func formMax(_ other: UInt8) {
        self = Swift.max(self, other)
    }
}
