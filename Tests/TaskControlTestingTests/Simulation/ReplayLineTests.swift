#if os(Linux)
import CTaskControlTesting
import Testing

@testable import TaskControlTesting

/// The reports of a crash and of a step that takes too long name the line that replays the seed. That line is made of the parts of the strategy,
/// without Swift code.
@Suite(.timeLimit(.minutes(15)), .enabled(if: Simulation.isSupported))
struct ReplayLineTests {
    private static var line: String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 1_000) { text in
            tc_writeReplay(text.baseAddress!, Int64(text.count))
            return String(cString: text.baseAddress!)
        }
    }

    @Test(
        arguments: [
            .random, .sticky, .partialOrder, .inOrder, .pct(depth: 3), .pct(depth: 2, steps: 40),
            .random.withSlowness(),
            .sticky.withEarlyStarts(), .pct(depth: 4, steps: 1).withSlowness().withEarlyStarts(),
        ] as [Simulation.Strategy]
    )
    func theLineNamesTheStrategyAsItsDescriptionDoes(strategy: Simulation.Strategy) throws {
        try simulate(seed: 7, strategy: strategy) { sim in
            sim.expect(Self.line == "try simulate(seed: 7, strategy: \(strategy)) { … }", Self.line)
        }
        #expect(Self.line.isEmpty)
    }

    @Test func theLineNamesTheStrategyThatTheSeedHasDrawn() throws {
        for seed in 0..<20 as Range<UInt64> {
            let drawn = Simulation.Strategy.swarm.drawn(by: seed)
            try simulate(seed: seed) { sim in
                sim.expect(Self.line == "try simulate(seed: \(seed), strategy: \(drawn)) { … }", Self.line)
            }
        }
    }

    @Test func theLineNamesTheSchedule() throws {
        try simulate(schedule: "3s:12=1,40=3") { sim in
            sim.expect(Self.line == "try simulate(schedule: \"3s:12=1,40=3\") { … }", Self.line)
        }
    }

    @Test func theLineOfATestIsItsCommand() throws {
        try SimulatedTest.$current.withValue(SimulatedTest(name: "adds(two:)")) {
            try simulate(seed: 7) { sim in
                sim.expect(Self.line == "TASKCONTROL_SEED=7 swift test --filter 'adds(two:)'", Self.line)
            }
            try simulate(schedule: "3:12=1") { sim in
                sim.expect(
                    Self.line == "TASKCONTROL_SCHEDULE='3:12=1' swift test --filter 'adds(two:)'",
                    Self.line
                )
            }
        }
    }
}
#endif
