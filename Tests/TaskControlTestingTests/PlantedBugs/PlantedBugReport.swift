import Foundation
import TaskControlTesting
import TestSupport
import Testing

/// Measures the corpus for the guide. `scripts/tests planted` runs it: it takes longer than tests may.
@Suite(.timeLimit(.minutes(60)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct PlantedBugReport {
    private static let isWanted = ProcessInfo.processInfo.environment["TASKCONTROL_PLANTED_BUGS"] != nil
    private static let (runs, limit, twinRuns, twinSeeds) = (200, UInt64(2_000), 20, UInt64(2_000))

    @Test(.enabled(if: isWanted)) func measurePlantedBugs() async throws {
        try await offThePool {
            let rows = try PlantedBug.all.map { try Row($0) }
            print(Self.headline(rows) + "\n\n" + Self.table(rows) + "\n\n" + (try Self.alarms()))
        }
    }

    /// The measurements of one bug.
    private struct Row {
        let planted: PlantedBug
        let ordinary: Int
        /// The median of the schedules to the first failure, for each strategy that is compared.
        let medians: [UInt64?]
        /// The same under the strategy that is expected to find it.
        let expected: UInt64?

        init(_ planted: PlantedBug) throws {
            self.planted = planted
            ordinary = OrdinaryRun.failures(of: planted.bug, runs: PlantedBugReport.runs)
            let medians = try PlantedBug.compared.map { try Self.median(of: planted.bug, strategy: $0) }
            self.medians = medians
            if let strategy = planted.strategy, let column = PlantedBug.compared.firstIndex(of: strategy) {
                expected = medians[column]
            } else {
                expected = try planted.strategy.flatMap { try Self.median(of: planted.bug, strategy: $0) }
            }
        }

        /// The median over 5 disjoint ranges of seeds; `nil` if no seed fails in most of them.
        private static func median(of body: @escaping PlantedBug.Body, strategy: Simulation.Strategy) throws -> UInt64?
        {
            let limit = PlantedBugReport.limit
            var (counts, misses) = ([UInt64](), 0)
            for range in 0..<5 where misses < 3 {
                let first = UInt64(range) * limit
                let failure = try PlantedBug.failure(of: body, seeds: first..<first + limit, strategy: strategy)
                if failure == nil { misses += 1 }
                counts.append(failure.map { UInt64($0.scheduleCount) } ?? .max)
            }
            return misses < 3 ? counts.sorted()[2] : nil
        }

        var text: String {
            let name = planted.foundBy == .schedules ? planted.name : "\(planted.name) (\(planted.foundBy))"
            let cells = [name, planted.kind.rawValue, "\(ordinary)"] + medians.map { $0.map { "\($0)" } ?? "—" }
            return "| " + cells.joined(separator: " | ") + " |"
        }
    }

    private static func headline(_ rows: [Row]) -> String {
        let byDefault = rows.filter { $0.planted.foundBy == .schedules }.compactMap(\.expected).sorted()
        let byOption = rows.filter { $0.planted.foundBy != .schedules }.compactMap(\.expected)
        let median = byDefault[byDefault.count / 2]
        let (ordinary, both) = (
            rows.count { $0.ordinary > 0 }, rows.count { $0.ordinary > 0 && $0.expected != nil },
        )
        return """
            \(rows.count) planted bugs. An ordinary test run \(runs) times finds \(ordinary). \
            `simulate` finds \(byDefault.count), the median bug in \(median) \(median == 1 ? "schedule" : "schedules"), \
            and \(byOption.count) more with an option. Only the ordinary test finds \(ordinary - both).
            """
    }

    private static func table(_ rows: [Row]) -> String {
        let strategies = PlantedBug.compared.map { "`\($0)`" }.joined(separator: " | ")
        let alignment = String(repeating: "---:|", count: PlantedBug.compared.count + 1)
        return "| bug | kind | ordinary test: failures in \(runs) runs | \(strategies) |\n|---|---|\(alignment)\n"
            + rows.map(\.text).joined(separator: "\n")
    }

    /// The failures of correct programs, as ordinary tests and under each strategy.
    private static func alarms() throws -> String {
        let ordinary = PlantedBug.all.compactMap { planted in
            let count = OrdinaryRun.failures(of: planted.twin, runs: twinRuns)
            return count > 0 ? "\nTwins: \(planted.name), \(count) of \(twinRuns)" : nil
        }
        let first = "Twins as ordinary tests: \(PlantedBug.all.count * twinRuns) runs, \(ordinary.count) twins fail"
        let others = try (PlantedBug.compared + PlantedBug.options)
            .map { strategy in
                let failures = try PlantedBug.all.compactMap { planted in
                    try PlantedBug.failure(of: planted.twin, seeds: 0..<twinSeeds, strategy: strategy)
                        .map { "\nTwins: \(planted.name), seed \($0.seed): \($0.reason)" }
                }
                let schedules = PlantedBug.all.count * Int(twinSeeds)
                return "\nTwins under `\(strategy)`: \(schedules) schedules, \(failures.count) false alarms"
                    + failures.joined()
            }
        return first + ordinary.joined() + others.joined()
    }
}
