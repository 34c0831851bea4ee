/// The choices of a schedule: makes them according to a strategy and a seed, and records them. A value without side
/// effects.
///
/// A question is a point at which a schedule can continue in several ways; its answer is the number of the chosen way. Questions are
/// numbered in the order in which they arise. Answer 0 always stands for the plain schedule: the task that ran last continues, timers fire
/// late, created tasks start later.
struct ScheduleChooser: ~Copyable {
    struct Question {
        /// The number of possible answers.
        let width: Int
        /// Whether every answer except 0 interrupts a task that could continue (a preemption).
        let isPreemption: Bool
    }

    /// The time at which an action of the program (see ``Simulation/atAnyPoint(_:)``) runs, in steps.
    struct Moment {
        /// The number of steps that had begun when the action was registered.
        let since: Int
        /// The step from which on the action is due; `Int.max` if the strategy makes no random choices.
        let due: Int

        /// The number of steps after which the action runs in the plain schedule even if virtual time does not move.
        private static let patience = 200

        func isOverdue(at step: Int) -> Bool { step - since > Self.patience }
    }

    enum Pick {
        case answer(Int)
        /// The ready job with the given number runs next. Jobs are numbered in the order in which they become ready.
        case item(Int)
    }

    /// The recorded answer to one question.
    struct Answer: Hashable {
        let answer: UInt32
        let width: UInt32
        let isPreemption: Bool
        /// For each possible answer, whether it counts as a preemption; `nil` if `isPreemption` decides this for all answers.
        var costs: [Bool]?

        /// Returns the cost of an answer in preemptions: 1 if the answer counts as a preemption, otherwise 0.
        func cost(of answer: UInt32) -> Int {
            (costs?[Int(answer)] ?? (isPreemption && answer > 0)) ? 1 : 0
        }
    }

    private enum Way {
        case inOrder
        case random
        /// In seven of eight cases, the answer is 0 (the plain schedule); otherwise each answer has the same
        /// probability.
        case sticky
        /// The ready job with the highest rank runs.
        case ranked
        /// The answers are those of a recorded schedule (the script), which is replayed.
        case script
    }

    // The ranks and the script are not associated values of `Way`: matching an associated value would copy it.
    private var way: Way
    /// The way from a question on: see ``Simulation/Strategy/guided``.
    private var change: (question: Int, way: Way) = (-1, .script)
    private var ranks = ScheduleRanks()
    private var script = Dictionary<Int, Int>()

    private var generator: SeededGenerator
    /// The recorded answers, with two numbers for each. The first number is twice the answer, plus one if every answer
    /// except 0 is a preemption; the second is the number of possible answers.
    private var records = NumberTape()
    private var recordCount = 0
    /// For each recorded answer, by the number of its question, which of the possible answers count as preemptions (see
    /// ``Answer/costs``). Recorded only for an exhaustive search.
    private var costs = Dictionary<Int, [Bool]>()
    /// The probability, in thousandths, that a timer fires although jobs are ready. Zero unless ``asksForSlowness``.
    private var slowness: UInt64 = 0
    /// The probability, in thousandths, that a created task starts before its creator continues. Zero unless
    /// ``asksForEarlyStarts``.
    private var earliness: UInt64 = 0
    let asksForSlowness: Bool
    let asksForEarlyStarts: Bool
    /// Whether answers are recorded with their costs in preemptions, which an exhaustive search needs.
    let recordsCosts: Bool

    /// Creates a chooser that has made no choice.
    ///
    /// - Parameters:
    ///   - seed: The seed of the random choices.
    ///   - strategy: The method that makes the choices. It must be neither `swarm` nor `guided`, from which each seed draws
    ///     another strategy: pass the strategy that the seed has drawn.
    init(seed: UInt64, strategy: Simulation.Strategy) {
        generator = SeededGenerator(seed: seed)
        asksForSlowness = strategy.hasSlowness
        asksForEarlyStarts = strategy.hasEarlyStarts
        recordsCosts = strategy.isSearch
        switch strategy.kind {
        case .random, .swarm, .guided: way = .random
        case .sticky: way = .sticky
        case .inOrder, .exhaustive: way = .inOrder
        case .partialOrder: way = .ranked
        case .pct(let depth, let steps):
            way = .ranked
            ranks = ScheduleRanks(depth: depth, steps: steps, using: &generator)
        case .schedule(let schedule):
            way = .script
            script = Dictionary(schedule.deviations.map { ($0.question, $0.answer) }) { $1 }
        case .continued(let schedule, let choices, let seed):
            generator = SeededGenerator(seed: seed)
            change = (choices, generator.next() % 2 == 0 ? .random : .sticky)
            way = choices == 0 ? change.way : .script
            script = Dictionary(schedule.deviations.map { ($0.question, $0.answer) }) { $1 }
        }
        if asksForSlowness { slowness = generator.next() % 2 == 0 ? 5 : 50 }
        if asksForEarlyStarts { earliness = generator.next() % 2 == 0 ? 100 : 500 }
    }

    /// All recorded answers.
    ///
    /// - Complexity: O(*n*) in the number of answers.
    var answers: [Answer] {
        var position = 0
        return (0..<recordCount).map { question in
            let answer = records.number(at: &position)
            return Answer(
                answer: UInt32(truncatingIfNeeded: answer / 2),
                width: UInt32(truncatingIfNeeded: records.number(at: &position)),
                isPreemption: answer % 2 == 1,
                costs: costs[question]
            )
        }
    }

    // MARK: Jobs

    mutating func becameReady(_ number: Int, of task: Int?) {
        if way == .ranked { ranks.add(number, of: task, using: &generator) }
    }

    /// Notes that a ready job runs without a choice, for example because no other job is ready.
    ///
    /// - Parameter number: The number of the job, in the order in which jobs become ready.
    mutating func removed(_ number: Int) {
        if way == .ranked { ranks.remove(number) }
    }

    mutating func pick(_ question: Question) -> Pick {
        switch way {
        case .inOrder: .answer(0)
        case .random: .answer(random(question.width))
        case .sticky: .answer(generator.next() % 8 != 0 ? 0 : random(question.width))
        case .script: .answer(min(scripted, question.width - 1))
        case .ranked: .item(ranks.next(starving: nil))
        }
    }

    /// Notes that a ready job runs without a choice, because it has been ready for too long.
    ///
    /// - Parameters:
    ///   - number: The number of the job, in the order in which jobs become ready.
    ///   - task: The number of the task that the job belongs to; `nil` if it belongs to no task.
    mutating func mustRun(_ number: Int, of task: Int?) {
        if way == .ranked { _ = ranks.next(starving: (number, task)) }
    }

    /// Notes that a job is no longer ready, although it has not run.
    ///
    /// - Parameter number: The number of the job, in the order in which jobs become ready.
    mutating func tookBack(_ number: Int) {
        if way == .ranked { ranks.takeBack(number) }
    }

    mutating func record(_ answer: Int, _ question: Question, costs: [Bool]? = nil) {
        if let costs { self.costs[recordCount] = costs }
        records.append(2 &* answer &+ (question.isPreemption ? 1 : 0))
        records.append(question.width)
        recordCount += 1
        if recordCount == change.question { way = change.way }
    }

    /// The answer of the replayed schedule to the next question; 0 if the schedule does not deviate there from the
    /// plain schedule.
    private var scripted: Int { script[recordCount] ?? 0 }

    // MARK: Questions with two answers

    /// Decides whether virtual time moves to the next deadline although jobs are ready. Returns 1 for yes, 0 for no.
    mutating func isSlow() -> Int {
        decide(isPreemption: true) { [slowness] in $0.next() % 1_000 < slowness }
    }

    /// Decides whether the task that is being created runs before its creator continues. Returns 1 for yes, 0 for no.
    mutating func startsEarly() -> Int {
        decide(isPreemption: true) { [earliness] in $0.next() % 1_000 < earliness }
    }

    /// Decides which action of the program (see ``Simulation/atAnyPoint(_:)``) runs now. With a random strategy, this
    /// is the action with the earliest moment if it is due. If virtual time is about to move, this action runs with a
    /// probability of one half even if it is not due.
    ///
    /// In the plain schedule (answer 0), no action runs as long as jobs are ready, for a while, and the first action runs
    /// before virtual time moves: time could move without end.
    ///
    /// - Parameters:
    ///   - moments: The moments of the actions. There must be at least one action.
    ///   - step: The number of steps that have begun.
    ///   - isAboutToMoveTime: Whether virtual time moves next, because no job is ready.
    ///   - mustAct: Whether an action must run, because no job can run.
    ///
    /// - Returns: The index of the action in `moments`; `nil` if no action runs.
    mutating func action(_ moments: [Moment], at step: Int, isAboutToMoveTime: Bool, mustAct: Bool) -> Int? {
        let count = moments.count
        let width = mustAct ? count : count + 1
        if width == 1 { return 0 }
        // The last answer is then that no action runs; otherwise, it is the first.
        let actsPlainly = mustAct || isAboutToMoveTime || moments[0].isOverdue(at: step)
        let answer: Int
        switch way {
        case .inOrder: answer = 0
        case .script: answer = min(max(scripted, 0), width - 1)
        case .random, .sticky, .ranked:
            let next = moments.indices.min { (moments[$0].due, $0) < (moments[$1].due, $1) }!
            let acts = mustAct || moments[next].due <= step || (isAboutToMoveTime && generator.next() % 2 == 0)
            answer = actsPlainly ? (acts ? next : count) : acts ? next + 1 : 0
        }
        // To delay an action past the point at which the plain schedule runs it counts as a preemption: otherwise, an
        // exhaustive search would delay it again and again.
        let costs = recordsCosts && actsPlainly ? (0..<width).map { $0 == count } : nil
        record(answer, Question(width: width, isPreemption: false), costs: costs)
        if actsPlainly { return answer == count ? nil : answer }
        return answer == 0 ? nil : answer - 1
    }

    /// Draws the moment of a new action of the program (see ``Simulation/atAnyPoint(_:)``). Each order of magnitude has
    /// the same probability, because the length of the program is unknown.
    ///
    /// - Parameter steps: The number of steps that have begun. The action is due at this step at the earliest.
    mutating func moment(after steps: Int) -> Moment {
        switch way {
        case .inOrder, .script: return Moment(since: steps, due: .max)
        case .random, .sticky, .ranked:
            let reach = 2 << (generator.next() % 7)
            return Moment(since: steps, due: steps + Int(generator.next() % UInt64(reach)))
        }
    }

    private mutating func decide(isPreemption: Bool, _ draw: (inout SeededGenerator) -> Bool) -> Int {
        let answer: Int
        switch way {
        case .inOrder: answer = 0
        case .script: answer = min(scripted, 1)
        case .random, .sticky, .ranked: answer = draw(&generator) ? 1 : 0
        }
        record(answer, Question(width: 2, isPreemption: isPreemption))
        return answer
    }

    private mutating func random(_ width: Int) -> Int {
        Int(generator.next() % UInt64(width))
    }
}

/// The ready jobs of a schedule in the order of their ranks, the highest first. The strategy
/// ``Simulation/Strategy/pct(depth:steps:)`` (PCT) gives each task a rank; ``Simulation/Strategy/partialOrder`` gives
/// each job a rank. A value without side effects.
struct ScheduleRanks: ~Copyable {
    private struct Entry {
        var rank: UInt64
        let compactNumber: UInt32
        private let compactTask: CompactNumber

        @_transparent init(rank: UInt64, number: Int, task: Int?) {
            self.rank = rank
            compactNumber = UInt32(truncatingIfNeeded: number)
            compactTask = CompactNumber(task)
        }

        var number: Int { @_transparent get { Int(compactNumber) } }
        var task: Int? { @_transparent get { compactTask.value } }
    }

    /// Whether all jobs of a task have the same rank. Otherwise, each job has its own rank.
    private let ranksTasks: Bool
    /// The ranks of the tasks, indexed by the tasks' numbers; zero for tasks without a rank.
    private var ranks = FlatArray<UInt64>()
    /// The steps at which the task that would run next drops to the lowest rank, in no particular order; and the
    /// earliest of these steps that has not been handled yet, `Int.max` if there is none.
    private var changes = FlatArray<Int>()
    private var nextChange = Int.max
    private var steps = 0
    /// The ready jobs as a binary heap: no entry has a higher rank than the entry at (its index − 1) ÷ 2. If the rank of a task changes,
    /// its entry is moved only when it reaches the top.
    private var heap = FlatArray<Entry>()
    /// The rank of the task that was the last to drop to the lowest rank. This rank is lower than the ranks of all
    /// tasks that have dropped before, which are lower than all others.
    private var lowest = UInt64(UInt32.max)
    /// The rank of the task that was the last to be preferred because it had been ready for too long. This rank is
    /// higher than all other ranks.
    private var highest = UInt64.max - UInt64(UInt32.max)

    /// Creates an empty list for ``Simulation/Strategy/partialOrder``: each job has a random rank.
    init() { ranksTasks = false }

    /// Creates an empty list for ``Simulation/Strategy/pct(depth:steps:)``: each task has a random rank, and at
    /// `depth - 1` steps the task that would run next drops to the lowest rank.
    ///
    /// - Parameter steps: The expected number of steps of the schedule. The steps of the drops are drawn from 1 to this
    ///   number. If it is `nil`, they are drawn so that each order of magnitude up to 2¹⁵ has the same probability.
    init(depth: Int, steps: Int?, using generator: inout SeededGenerator) {
        ranksTasks = true
        // A bug needs a few drops. The limit keeps a depth that was computed wrongly from using up the memory.
        while changes.count < min(depth - 1, 1 << 16) { changes.append(Self.change(steps, using: &generator)) }
        nextChange = change(after: 0)
    }

    /// Draws the number of a step at which the task that would run next drops to the lowest rank.
    ///
    /// - Parameter steps: The expected number of steps of the schedule; `nil` if it is unknown.
    private static func change(_ steps: Int?, using generator: inout SeededGenerator) -> Int {
        if let steps { return 1 + Int(generator.next() % UInt64(max(steps, 1))) }
        let magnitude = UInt64(1) << (generator.next() % 15)
        return Int(magnitude + generator.next() % magnitude)
    }

    /// Returns the lowest element of ``changes`` that is greater than the given step: the next step at which a task
    /// drops to the lowest rank. `Int.max` if there is none.
    private func change(after step: Int) -> Int {
        var (first, index) = (Int.max, 0)
        while index < changes.count {
            if changes[index] > step, changes[index] < first { first = changes[index] }
            index += 1
        }
        return first
    }

    /// Adds a ready job, and draws a rank for the job or its task, unless the task already has a rank.
    ///
    /// - Parameters:
    ///   - number: The number of the job.
    ///   - task: The number of the task that the job belongs to; `nil` if it belongs to no task, so that the job gets
    ///     its own rank.
    ///
    /// - Complexity: O(log *n*) in the number of ready jobs.
    mutating func add(_ number: Int, of task: Int?, using generator: inout SeededGenerator) {
        var rank: UInt64 = 0
        if let task { rank = self.rank(of: task) }
        if rank == 0 {
            rank = (generator.next() | 1 << 63) & ~(1 << 62)
            if let task { setRank(rank, of: task) }
        }
        push(Entry(rank: rank, number: number, task: task))
    }

    /// Removes the job that runs next, and returns its number. There must be a job.
    ///
    /// - Parameter starving: The number of a job that must run next because it has been ready for too long, and the
    ///   number of its task (`nil` if the job belongs to no task); `nil` if there is no such job.
    /// - Complexity: O(log *n*) in the number of ready jobs, amortized; O(*n*) if a job is starving.
    mutating func next(starving: (number: Int, task: Int?)?) -> Int {
        steps += 1
        if let starving {
            highest += 1
            if let task = starving.task { setRank(highest, of: task) }
            let index = index(of: starving.number)!
            heap[index].rank = highest
            return remove(at: index).number
        }
        update()
        if isChange, let task = heap[0].task {
            lowest -= 1
            setRank(lowest, of: task)
            update()
        }
        return remove(at: 0).number
    }

    private var isChange: Bool {
        mutating get {
            guard steps >= nextChange else { return false }
            nextChange = change(after: steps)
            return change(after: steps - 1) == steps
        }
    }

    /// Removes the job with the given number, which runs without a choice, for example because no other job is ready.
    ///
    /// - Complexity: O(*n*) in the number of ready jobs; O(1) if there is only one.
    mutating func remove(_ number: Int) {
        steps += 1
        takeBack(number)
    }

    /// Removes the job with the given number, which is no longer ready, although it has not run.
    mutating func takeBack(_ number: Int) {
        if let index = index(of: number) { _ = remove(at: index) }
    }

    private func index(of number: Int) -> Int? {
        let count = heap.count
        guard count > 0 else { return nil }
        // Entries are read through the address of the first one: in a debug build, each access through the array would
        // be a call.
        let entries = heap.address(of: 0)
        let wanted = UInt32(truncatingIfNeeded: number)
        var index = 0
        while index < count {
            if entries[index].compactNumber == wanted { return index }
            index = index &+ 1
        }
        return nil
    }

    // MARK: Ranks

    /// Returns the rank of a task; zero if it has none.
    private func rank(of task: Int) -> UInt64 { task < ranks.count ? ranks[task] : 0 }

    private mutating func setRank(_ rank: UInt64, of task: Int) {
        guard ranksTasks else { return }
        while ranks.count <= task { ranks.append(0) }
        ranks[task] = rank
    }

    // MARK: The heap

    /// Moves the first entry of the heap down if the rank of its task has dropped since the entry was added, until the
    /// first entry has the current rank of its task.
    private mutating func update() {
        while !heap.isEmpty, let task = heap[0].task {
            let rank = rank(of: task)
            if rank == 0 || rank == heap[0].rank { return }
            heap[0].rank = rank
            siftDown(0)
        }
    }

    private mutating func push(_ entry: Entry) {
        heap.append(entry)
        siftUp(heap.count - 1)
    }

    private mutating func remove(at index: Int) -> Entry {
        heap.swapAt(index, heap.count - 1)
        let entry = heap.removeLast()
        if index < heap.count {
            siftDown(index)
            siftUp(index)
        }
        return entry
    }

    private mutating func siftUp(_ index: Int) {
        var index = index
        let entry = heap[index]
        while index > 0, isBefore(entry, heap[(index - 1) / 2]) {
            heap[index] = heap[(index - 1) / 2]
            index = (index - 1) / 2
        }
        heap[index] = entry
    }

    private mutating func siftDown(_ index: Int) {
        var index = index
        let entry = heap[index]
        var child = 2 * index + 1
        while child < heap.count {
            if child + 1 < heap.count, isBefore(heap[child + 1], heap[child]) { child += 1 }
            if !isBefore(heap[child], entry) { break }
            heap[index] = heap[child]
            index = child
            child = 2 * index + 1
        }
        heap[index] = entry
    }

    @_transparent private func isBefore(_ one: Entry, _ other: Entry) -> Bool {
        one.rank != other.rank ? one.rank > other.rank : one.number < other.number
    }
}
