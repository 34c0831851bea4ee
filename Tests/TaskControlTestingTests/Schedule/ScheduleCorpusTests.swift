import TestSupport
import Testing

@testable import TaskControlTesting

@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct ScheduleCorpusTests {
    private static let schedule: Simulation.Schedule = "4:2=1,7=3"

    private func continuation(of strategy: Simulation.Strategy) -> (Simulation.Schedule, Int)? {
        if case .continued(let schedule, let choices, _) = strategy.kind { (schedule, choices) } else { nil }
    }

    @Test func withoutScheduleEachSeedIsDrawnAsByTheSwarm() {
        let corpus = ScheduleCorpus()
        for seed in 0..<20 as Range<UInt64> {
            let run = corpus.run(of: seed, .guided.withSlowness())
            #expect(run.seed == seed && run.strategy == .swarm.withSlowness().drawn(by: seed))
        }
    }

    @Test func eachSecondSeedContinuesAScheduleThatDidSomethingNew() {
        var corpus = ScheduleCorpus()
        corpus.ran(Self.schedule, choices: 9, handovers: [1, 2])
        var kept: Set<Int> = []
        for seed in 0..<200 as Range<UInt64> {
            let run = corpus.run(of: seed, .guided.withSlowness())
            guard seed % 2 == 1 else { #expect(run.seed == seed && continuation(of: run.strategy) == nil); continue }
            guard let (schedule, choices) = continuation(of: run.strategy) else { Issue.record("\(run)"); continue }
            #expect(run.seed == 4 && schedule == Self.schedule && run.strategy.hasSlowness)
            kept.insert(choices)
        }
        #expect(kept == Set(0..<9))
    }

    @Test func aScheduleIsKeptOnlyForANewHandover() {
        var corpus = ScheduleCorpus()
        corpus.ran("1:", choices: 0, handovers: [1])
        corpus.ran("2:", choices: 3, handovers: [])
        #expect(continuation(of: corpus.run(of: 1, .guided).strategy) == nil)
        corpus.ran("3:", choices: 3, handovers: [1, 2])
        corpus.ran("4:", choices: 3, handovers: [2])
        corpus.ran("5:", choices: 3, handovers: [2, 3])
        let seeds = (0..<100 as Range<UInt64>)
            .compactMap { continuation(of: corpus.run(of: 2 * $0 + 1, .guided).strategy)?.0.seed }
        #expect(Set(seeds) == [3, 5] && seeds.count == 100)
    }

    @Test func theLast1000SchedulesAreKeptAndTheNewestIsContinuedMost() {
        var corpus = ScheduleCorpus()
        for number in 0..<2_500 {
            corpus.ran(Simulation.Schedule(seed: UInt64(number)), choices: 1, handovers: [number])
        }
        let seeds = (0..<100_000 as Range<UInt64>).map { corpus.run(of: 2 * $0 + 1, .guided).seed }
        let counts = Dictionary(grouping: seeds) { $0 }.mapValues(\.count)
        #expect(counts.keys.min()! >= 1_500 && counts.keys.max() == 2_499 && counts.count > 200)
        #expect(counts.allSatisfy { $0.value <= counts[2_499]! })
    }

    // MARK: Hand-overs

    private actor Place {}

    private func handovers(_ steps: [(task: Int?, isOnActor: Bool)]) -> Set<Int> {
        let log = ScheduleLog()
        log.add(TypeID(Place.self))
        for (number, step) in steps.enumerated() {
            log.append(.ran(.ready), of: step.task, on: step.isOnActor ? 0 : nil, number: number, at: 0)
        }
        return log.handovers
    }

    @Test func aHandoverIsAChangeOfTheTaskOfOneActor() {
        #expect(handovers([(1, true), (1, true), (nil, true)]).isEmpty)
        #expect(handovers([(1, true), (2, false), (1, true)]).isEmpty)
        #expect(handovers([(1, true), (2, true)]).count == 1)
        #expect(handovers([(1, true), (2, true)]) != handovers([(2, true), (1, true)]))
        #expect(handovers([(1, false), (2, false)]).isEmpty)
        // After another number of steps it is another one, up to a limit.
        #expect(handovers([(1, true), (2, true)]) != handovers([(1, true), (1, true), (2, true)]))
        let many = Array(repeating: (task: 1 as Int?, isOnActor: true), count: 20)
        #expect(handovers(many + [(2, true)]) == handovers(many + many + [(2, true)]))
    }

    @Test func notesAreNoSteps() {
        let log = ScheduleLog()
        log.append(.ran(.ready), of: 1, on: nil, number: 0, at: 0)
        log.append(.note(log.text("note")), of: 2, on: nil, number: 1, at: 0)
        log.append(.ran(.ready), of: 1, on: nil, number: 1, at: 0)
        #expect(log.handovers.isEmpty)
    }
}
