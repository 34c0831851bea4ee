/// A runner of operations that are cancelled, and no longer awaited, when their caller is cancelled.
///
/// Each operation runs in a task of its own. If the caller has stopped waiting, the end of the task is reported to
/// diagnostics.
package struct AbandonableWork: Sendable {
    private let flights: _FlightTable

    package init(_ origin: TaskOrigin) {
        flights = _FlightTable(origin: origin, unheard: .endIsReported)
    }

    /// Runs an operation in a task of its own, and waits for its result.
    ///
    /// - Parameter name: The name of the task; `nil` for the name of the caller's task.
    /// - Throws: The error of the operation; `CancellationError` immediately if the caller is cancelled. If the caller
    ///   was cancelled before the call, the operation does not begin.
    package nonisolated(nonsending) func run<Value: Sendable>(
        name: String?,
        _ operation: @escaping @Sendable @isolated(any) () async throws -> Value
    ) async throws -> Value {
        // A flight that nothing else joins: its caller can stop waiting, which cancels it.
        guard let caller = try flights.join(nil, name: name, operation: operation) else { throw CancellationError() }
        return try await caller.value()
    }
}
