/// Runs operations that their callers may abandon: each in a task of its own, which is cancelled when its caller leaves, and whose end is reported
/// then.
package struct AbandonableWork: Sendable {
    private let flights: _FlightTable

    package init(_ origin: TaskOrigin) {
        flights = _FlightTable(origin: origin, unheard: .endIsReported)
    }

    /// Runs an operation, and waits for it.
    ///
    /// - Parameter name: The name of the task. `nil` for that of the caller's task.
    /// - Throws: The error of the operation; `CancellationError` if the caller is cancelled, which leaves at once.
    package nonisolated(nonsending) func run<Value: Sendable>(
        name: String?,
        _ operation: @escaping @Sendable @isolated(any) () async throws -> Value
    ) async throws -> Value {
        // A flight that nothing else joins: its caller can stop waiting, which cancels it.
        guard let caller = try flights.join(nil, name: name, operation: operation) else { throw CancellationError() }
        return try await caller.value()
    }
}
