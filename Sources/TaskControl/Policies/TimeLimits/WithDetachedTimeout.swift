/// Runs an operation with a time limit, for work that may ignore its cancellation: throws at the limit, even if the
/// operation has not ended, if a thread of the global executor is free.
///
/// ```swift
/// let answer = try await withDetachedTimeout(.seconds(5), name: "legacy lookup") {
///     await legacy.lookup(name)      // may take minutes, and never looks at Task.isCancelled
/// }
/// ```
///
/// The operation runs in a task of its own. At the limit the task is cancelled and no longer awaited. It may continue
/// to run and to hold its resources. When a task that is no longer awaited ends, its end is reported to diagnostics,
/// with its name and its error.
///
/// The limit needs a thread of the global executor, even for a caller on the main actor. While work that never suspends
/// holds all of these threads, as many as the machine has cores, no limit takes effect: the call throws as soon as a
/// thread is free. Call code that blocks its thread on a thread of your own instead, such as a dispatch queue.
///
/// Related: ``withTimeout(_:clock:operation:)`` is structured. Prefer it if the operation respects its cancellation.
///
/// ## Cancellation
/// A caller that is cancelled while it waits receives `CancellationError` at once, and the operation is cancelled and
/// no longer awaited, as at the limit. The operation of a caller that was cancelled before the call does not begin.
///
/// ## Ordering
/// The clock decides, which is read once when the operation ends, as for ``withTimeout(_:clock:operation:)``. If the
/// operation ends before the limit, the caller receives its value or error, even if the limit has passed by the time
/// that the caller resumes, for example because its actor was busy. The exception is a caller that is cancelled
/// meanwhile: it may receive `CancellationError` instead. A value or an error at the limit or after it does not count.
///
/// - Parameters:
///   - duration: The time limit, measured from the call. With zero or less, such as the remaining time of a deadline
///     that has passed, the operation does not begin and ``TimeoutError`` is thrown. A limit of more than 100 years
///     counts as 100 years.
///   - name: The name of the operation's task. `nil`: the name of the caller's task.
///   - clock: Measures the time.
///   - operation: Runs in a task of its own, in the isolation in which it is written, with the caller's task-locals and
///     priority. If that isolation is the caller's, as in a function of an actor, the operation must not block: the
///     caller could not return either.
/// - Returns: The value of the operation.
/// - Throws: ``TimeoutError`` at the limit; the error of the operation, if the operation throws before the limit;
///   `CancellationError` if the caller is cancelled before it has received a result; the error of the clock, if the
///   clock cannot sleep: the operation is then cancelled and no longer awaited, as at the limit.
@export(implementation)
public nonisolated(nonsending) func withDetachedTimeout<Value: Sendable, C: Clock>(
    _ duration: Duration,
    name: String? = nil,
    clock: C = ContinuousClock(),
    @_inheritActorContext @_implicitSelfCapture
    operation: sending @escaping @isolated(any) () async throws -> Value
) async throws -> Value where C.Duration == Duration {
    // The operation is a flight without a key, which no other caller joins: if its caller stops waiting, the flight is
    // cancelled.
    try _TimeLimit.check(duration)
    let limit = StopwatchLimit(duration, of: Stopwatch(clock))
    let operation = received(operation)
    guard let caller = try _TimeLimit.abandonable.join(nil, name: name, limit: limit, operation: operation) else {
        throw CancellationError()
    }
    return try await caller.value(within: limit)
}

extension _TimeLimit {
    /// The running operations of all calls of `withDetachedTimeout`, including those that ignored their cancellation at
    /// the limit. Each operation is stored as a flight with one caller (see ``SingleFlight``).
    @usableFromInline static var abandonable: _FlightTable {
        ProcessValues.value(of: Self.self, abandonableOfProcess, make: makeAbandonable)
    }

    private static let abandonableOfProcess = makeAbandonable()

    private static func makeAbandonable() -> _FlightTable {
        _FlightTable(origin: .withDetachedTimeout, unheard: .endIsReported)
    }
}
