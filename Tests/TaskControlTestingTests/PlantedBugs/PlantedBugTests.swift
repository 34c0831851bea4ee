import TaskControlTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(15)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct PlantedBugTests {
    @Test(arguments: PlantedBug.all)
    func isFoundWithin2000SchedulesAndReplayedFromItsSeed(_ planted: PlantedBug) async throws {
        guard let strategy = planted.strategy else { return }
        let failures = try await offThePool {
            var failures: [Simulation.Failure] = []
            var seeds: Range<UInt64> = 0..<2_000
            for _ in 0..<4 {
                guard let failure = try PlantedBug.failure(of: planted.bug, seeds: seeds, strategy: strategy) else {
                    break
                }
                failures.append(failure)
                seeds = failure.seed..<failure.seed + 1
            }
            return failures.map(\.description)
        }
        try #require(!failures.isEmpty)
        #expect(failures == Array(repeating: failures[0], count: 4))
    }

    @Test func aDocumentedLimitIsNotFound() async throws {
        for planted in PlantedBug.all {
            guard case .never = planted.foundBy else { continue }
            let failure = try await offThePool {
                try PlantedBug.failure(of: planted.bug, seeds: 0..<2_000, strategy: PlantedBug.standard)
            }
            #expect(failure == nil, "remove \(planted.name) from the limits")
        }
    }

    @Test(arguments: PlantedBug.all, PlantedBug.compared + PlantedBug.options)
    func itsTwinPasses(_ planted: PlantedBug, _ strategy: Simulation.Strategy) async throws {
        let seeds =
            strategy == PlantedBug.standard ? Schedules.seeds(10_000, inDebug: 50) : Schedules.seeds(2_000, inDebug: 10)
        let failure = try await offThePool {
            try PlantedBug.failure(of: planted.twin, seeds: seeds, strategy: strategy)
        }
        #expect(failure == nil)
    }

    @Test func theCorpusHasAtLeast46BugsAndAtMost2Limits() {
        let limits = PlantedBug.all.count { if case .never = $0.foundBy { true } else { false } }
        #expect(PlantedBug.all.count - limits >= 46 && limits <= 2)
        #expect(Set(PlantedBug.all.map(\.name)).count == PlantedBug.all.count)
    }
}
