import TestSupport
import Testing

@testable import TaskControlTesting

@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct ScheduleSearchTests {
    /// Three tasks of two steps each, of which a preemption is every switch away from a task that has a step left.
    private func schedules(preemptions: Int) -> [[Int]] {
        var search = ScheduleSearch(preemptions: preemptions)
        var schedules: [[Int]] = []
        repeat {
            let deviations = search.prefix.enumerated()
                .map { Simulation.Schedule.Deviation(question: $0, answer: Int($1)) }
            let schedule = Simulation.Schedule(seed: 0, deviations: deviations)
            let chooser = ScheduleChooser(seed: 0, strategy: Simulation.Strategy(kind: .schedule(schedule)))
            var machine = ScheduleStateMachine(chooser: chooser, now: 0)
            for task in 0..<3 { machine.enqueue(0, of: task) }
            var order: [Int] = []
            while let item = machine.next() {
                order.append(item.task!)
                if item.job == 0 { machine.enqueue(1, of: item.task) }
            }
            schedules.append(order)
            #expect(search.isFollowed(by: machine.chooser.answers))
            if !search.advance(past: machine.chooser.answers) { return schedules }
        } while true
    }

    private func preemptions(_ order: [Int]) -> Int {
        zip(order, order.dropFirst()).enumerated()
            .count { index, pair in pair.0 != pair.1 && order[(index + 1)...].contains(pair.0) }
    }

    /// 6! ÷ (2! · 2! · 2!) orders.
    private var allOrders: Set<[Int]> {
        func orders(_ left: [Int]) -> [[Int]] {
            if left.allSatisfy({ $0 == 0 }) { return [[]] }
            return left.indices.filter { left[$0] > 0 }
                .flatMap { task in
                    var rest = left
                    rest[task] -= 1
                    return orders(rest).map { [task] + $0 }
                }
        }
        return Set(orders([2, 2, 2]))
    }

    @Test(arguments: 0...5)
    func everyScheduleWithinTheBoundIsVisitedOnce(bound: Int) {
        let visited = schedules(preemptions: bound)
        #expect(Set(visited).count == visited.count)
        #expect(Set(visited) == allOrders.filter { preemptions($0) <= bound })
    }
}

@Suite(.timeLimit(.minutes(15)))
struct ScheduleShrinkerTests {
    private func shrink(_ questions: Range<Int>, needed: Set<Int>) -> (left: [Int], runs: Int) {
        let deviations = questions.map { Simulation.Schedule.Deviation(question: $0, answer: 1) }
        var shrinker = ScheduleShrinker(Simulation.Schedule(seed: 0, deviations: deviations))
        var runs = 0
        while let schedule = shrinker.next() {
            runs += 1
            if needed.isSubset(of: schedule.deviations.map(\.question)) {
                shrinker.fails(as: schedule)
            } else {
                shrinker.passes()
            }
        }
        return (shrinker.best.deviations.map(\.question), runs)
    }

    @Test(arguments: [[], [0], [63], [3, 4], [0, 31, 32, 63], Array(0..<64)])
    func onlyNeededDeviationsAreLeft(needed: [Int]) {
        let (left, runs) = shrink(0..<64, needed: Set(needed))
        #expect(left == needed)
        #expect(runs <= 2 * 64 + needed.count * 7)
    }

    @Test func decisionsThatTheFailureDoesNotNeedAreSimplified() {
        let deviations = (0..<8).map { Simulation.Schedule.Deviation(question: $0, answer: 1) }
        var shrinker = ScheduleShrinker(Simulation.Schedule(seed: 0, deviations: deviations), decisionCount: 20)
        // Deviation 2 is needed as long as decision 3 is not simplified.
        func fails(_ schedule: Simulation.Schedule) -> Bool {
            let (questions, simplified) = (schedule.deviations.map(\.question), Set(schedule.simplified))
            return questions.contains(6) && !simplified.contains(17)
                && (questions.contains(2) || simplified.contains(3))
        }
        while let schedule = shrinker.next() {
            if fails(schedule) { shrinker.fails(as: schedule, decisionCount: 20) } else { shrinker.passes() }
        }
        #expect(shrinker.best.description == "0:6=1;0-16,18-19")
    }

    @Test func aScheduleWithoutDeviationsIsTriedNoFurther() {
        #expect(shrink(0..<0, needed: []) == ([], 0))
    }
}

@Suite(.timeLimit(.minutes(15)), .tags(.schedules))
struct SimulationScheduleTests {
    @Test(arguments: ["7:", "7:12=1,40=3", "0s:", "18446744073709551615se:0=9", "3e:1=1", "7:;0", "7s:1=1;0-2,5"])
    func aScheduleIsItsText(text: String) throws {
        #expect(try #require(Simulation.Schedule(text)).description == text)
    }

    @Test(arguments: [
        "", "7", ":", "x:", "7:1", "7:1=", "7:=1", "7:1=1=1", "7:-1=1", "7q:", "7es:", "7:1=1:2=2", "-1:",
        "7:;", "7:;1-", "7:;2-1", "7:;-1", "7:;x", "7:;1;2", "7:;0-9999999",
    ])
    func aTextThatIsNoScheduleIsRefused(text: String) {
        #expect(Simulation.Schedule(text) == nil)
    }

    @Test func deviationsAreSortedAndThePlainAnswerIsNone() {
        let schedule = Simulation.Schedule(
            seed: 1,
            deviations: [
                .init(question: 5, answer: 2), .init(question: 1, answer: 0), .init(question: 2, answer: 1),
                .init(question: 5, answer: 3), .init(question: -1, answer: 1),
            ]
        )
        #expect(schedule.description == "1:2=1,5=3")
    }
}
