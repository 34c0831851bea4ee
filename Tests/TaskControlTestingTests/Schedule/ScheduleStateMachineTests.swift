import TestSupport
import Testing

@testable import TaskControlTesting

@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct ScheduleStateMachineTests {
    private typealias Machine = ScheduleStateMachine

    private enum Event: Equatable {
        case enqueue
        case sleep(Int64)
        case advance
        case next
    }

    private static let strategies: [Simulation.Strategy] = [
        .inOrder, .random, .sticky, .partialOrder, .pct(depth: 1), .pct(depth: 3, steps: 5),
        .pct(depth: .max, steps: .max),
    ]

    /// All sequences of six events, and of four in a debug build, against a list of jobs with the times from which they may run: the job that is
    /// returned is one of those that may run, none is lost or returned twice, and time moves only when it must, to the earliest deadline, or when
    /// it is advanced.
    @Test(arguments: strategies)
    func everyShortSequenceAgreesWithTheModel(strategy: Simulation.Strategy) {
        let events: [Event] = [.enqueue, .sleep(1), .sleep(2), .advance, .next]
        let length = fullSize(6, inDebug: 4)
        for sequence in 0..<(0..<length).reduce(1, { count, _ in count * events.count }) {
            var machine = Machine(chooser: ScheduleChooser(seed: 7, strategy: strategy), now: 0)
            let isIdle = machine.isIdle
            #expect(isIdle)
            var (model, made): ([(job: Int, from: Int64)], Int) = ([], 0)
            var rest = sequence
            for _ in 0..<length {
                let event = events[rest % events.count]
                rest /= events.count
                switch event {
                case .enqueue:
                    machine.enqueue(made, of: made % 3 == 0 ? nil : made)
                    model.append((made, 0))
                case .sleep(let time):
                    machine.enqueue(made, of: made, at: machine.now + time)
                    model.append((made, machine.now + time))
                case .advance:
                    let before = machine.now
                    machine.advance(by: 1)
                    #expect(machine.now == before + 1)
                    let due = model.contains { $0.from <= machine.now }
                    #expect(machine.isAboutToMoveTime == (!due && !model.isEmpty))
                case .next:
                    let before = machine.now
                    let item = machine.next()
                    guard let earliest = model.map(\.from).min() else {
                        #expect(item == nil && machine.now == before)
                        break
                    }
                    #expect(machine.now == max(before, earliest))
                    let index = model.firstIndex { $0.job == item?.job }
                    #expect(index != nil && model[index!].from <= machine.now)
                    model.remove(at: index!)
                }
                if event != .next && event != .advance { made += 1 }
                #expect(machine.isIdle == model.isEmpty)
            }
        }
    }

    /// A job that blocks its thread forever ends at the end of time, and so does one that sleeps then.
    @Test func timeEndsAtTheGreatestNumber() {
        var machine = Machine(chooser: ScheduleChooser(seed: 1, strategy: .random), now: 5)
        machine.enqueue(1, of: 1, at: .max)
        machine.advance(by: .max)
        machine.advance(by: .max)
        machine.advance(by: -1)
        #expect(machine.now == .max && machine.next()?.job == 1)
    }

    /// Every ready job is chosen with the same chance, within the accuracy of the given number of draws.
    @Test func atRandomAllHaveTheSameChance() {
        var counts = [0, 0, 0, 0]
        for seed in 0..<8_000 as Range<UInt64> {
            var machine = Machine(chooser: ScheduleChooser(seed: seed, strategy: .random), now: 0)
            for job in 0..<4 { machine.enqueue(job, of: job) }
            counts[machine.next()!.job] += 1
        }
        // Five standard deviations of a binomial: √(8,000 · ¼ · ¾) is 39.
        #expect(counts.allSatisfy { abs($0 - 2_000) < 195 })
    }

    /// A task of the highest rank continues for as long as it can, except at the moments at which it falls.
    @Test func underPCTOneTaskGoesOnUntilItFalls() {
        for seed in 0..<100 as Range<UInt64> {
            var machine = Machine(chooser: ScheduleChooser(seed: seed, strategy: .pct(depth: 1)), now: 0)
            for task in 0..<5 { machine.enqueue(0, of: task) }
            var order: [Int] = []
            for step in 0..<50 {
                let task = machine.next()!.task!
                order.append(task)
                if step % 10 != 9 { machine.enqueue(0, of: task) }
            }
            let changes = zip(order, order.dropFirst()).count { $0 != $1 }
            #expect(changes == 4, "without change points each goes on to its end: \(order)")
        }
    }

    /// Whatever the rank of a task that has ended, it does not matter to the tasks that are left.
    @Test func underPCTATaskThatRanAloneInterruptsNoOther() {
        for seed in 0..<100 as Range<UInt64> {
            var machine = Machine(chooser: ScheduleChooser(seed: seed, strategy: .pct(depth: 1)), now: 0)
            for _ in 0..<10 {
                machine.enqueue(0, of: 3)
                #expect(machine.next()?.task == 3)
            }
            for task in 0..<3 { machine.enqueue(0, of: task) }
            var order: [Int] = []
            for step in 0..<30 {
                let task = machine.next()!.task!
                order.append(task)
                if step % 10 != 9 { machine.enqueue(0, of: task) }
            }
            let changes = zip(order, order.dropFirst()).count { $0 != $1 }
            #expect(changes == 2, "each goes on to its end: \(order)")
        }
    }

    /// Two tasks spin, and a third is what they wait for.
    @Test(arguments: strategies)
    func aReadyJobNeverWaitsForever(strategy: Simulation.Strategy) {
        for seed in 0..<20 as Range<UInt64> {
            var machine = Machine(chooser: ScheduleChooser(seed: seed, strategy: strategy), now: 0)
            for task in 0..<3 { machine.enqueue(0, of: task) }
            var (last, longest) = ([0, 0, 0], 0)
            for step in 1...2_000 {
                let task = machine.next()!.task!
                longest = max(longest, step - last[task])
                last[task] = step
                machine.enqueue(0, of: task)
            }
            #expect(longest < 1_000 && last.allSatisfy { 2_000 - $0 < 1_000 })
        }
    }

    /// Another job of the task that ran last is no continuation, if it was ready before the step.
    @Test func inOrderATaskContinuesOnlyWithWhatItsStepHasMadeReady() {
        var machine = Machine(chooser: ScheduleChooser(seed: 1, strategy: .inOrder), now: 0)
        for (job, task) in [(0, 0), (1, 1), (2, 0)] { machine.enqueue(job, of: task) }
        var order = [machine.next()!.job]
        machine.enqueue(3, of: 2)
        order.append(machine.next()!.job)
        machine.enqueue(4, of: 1)
        machine.enqueue(5, of: 1, hasYielded: true)
        while let item = machine.next() { order.append(item.job) }
        #expect(order == [0, 1, 4, 2, 3, 5], "a task that has yielded is behind the others")
    }

    /// A task that is always ready runs for 200 steps, and four for each ready job, before a job that waits.
    @Test(arguments: 1...3)
    func inOrderAJobWaitsForACertainNumberOfSteps(waiting: Int) {
        var machine = Machine(chooser: ScheduleChooser(seed: 1, strategy: .inOrder), now: 0)
        machine.enqueue(0, of: 0)
        for _ in 0..<50 { machine.enqueue(0, of: machine.next()!.task) }
        for task in 1...waiting { machine.enqueue(0, of: task) }
        var steps = 0
        while machine.next()!.task == 0 {
            steps += 1
            machine.enqueue(0, of: 0)
        }
        #expect(steps == 201 + 4 * (waiting + 1), "after 50 steps without another task")
    }

    /// An exhaustive search has a budget of preemptions, so it records which answers are preemptions: all but the first if the task that ran last could
    /// continue, and the choice of a task that has yielded if another one has not.
    @Test func theAnswersThatPreemptATaskAreRecorded() {
        let search = Simulation.Strategy(kind: .inOrder, isSearch: true)
        var machine = Machine(chooser: ScheduleChooser(seed: 1, strategy: search), now: 0)
        for task in 0..<2 { machine.enqueue(task, of: task) }
        _ = machine.next()
        machine.enqueue(2, of: 0)
        let continued = machine.next()!.job
        #expect(continued == 2)
        machine.enqueue(3, of: 0, hasYielded: true)
        machine.enqueue(4, of: 2)
        let next = machine.next()!.job
        #expect(next == 1)
        let answers = machine.chooser.answers
        #expect(answers.map(\.isPreemption) == [false, true, false])
        #expect(answers.map(\.costs) == [[false, false], [false, true], [false, true, false]])
        // All that are left have yielded.
        var yielding = Machine(chooser: ScheduleChooser(seed: 1, strategy: search), now: 0)
        for task in 0..<2 { yielding.enqueue(task, of: task, hasYielded: true) }
        _ = yielding.next()
        let costs = yielding.chooser.answers.map(\.costs)
        #expect(costs == [[false, false]])
        // A task that has not yielded is left after another one ran without a choice.
        var mixed = Machine(chooser: ScheduleChooser(seed: 1, strategy: search), now: 0)
        for task in 0..<3 { mixed.enqueue(task, of: task, hasYielded: task != 1) }
        let first = mixed.takeFirst { $0.job == 0 }?.job
        #expect(first == 0)
        _ = mixed.next()
        let mixedCosts = mixed.chooser.answers.map(\.costs)
        #expect(mixedCosts == [[false, true]])
        var last = Machine(chooser: ScheduleChooser(seed: 1, strategy: search), now: 0)
        for task in 0..<3 { last.enqueue(task, of: task, hasYielded: task != 0) }
        for _ in 0..<2 { _ = last.next() }
        let lastCosts = last.chooser.answers.map(\.costs)
        #expect(lastCosts == [[false, true, true], [false, false]])
    }

    @Test func onlyTheJobThatBecameReadyLastStartsEarlyAndOnlyIfAsked() {
        var early = 0
        for seed in 0..<100 as Range<UInt64> {
            let strategy = Simulation.Strategy.random.withEarlyStarts()
            var machine = Machine(chooser: ScheduleChooser(seed: seed, strategy: strategy), now: 0)
            let none = machine.takeEarly { _ in true }
            #expect(none == nil)
            for job in 0..<3 { machine.enqueue(job, of: job) }
            let other = machine.takeEarly { $0.job != 2 }
            #expect(other == nil)
            let job = machine.takeEarly { $0.job == 2 }?.job
            #expect(job == nil || job == 2)
            if job != nil { early += 1 }
            let rest = [machine.next()!.job, machine.next()!.job, machine.next()?.job ?? 2]
            #expect(rest.sorted() == [0, 1, 2])
            var usual = Machine(chooser: ScheduleChooser(seed: seed, strategy: .random), now: 0)
            usual.enqueue(0, of: 0)
            let usualJob = usual.takeEarly { _ in true }?.job
            #expect(usualJob == nil)
            #expect(usual.chooser.answers.isEmpty)
        }
        #expect(early > 5 && early < 95)
    }

    // MARK: Arrivals

    private static func arrival(_ isFixed: Bool = false, actor: UInt = 1, priority: UInt8 = 20) -> Machine.Arrival {
        Machine.Arrival(actor: actor, isFixed: isFixed, priority: priority)
    }

    /// All orders in which a machine may return jobs that are enqueued as given, found by many seeds.
    private func orders(_ arrivals: [Machine.Arrival?]) -> Set<[Int]> {
        var orders: Set<[Int]> = []
        for seed in 0..<1_000 as Range<UInt64> {
            var machine = Machine(chooser: ScheduleChooser(seed: seed, strategy: .random), now: 0)
            for (job, arrival) in arrivals.enumerated() { machine.enqueue(job, of: job, on: arrival) }
            var order: [Int] = []
            while let item = machine.next() { order.append(item.job) }
            orders.insert(order)
        }
        return orders
    }

    @Test func tasksThatHopToAnActorArriveInAnyOrder() {
        #expect(orders([Self.arrival(), Self.arrival(), Self.arrival()]).count == 6)
    }

    @Test func tasksThatAreCreatedOnAnActorBeginInTheOrderOfTheirCreation() {
        #expect(orders([Self.arrival(true), Self.arrival(true), Self.arrival(true)]) == [[0, 1, 2]])
        #expect(orders([Self.arrival(true), Self.arrival(true, actor: 2)]).count == 2)
    }

    @Test func aHopIsBehindTasksThatWereCreatedBeforeIt() {
        #expect(orders([Self.arrival(), Self.arrival(true), Self.arrival()]) == [[0, 1, 2], [1, 0, 2], [1, 2, 0]])
        #expect(
            orders([Self.arrival(true), Self.arrival(), Self.arrival(true), nil]).allSatisfy {
                $0.firstIndex(of: 0)! < $0.firstIndex(of: 1)! && $0.firstIndex(of: 0)! < $0.firstIndex(of: 2)!
            }
        )
    }

    @Test func actorsWhoseJobsHaveRunAreForgotten() {
        var machine = Machine(chooser: ScheduleChooser(seed: 1, strategy: .random), now: 0)
        for actor in 1...9 as ClosedRange<UInt> { machine.enqueue(0, of: 0, on: Self.arrival(true, actor: actor)) }
        let most = machine.orderedActorCount
        #expect(most == 9)
        while machine.next() != nil {}
        let count = machine.orderedActorCount
        #expect(count == 0)
    }

    @Test func onlyAHigherPriorityOvertakes() {
        #expect(orders([Self.arrival(true), Self.arrival(true, priority: 25)]) == [[0, 1], [1, 0]])
        #expect(orders([Self.arrival(true), Self.arrival(priority: 25)]) == [[0, 1], [1, 0]])
        #expect(orders([Self.arrival(true), Self.arrival(true, priority: 9)]) == [[0, 1]])
    }

    @Test func tasksOfOnePriorityKeepTheirOrderBesideOthers() {
        let (low, high) = (Self.arrival(true, priority: 17), Self.arrival(true, priority: 25))
        #expect(orders([low, high, high]) == [[0, 1, 2], [1, 0, 2], [1, 2, 0]])
        // Created by a job on the actor itself, which nothing interrupts: the highest priority is first.
        func busy(_ priority: UInt8) -> Machine.Arrival {
            Machine.Arrival(actor: 1, isFixed: true, priority: priority, overtakes: true)
        }
        #expect(orders([busy(17), busy(25), busy(25)]) == [[1, 2, 0]])
        #expect(orders([busy(25), busy(9), busy(20)]) == [[0, 2, 1]])
        #expect(orders([Self.arrival(priority: 9), busy(20)]) == [[1, 0]])
    }

    // MARK: Answers

    /// The answers of any strategy, given to another machine, produce the same schedule.
    @Test(arguments: strategies, [false, true])
    func answersReplayASchedule(strategy: Simulation.Strategy, isSlow: Bool) {
        let strategy = isSlow ? strategy.withSlowness() : strategy
        for seed in 0..<100 as Range<UInt64> {
            func play(_ chooser: consuming ScheduleChooser) -> (
                order: [Int], answers: [ScheduleChooser.Answer], trace: UInt64
            ) {
                var machine = Machine(chooser: chooser, now: 0)
                var made = SeededGenerator(seed: seed)
                var (order, actions): ([Int], [(moment: ScheduleChooser.Moment, number: Int)]) = ([], [])
                for job in 0..<60 {
                    switch made.next() % 4 {
                    case 0: machine.enqueue(job, of: job % 7)
                    case 1: machine.enqueue(job, of: job % 7, at: machine.now + Int64(made.next() % 5))
                    case 2: machine.enqueue(job, of: job % 7, on: Self.arrival(made.next() % 2 == 0))
                    default: if let item = machine.next() { order.append(item.job) }
                    }
                    if made.next() % 8 == 0 { actions.append((machine.moment(), 1_000 + job)) }
                    if !actions.isEmpty, let index = machine.action(actions.map(\.moment)) {
                        order.append(actions.remove(at: index).number)
                    }
                }
                while let item = machine.next() { order.append(item.job) }
                while !actions.isEmpty {
                    let index = machine.action(actions.map(\.moment), mustAct: true)!
                    order.append(actions.remove(at: index).number)
                }
                return (order, machine.chooser.answers, machine.trace)
            }
            let one = play(ScheduleChooser(seed: seed, strategy: strategy))
            let schedule = Simulation.Schedule(seed: seed, answers: one.answers, strategy)
            let read = Simulation.Schedule(schedule.description)
            #expect(read == schedule)
            let other = play(ScheduleChooser(seed: 0, strategy: Simulation.Strategy(kind: .schedule(schedule))))
            #expect(other.order == one.order && other.trace == one.trace)
        }
    }

    @Test func theTraceTellsWhatWasChosenAndNoted() {
        func trace(_ change: (inout Machine) -> Void) -> UInt64 {
            var machine = Machine(chooser: ScheduleChooser(seed: 1, strategy: .random), now: 0)
            change(&machine)
            while machine.next() != nil {}
            return machine.trace
        }
        let traces = [
            trace { _ in },
            trace { $0.enqueue(1, of: 1) },
            trace { $0.enqueue(1, of: 1, at: 1) },
            trace { $0.enqueue(1, of: 1, at: 2) },
            trace { $0.advance(by: 1) },
            trace { $0.note("a") },
            trace { $0.note("b") },
        ]
        #expect(Set(traces).count == traces.count)
        #expect(trace { $0.enqueue(1, of: 1) } == trace { $0.enqueue(1, of: 1) })
    }
}

@Suite(.tags(.machine))
struct ScheduleRoundsTests {
    private enum Step: CaseIterable {
        case round, work, end

        func run(_ rounds: inout ScheduleRounds) -> Int64 {
            if self != .end { rounds.enqueued(isOfRunningTask: true) }
            if self == .work { rounds.enqueued(isOfRunningTask: false) }
            return rounds.stepHasEnded()
        }
    }

    @Test func eachFurtherRoundTakesTimeAndEveryFiveHundredTwiceAsLong() {
        var rounds = ScheduleRounds()
        for step in 1...3_000 { #expect(Step.round.run(&rounds) == (step < 500 ? 0 : 1_000 << (step / 500 - 1))) }
        // No number of rounds overflows the time.
        for _ in 0..<100_000 { #expect(Step.round.run(&rounds) > 0) }
    }

    @Test(arguments: [Step.work, .end]) private func aStepThatDoesMoreBeginsAnew(step: Step) {
        var rounds = ScheduleRounds()
        for _ in 0..<600 { _ = Step.round.run(&rounds) }
        #expect(step.run(&rounds) == 0)
        for _ in 1..<500 { #expect(Step.round.run(&rounds) == 0) }
        #expect(Step.round.run(&rounds) == 1_000)
    }
}
