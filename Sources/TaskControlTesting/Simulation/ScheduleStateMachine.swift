/// What can run, what sleeps until when, and which comes next. Pure: it knows no task, thread or clock.
///
///     enqueue ──▶ ready ──next──▶ (out, to be run)
///     enqueue(at:) ──▶ sleeping ──(nothing is ready, and it is the earliest)──▶ ready
///
/// Time moves only when nothing is ready (then to the earliest sleeper, who becomes ready with all others of that
/// moment). Every choice goes into `trace`: equal traces, equal schedules.
struct ScheduleStateMachine<Job> {
    /// Nanoseconds.
    typealias Time = Int64

    struct Item {
        let job: Job
        /// The number of the task that the job is of; `nil`: it is none.
        let task: Int?
        /// Under ``SimulationStrategy/pct(depth:)``: the highest goes first.
        fileprivate(set) var rank: UInt64 = 0
    }

    private struct Sleeper {
        let deadline: Time
        let item: Item
    }

    private(set) var now: Time
    /// How many have been handed out.
    private(set) var steps = 0
    /// A fingerprint of all choices.
    private(set) var trace: UInt64 = 0xCBF2_9CE4_8422_2325
    private var ready: [Item] = []
    /// Latest first.
    private var sleepers: [Sleeper] = []
    private var generator: SeededGenerator
    private var ranks: Ranks?

    init(seed: UInt64, strategy: SimulationStrategy, now: Time) {
        generator = SeededGenerator(seed: seed)
        self.now = now
        if case .pct(let depth) = strategy.kind { ranks = Ranks(depth: depth, using: &generator) }
    }

    var isIdle: Bool { ready.isEmpty && sleepers.isEmpty }

    /// Whether nothing is ready, and somebody sleeps.
    var isAboutToMoveTime: Bool { ready.isEmpty && !sleepers.isEmpty }

    mutating func enqueue(_ job: Job, of task: Int?) {
        ready.append(item(job, of: task))
    }

    /// - Complexity: O(*n*) in the number of sleepers with an earlier deadline.
    mutating func enqueue(_ job: Job, of task: Int?, at deadline: Time) {
        // Before those of the same deadline, which come first since they are nearer to the end.
        var (low, high) = (0, sleepers.count)
        while low < high {
            let middle = (low + high) / 2
            if sleepers[middle].deadline > deadline { low = middle + 1 } else { high = middle }
        }
        sleepers.insert(Sleeper(deadline: deadline, item: item(job, of: task)), at: low)
    }

    private mutating func item(_ job: Job, of task: Int?) -> Item {
        Item(job: job, task: task, rank: ranks?.rank(of: task, using: &generator) ?? 0)
    }

    /// Picks what runs next; `nil` if nothing will, ever.
    mutating func next() -> Item? {
        if ready.isEmpty {
            guard let earliest = sleepers.last else { return nil }
            now = max(now, earliest.deadline)
            while let sleeper = sleepers.last, sleeper.deadline <= now { ready.append(sleepers.removeLast().item) }
        }
        let index = pick()
        note(UInt64(ready.count) << 32 | UInt64(index))
        note(UInt64(bitPattern: now))
        steps += 1
        ready.swapAt(index, ready.count - 1)
        return ready.removeLast()
    }

    private mutating func pick() -> Int {
        guard ranks != nil else { return ready.count == 1 ? 0 : Int(generator.next() % UInt64(ready.count)) }
        let first = highest()
        guard let fallen = ranks!.steps(of: ready[first].task) else { return first }
        for index in ready.indices where ready[index].task == ready[first].task { ready[index].rank = fallen }
        return highest()
    }

    private func highest() -> Int {
        var first = 0
        for index in ready.indices where ready[index].rank > ready[first].rank { first = index }
        return first
    }

    /// Something happened that belongs to the schedule.
    mutating func note(_ value: UInt64) {
        trace = (trace ^ value) &* 0x100_0000_01B3
    }

    mutating func note(_ text: String) {
        for byte in text.utf8 { note(UInt64(byte)) }
    }

    /// A number for the program under test.
    mutating func draw() -> UInt64 {
        generator.next()
    }
}

/// Who goes before whom, under ``SimulationStrategy/pct(depth:)``.
private struct Ranks {
    private var ranks: [Int: UInt64] = [:]
    private var changes: [Int] = []
    private var steps = 0
    /// Whoever falls comes after all that have fallen before, and those after all that have not.
    private var lowest = UInt64(UInt32.max)
    private var last: Int?
    private var inARow = 0

    init(depth: Int, using generator: inout SeededGenerator) {
        let length = 8 << Int(generator.next() % 9)
        changes = (1..<depth).map { _ in 1 + Int(generator.next() % UInt64(length)) }
    }

    /// What is of no task is ranked anew each time.
    mutating func rank(of task: Int?, using generator: inout SeededGenerator) -> UInt64 {
        if let rank = task.flatMap({ ranks[$0] }) { return rank }
        let rank = generator.next() | 1 << 63
        if let task { ranks[task] = rank }
        return rank
    }

    /// The highest is about to run.
    ///
    /// - Returns: Its new rank, if it is time for it to fall.
    mutating func steps(of task: Int?) -> UInt64? {
        steps += 1
        inARow = task == last ? inARow + 1 : 0
        last = task
        guard let task, changes.contains(steps) || inARow >= 100 else { return nil }
        inARow = 0
        lowest -= 1
        ranks[task] = lowest
        return lowest
    }
}
