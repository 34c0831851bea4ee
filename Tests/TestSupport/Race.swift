package import TaskControlTesting

/// Runs a race under 10,000 schedules. The line that repeats a schedule that fails names the race.
package func race(
    fileID: String = #fileID,
    filePath: String = #filePath,
    line: Int = #line,
    column: Int = #column,
    _ body: @escaping @Sendable (Simulation) async throws -> Void
) async throws {
    try await offThePool {
        try simulate(
            seeds: Schedules.seeds(10_000, inDebug: 100),
            fileID: fileID,
            filePath: filePath,
            line: line,
            column: column
        ) { try await body($0) }
    }
}
