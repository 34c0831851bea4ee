import TaskControlTesting
import TestSupport

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
