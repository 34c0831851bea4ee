import TaskControl

extension EtcdConnection {
    /// Runs an operation with a time limit on the connection's clock, and returns its value. Throws `TimeoutError` if the limit is reached.
    ///
    /// Swift 6.3 passes a clock of unknown type to a generic function only in a file that does not import Foundation.
    func withTimeLimit<Value: Sendable>(
        _ limit: Duration,
        _ operation: nonisolated(nonsending) () async throws -> Value
    ) async throws -> Value {
        try await withTimeout(limit, clock: clock, operation: operation)
    }
}
