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
/// ## Ordering
/// What the operation returned or threw before the caller left counts, even if the limit is over when the caller hears of it: as when the
/// caller's actor was busy.
///
/// - Parameters:
///   - duration: The limit. With zero or less, such as what is left of a deadline that has passed, the operation does not begin and
///     ``TimeoutError`` is thrown. A limit of more than 100 years is one of 100 years.
///   - name: The name of the operation's task in diagnostics. `nil`: the caller's.
///   - clock: Measures the time.
///   - operation: Runs in a task of its own, in the isolation in which it is written, with the caller's task-locals and priority. Where that is
///     the caller's, as in a function of an actor, it must not block: the caller could not return either.
/// - Returns: What the operation returns.
/// - Throws: ``TimeoutError`` at the limit; what the operation throws before; `CancellationError` if the caller is cancelled; what the clock
///   throws, if it cannot sleep: then the operation is cancelled and abandoned, as at the limit.
@inlinable
public nonisolated(nonsending) func withDetachedTimeout<Value: Sendable, C: Clock>(
    _ duration: Duration,
    name: String? = nil,
    clock: C = ContinuousClock(),
    @_inheritActorContext @_implicitSelfCapture
    operation: sending @escaping @isolated(any) () async throws -> Value
) async throws -> Value where C.Duration == Duration {
    // A flight that nothing else joins: its caller can stop waiting, which cancels it.
    let operation = received(operation)
    var arrived: Result<Value, any Error>?
    do {
        return try await withTimeout(duration, clock: clock) {
            arrived = await (try _TimeLimit.abandonable.join(nil, name: name, operation: operation))?.result()
            guard let arrived else { throw CancellationError() }
            return try arrived.get()
        }
    } catch {
        // The operation had ended, and the limit came before the caller resumed.
        if !Task.isCancelled, let arrived { return try arrived.get() }
        throw error
    }
}

extension _TimeLimit {
    /// The operations of this process that may be abandoned at their limit.
    @usableFromInline static let abandonable = _FlightTable(origin: .withDetachedTimeout, reportsAbandoned: true)
}
