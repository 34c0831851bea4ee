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
