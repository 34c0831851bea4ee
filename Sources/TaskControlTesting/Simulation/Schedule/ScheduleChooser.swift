/// Makes the choices of a schedule according to a strategy and a seed, and records them. A value without effects.
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

    enum Pick {
        case answer(Int)
        /// The item with the given number.
        case item(Int)
    }

    /// The recorded answer to one question.
    struct Answer: Hashable {
        let answer: UInt32
        let width: UInt32
        let isPreemption: Bool
        /// For each possible answer, whether it counts as a preemption; `nil` if `isPreemption` decides this for all answers.
        var costs: [Bool]?

        /// Returns the number of preemptions as which an answer counts: 0 or 1.
        func cost(of answer: UInt32) -> Int {
            (costs?[Int(answer)] ?? (isPreemption && answer > 0)) ? 1 : 0
        }
    }

    private enum Way {
        case inOrder
        case random
        /// Continue the task that ran last in seven of eight cases.
        case sticky
        /// Run the job with the highest rank.
        case ranked
        /// Run the job that the script names: the recorded schedule to replay.
        case script
    }

    // The ranks and the script are no payloads of the way: to look at a payload copies it.
    private let way: Way
    private var ranks = ScheduleRanks()
    private var script = Dictionary<Int, Int>()

    private var generator: SeededGenerator
    /// The recorded answers, two numbers for each. The first is twice the answer, plus one if the question is a preemption; the second is
    /// the number of possible answers.
    private var records = NumberTape()
    private var recordCount = 0
    /// The recorded `costs` of questions, which an exhaustive search needs.
    private var costs = Dictionary<Int, [Bool]>()
    /// The probability, in thousandths, that a timer fires although jobs are ready.
    private var slowness: UInt64 = 0
    /// The probability, in thousandths, that a created task starts before its creator continues.
    private var earliness: UInt64 = 0
    let asksForSlowness: Bool
    let asksForEarlyStarts: Bool
    /// Whether answers are recorded with their costs, which an exhaustive search needs.
    let recordsCosts: Bool

    /// Creates a chooser that has made no choice.
    ///
    /// - Parameter strategy: The strategy of the seed. It must not be `swarm`, from which each seed draws another strategy.
    init(seed: UInt64, strategy: SimulationStrategy) {
        generator = SeededGenerator(seed: seed)
        asksForSlowness = strategy.hasSlowness
        asksForEarlyStarts = strategy.hasEarlyStarts
        recordsCosts = strategy.isSearch
        switch strategy.kind {
        case .random, .swarm: way = .random
        case .sticky: way = .sticky
        case .inOrder, .exhaustive: way = .inOrder
        case .partialOrder: way = .ranked
        case .pct(let depth, let steps):
            way = .ranked
            ranks = ScheduleRanks(depth: depth, steps: steps, using: &generator)
        case .schedule(let schedule):
            way = .script
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

    /// Notes that an item runs without a question, for example because it is the only one that can run.
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

    /// Notes that an item runs without a question, because it has been ready for too long.
    mutating func mustRun(_ number: Int, of task: Int?) {
        if way == .ranked { _ = ranks.next(starving: (number, task)) }
    }

    /// Notes that an item is not ready any more, although it has not run.
    mutating func tookBack(_ number: Int) {
        if way == .ranked { ranks.takeBack(number) }
    }

    mutating func record(_ answer: Int, _ question: Question, costs: [Bool]? = nil) {
        if let costs { self.costs[recordCount] = costs }
        records.append(2 &* answer &+ (question.isPreemption ? 1 : 0))
        records.append(question.width)
        recordCount += 1
    }

    /// The script's answer to the next question.
    private var scripted: Int { script[recordCount] ?? 0 }

    // MARK: Questions with two answers

    /// Decides whether virtual time moves to the next deadline although jobs are ready.
    mutating func isSlow() -> Int {
        decide(isPreemption: true) { [slowness] in $0.next() % 1_000 < slowness }
    }

    /// Decides whether the task that is being created runs before its creator continues. Returns 1 for yes, 0 for no.
    mutating func startsEarly() -> Int {
        decide(isPreemption: true) { [earliness] in $0.next() % 1_000 < earliness }
    }

    /// Decides which action of the program (see ``Simulation/atAnyPoint(_:)``) runs now: an action that is due, or, with a probability of
    /// one half, the next action before virtual time moves.
    ///
    /// - Returns: The index of the action; `nil` if none runs.
    mutating func action(_ moments: [Int], at step: Int, isAboutToMoveTime: Bool, mustAct: Bool) -> Int? {
        let width = mustAct ? moments.count : moments.count + 1
        if width == 1 { return 0 }
        var answer = 0
        switch way {
        case .inOrder: break
        case .script: answer = min(max(scripted, 0), width - 1)
        case .random, .sticky, .ranked:
            let next = moments.indices.min { (moments[$0], $0) < (moments[$1], $1) }!
            let acts = mustAct || moments[next] <= step || (isAboutToMoveTime && generator.next() % 2 == 0)
            if acts { answer = mustAct ? next : next + 1 }
        }
        record(answer, Question(width: width, isPreemption: false))
        return mustAct ? answer : answer == 0 ? nil : answer - 1
    }

    /// Draws the number of the step from which on an action is due. The length of the program is unknown, so that each order of magnitude
    /// has the same probability.
    mutating func moment(after steps: Int) -> Int {
        switch way {
        case .inOrder, .script: return .max
        case .random, .sticky, .ranked:
            let reach = 2 << (generator.next() % 7)
            return steps + Int(generator.next() % UInt64(reach))
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
