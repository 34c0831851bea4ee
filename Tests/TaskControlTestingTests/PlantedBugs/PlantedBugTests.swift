import Foundation
import TaskControlTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)), .enabled(if: Simulation.isSupported))
struct PlantedBugTests {
    fileprivate static let strategies: [SimulationStrategy] = [.random, .pct(depth: 2), .pct(depth: 3)]

    @Test(arguments: PlantedBug.all, strategies)
    func isFoundWithinItsBoundAndReplayedFromItsSeed(_ planted: PlantedBug, _ strategy: SimulationStrategy) async throws
    {
        if !planted.isFoundAtRandom, strategy == .random { return }
        let failures = try await offThePool {
            var failures: [SimulationFailure] = []
            let found = try PlantedBug.schedulesToFailure(of: planted.bug, strategy: strategy, limit: planted.bound)
            guard let failure = found?.failure else { return failures }
            failures.append(failure)
            for _ in 0..<3 {
                let again = try PlantedBug.schedulesToFailure(
                    of: planted.bug,
                    strategy: strategy,
                    from: failure.seed,
                    limit: 1
                )
                if let again { failures.append(again.failure) }
            }
            return failures
        }
        #expect(failures.count == 4 && Set(failures.map(\.description)).count == 1)
    }

    @Test(arguments: PlantedBug.all, strategies)
    func itsTwinPassesAllSeeds(_ planted: PlantedBug, _ strategy: SimulationStrategy) async throws {
        try await offThePool {
            try simulate(seeds: 0..<1_000, strategy: strategy) { try await planted.twin($0) }
        }
    }
}

/// `scripts/compare-strategies` calls this; the table stands in the guide. A suite of its own, for it takes longer than tests may.
@Suite(.timeLimit(.minutes(60)), .enabled(if: Simulation.isSupported))
struct StrategyComparison {
    @Test(.enabled(if: ProcessInfo.processInfo.environment["TASKCONTROL_COMPARE_STRATEGIES"] != nil))
    func compareStrategies() throws {
        let (tries, limit) = (UInt64(100), UInt64(2_000))
        var table =
            "| schedules to the first failure, mean of \(tries) | "
            + PlantedBugTests.strategies.map { "`\($0)`" }
            .joined(separator: " | ")
            + " |\n|---|\(String(repeating: "---:|", count: PlantedBugTests.strategies.count))\n"
        for planted in PlantedBug.all {
            var cells: [String] = []
            for strategy in PlantedBugTests.strategies {
                var (sum, misses) = (0.0, 0)
                for number in 0..<tries where misses < 3 {
                    let found = try PlantedBug.schedulesToFailure(
                        of: planted.bug,
                        strategy: strategy,
                        from: number * limit,
                        limit: limit
                    )
                    sum += Double(found?.count ?? limit)
                    if found == nil { misses += 1 }
                }
                cells.append(misses < 3 ? String(format: "%.1f", sum / Double(tries)) : "> \(limit)")
            }
            table += "| \(planted.name) | " + cells.joined(separator: " | ") + " |\n"
        }
        print(table)
    }
}
