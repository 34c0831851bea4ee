import TaskControlTesting
import TestSupport

/// Runs a race under 10,000 schedules. The line that repeats a schedule that fails names the race.
func race(
    fileID: String = #fileID,
    line: Int = #line,
    _ body: @escaping @Sendable (Simulation) async throws -> Void
) async throws {
    try await offThePool {
        try simulate(seeds: Schedules.seeds(10_000, inDebug: 100), fileID: fileID, line: line) {
            try await body($0)
        }
    }
}
