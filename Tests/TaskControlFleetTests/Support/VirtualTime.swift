import TaskControl
import TaskControlTesting
import TestSupport

/// Runs a program in virtual time, under some schedules.
func inVirtualTime(
    _ count: UInt64 = 300,
    fileID: String = #fileID,
    filePath: String = #filePath,
    line: Int = #line,
    column: Int = #column,
    _ body: @escaping @Sendable (Simulation) async throws -> Void
) async throws {
    Diagnostics.keepQuiet()
    try await offThePool {
        try simulate(
            seeds: Schedules.seeds(count, inDebug: 4),
            fileID: fileID,
            filePath: filePath,
            line: line,
            column: column
        ) { try await body($0) }
    }
}

/// Returns the error of an operation; `nil`: it has none.
func failure(_ operation: nonisolated(nonsending) () async throws -> Void) async -> (any Error)? {
    do {
        try await operation()
        return nil
    } catch {
        return error
    }
}
