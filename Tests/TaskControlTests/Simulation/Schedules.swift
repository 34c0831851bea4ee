import Foundation
import TaskControlTesting
import TestSupport

/// How many schedules a test runs: all of them in an optimized build (`scripts/check-schedules`), a fiftieth in a debug build,
/// which is ten times as slow. `TASKCONTROL_SCHEDULES=10` runs ten times as many.
enum Schedules {
    static func all(_ count: UInt64) -> Range<UInt64> {
        #if DEBUG
        return 0..<max(10, count / 50) * factor
        #else
        return 0..<count * factor
        #endif
    }

    private static let factor = UInt64(ProcessInfo.processInfo.environment["TASKCONTROL_SCHEDULES"] ?? "") ?? 1
}

extension SimulationStrategy {
    /// One for the orders that come up often, one for those that hardly ever do.
    static let both: [SimulationStrategy] = [.random, .pct(depth: 3)]
}

/// Plays a race under 10,000 schedules: the line that replays one that fails names the race.
func race(
    fileID: String = #fileID,
    line: Int = #line,
    _ body: @escaping @Sendable (Simulation) async throws -> Void
) async throws {
    try await offThePool {
        for strategy in SimulationStrategy.both {
            try simulate(seeds: Schedules.all(5_000), strategy: strategy, fileID: fileID, line: line) {
                try await body($0)
            }
        }
    }
}
