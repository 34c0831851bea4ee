/// Runs an operation with a time limit, for work that may ignore its cancellation: returns at the limit, whatever the operation does.
///
/// ```swift
/// let answer = try await withDetachedTimeout(.seconds(5), name: "legacy lookup") {
///     await legacy.lookup(name)      // blocks, polls, never looks at Task.isCancelled
/// }
/// ```
///
/// The operation runs in a task of its own. At the limit that is cancelled, and abandoned: it goes on for as long as it likes, and uses what it uses. When it
/// ends at last, that is reported to diagnostics, with its name and what it failed with.
///
/// Sibling: ``withTimeout(_:clock:operation:)`` is structured, and to be preferred wherever the operation respects its cancellation.
///
/// ## Cancellation
/// A caller that is cancelled gets `CancellationError` at once, and the operation is cancelled and abandoned as it is at the limit.
///
/// - Parameters:
///   - duration: The limit: zero or more. With zero the operation does not begin. What is longer than 100 years is 100 years.
///   - clock: Measures the time.
///   - name: Of the operation's task, for diagnostics. `nil`: the caller's.
///   - operation: Runs in a task of its own, in the isolation in which it is written, with the caller's task-locals and priority.
/// - Returns: What the operation returns.
/// - Throws: ``TimeoutError`` at the limit; what the operation throws before; `CancellationError` if the caller is cancelled.
@inlinable
public nonisolated(nonsending) func withDetachedTimeout<Value: Sendable, C: Clock>(
    _ duration: Duration,
    clock: C = ContinuousClock(),
    name: String? = nil,
    @_inheritActorContext @_implicitSelfCapture
    operation: sending @escaping @isolated(any) () async throws -> Value
) async throws -> Value where C.Duration == Duration {
    // A flight that nobody else joins: whoever waits for it can leave, and the last one to leave cancels it.
    let (flight, operation) = (TimeLimit.abandonable(), received(operation))
    return try await withTimeout(duration, clock: clock) {
        try await flight.board(nil, name: name, reentrancy: .reentrant(key: ""), operation: operation)
            .value(of: Value.self)
    }
}

extension TimeLimit {
    @usableFromInline
    static func abandonable() -> FlightStorage { FlightStorage(origin: "withDetachedTimeout", reportsAbandoned: true) }
}
