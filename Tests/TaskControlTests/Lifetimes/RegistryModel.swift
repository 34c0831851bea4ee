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

        var isKnownToBeFlagged: Bool { isAttached && isFlagged }
    }

    var tasks: [Task] = []
    /// The tasks that were cancelled while they were live.
    var retired: [Int] = []
    var isClosed = false
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
        if let key = task.key, task.phase == .admitted { intervals[key] = nil }
    }

    /// - Returns: The tasks that are woken, since it is their turn.
    mutating func promoteAll() -> Set<Int> {
        var woken = Set<Int>()
        for (index, task) in tasks.enumerated() where task.phase == .throttled {
            guard let key = task.key, intervals[key] == nil else { continue }
            intervals[key] = .some(nil)
            tasks[index].phase = .admitted
            if task.isParked { woken.insert(task.number) }
            tasks[index].isParked = false
        }
        for key in Set(tasks.compactMap(\.key)) {
            guard var first = linked(key).first, first.phase == .waiting else { continue }
            first.phase = .starting
            if first.isParked { woken.insert(first.number) }
            first.isParked = false
            self[first.number] = first
        }
        return woken
    }

    mutating func raise(_ numbers: [Int], to priority: UInt8) {
        for number in numbers { self[number]?.raisedTo.formMax(priority) }
    }

    /// All that it waits for, and itself, since it has that priority.
    mutating func raise(before number: Int, to priority: UInt8) {
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
                    [.starting, .quiet, .throttled, .leaving, .admitted].contains(first.phase)
                {
                    drop(first.number, &consequences)
                }
            }
            // Nor does one that should have begun an interval.
            while case .throttle = behavior.kind, let claimant = linked(key).first(where: { $0.phase == .admitted }),
                claimant.isKnownToBeFlagged
            {
                drop(claimant.number, &consequences)
            }
            let before = live(key)
            switch behavior.kind {
            case .cancelPrevious: consequences.cancelled += cancel(before.map(\.number))
            case .keepLatest:
                let waiting = before.filter { [.waiting, .quiet, .throttled].contains($0.phase) }
                consequences.cancelled += cancel(waiting.map(\.number))
            case .debounce: consequences.cancelled += cancel(before.filter { $0.phase == .quiet }.map(\.number))
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
        tasks.append(Task(number: number, key: key, phase: phase))
        consequences.woken.formUnion(promoteAll())
        return consequences
    }
}

extension UInt8 {
    fileprivate mutating func formMax(_ other: UInt8) {
        self = Swift.max(self, other)
    }
}
