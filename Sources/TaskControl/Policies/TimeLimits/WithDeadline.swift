/// Runs an operation with a deadline that is a duration from now. Behaves otherwise like
/// ``withDeadline(_:operation:)``.
///
/// ```swift
/// let page = try await withDeadline(in: .seconds(2)) {
///     try await fetch(url)
/// }
/// ```
///
/// ## Cancellation
/// Cancellation has the same effect as in ``withDeadline(_:operation:)``.
///
/// - Parameters:
///   - duration: The time from now to the deadline. With zero or less, the operation does not begin, and
///     ``DeadlineExceededError`` is thrown. A duration of more than 100 years counts as 100 years.
///   - clock: The clock that measures the time.
///   - operation: Runs in the caller's isolation.
/// - Returns: The result of the operation.
/// - Throws: The same errors as ``withDeadline(_:operation:)``.
public nonisolated(nonsending) func withDeadline<Value>(
    in duration: Duration,
    clock: some Clock<Duration> = ContinuousClock(),
    operation: nonisolated(nonsending) () async throws -> Value
) async throws -> Value {
    try await withDeadline(Deadline(in: duration, clock: clock), operation: operation)
}

/// Runs an operation with a deadline at an instant of a clock. Behaves otherwise like ``withDeadline(_:operation:)``.
///
/// ## Cancellation
/// Cancellation has the same effect as in ``withDeadline(_:operation:)``.
///
/// - Parameters:
///   - instant: The instant of the deadline.
///   - clock: The clock that measures `instant`.
///   - operation: Runs in the caller's isolation.
/// - Returns: The result of the operation.
/// - Throws: The same errors as ``withDeadline(_:operation:)``.
public nonisolated(nonsending) func withDeadline<Value, C: Clock>(
    _ instant: C.Instant,
    clock: C,
    operation: nonisolated(nonsending) () async throws -> Value
) async throws -> Value where C.Duration == Duration {
    try await withDeadline(Deadline(instant, clock: clock), operation: operation)
}

/// Runs an operation with a deadline, which the calls and tasks of the operation inherit.
///
/// ```swift
/// // In a server: the client has sent how long it waits.
/// try await withDeadline(Deadline(in: remaining)) { try await answer(request) }
/// ```
///
/// At the deadline, the operation is cancelled and awaited. The operation, its child tasks, and the unstructured tasks
/// that it creates (except detached ones) can read the deadline from `Task.currentDeadline`. The deadline cancels the
/// operation and its child tasks, but not the unstructured tasks.
///
/// A deadline that is not before the caller's own deadline has no effect, and costs no timer: the operation has the
/// caller's deadline, and its error is thrown unchanged. (Inside a flight such a deadline has its usual effect, because
/// the deadline of the flight can become later.)
///
/// A flight is one run of an operation for several callers: see ``withSingleFlight(key:operation:)`` and
/// ``SingleFlight``. A flight that continues without callers (``AbandonedFlightBehavior/finish``) and a load of a
/// `CachedFlight` have no deadline. Any other flight has the latest deadline of its callers, and none if one of the
/// callers has none. Each caller stops waiting at its own deadline; when all callers have stopped waiting, the flight
/// is cancelled, unless it continues without callers.
///
/// `retry` makes no attempt that would begin after the deadline, and throws the error of the last attempt instead.
///
/// The differences from `withDeadline` of SE-0526, which is not in a release yet: a value that the operation returns
/// after the deadline is not returned here, and the error is ``DeadlineExceededError``, not that of the operation.
///
/// ## Cancellation
/// The operation of a caller that was cancelled before the call does not begin, and `CancellationError` is thrown. If
/// the caller is cancelled later, the call cancels the operation, waits for its end, and throws `CancellationError`,
/// unless the operation returns a value before the deadline. In a call whose deadline has no effect, the operation is
/// cancelled together with its caller, and the call returns the value or throws the error of the operation.
///
/// ## Ordering
/// The clock decides whether the operation ends before its deadline, as for ``withTimeout(_:clock:operation:)``: at the
/// deadline, it is late.
///
/// - Parameters:
///   - deadline: The deadline. If it has passed before the call, the operation does not begin.
///   - operation: Runs in the caller's isolation, in a child task if the deadline needs a timer.
/// - Returns: The result of the operation.
/// - Throws: `CancellationError` if the caller is cancelled and no value is returned; otherwise
///   ``DeadlineExceededError`` at the deadline, or if the deadline has passed before the call; the error of the
///   operation, if the operation throws before the deadline; the error of the clock, if the clock cannot sleep. If the
///   deadline has no effect, and the operation has begun: only the error of the operation.
@export(implementation)
public nonisolated(nonsending) func withDeadline<Value>(
    _ deadline: Deadline,
    operation: nonisolated(nonsending) () async throws -> Value
) async throws -> Value {
    if try _isInherited(deadline) { return try await operation() }
    return try await _withEarlierDeadline(deadline, operation)
}

/// Returns whether the deadline of the current task cancels an operation no later than `deadline` would: no timer is
/// then needed. Returns `false` inside a flight, whose deadline can become later.
///
/// - Throws: `CancellationError` if the current task is cancelled; ``DeadlineExceededError`` if the deadline of the
///   current task has passed and is not after `deadline`.
@usableFromInline
func _isInherited(_ deadline: Deadline) throws -> Bool {
    if _isTaskCancelled { throw CancellationError() }
    guard let inherited = Deadline.local, let outer = inherited.current, !deadline.isBefore(outer) else { return false }
    if outer.hasPassed { throw DeadlineExceededError() }
    // In a flight, the outer deadline becomes later if a caller with a later deadline joins.
    return inherited.latest == nil
}

@usableFromInline
nonisolated(nonsending) func _withEarlierDeadline<Value>(
    _ deadline: Deadline,
    _ operation: nonisolated(nonsending) () async throws -> Value
) async throws -> Value {
    do {
        let inherited = Deadline.local?.limited(by: deadline) ?? Deadline.Inherited(fixed: deadline, latest: nil)
        return try await Deadline.$local.withValue(inherited) {
            try await limited(deadline.remaining, clock: deadline.clock) {
                do { return try await operation() } catch let error as TimeoutError {
                    throw InnerTimeoutError(error: error)
                }
            }
        }
    } catch is TimeoutError {
        throw DeadlineExceededError()
    } catch let inner as InnerTimeoutError {
        throw inner.error
    }
}

/// A `TimeoutError` that the operation of `withDeadline` threw, to distinguish it from that of the deadline.
private struct InnerTimeoutError: EventDescribable {
    let error: TimeoutError

    var eventText: String { Diagnostics.text(of: error) }
}

/// Runs an operation with a time limit of `duration`. The function is generic over the clock, because the type of a
/// deadline's clock is known only at run time.
private nonisolated(nonsending) func limited<Value>(
    _ duration: Duration,
    clock: some Clock<Duration>,
    operation: nonisolated(nonsending) () async throws -> Value
) async throws -> Value {
    try await withTimeout(duration, clock: clock, operation: operation)
}

/// Runs an operation without the deadline of its caller, for work that must be completed even if the deadline has
/// passed, such as releasing a resource.
///
/// The operation, and the tasks that it creates, have no deadline. The operation is still cancelled if its caller is
/// cancelled, even by the caller's deadline. For work that must continue even then, start a task of an owner, such as
/// an ``AsyncLifetime``.
///
/// - Parameter operation: Runs in the caller's isolation.
/// - Returns: The result of the operation.
/// - Throws: The error of the operation.
public nonisolated(nonsending) func withoutDeadline<Value>(
    operation: nonisolated(nonsending) () async throws -> Value
) async rethrows -> Value {
    guard Deadline.local != nil else { return try await operation() }
    return try await Deadline.$local.withValue(nil, operation: operation)
}

/// Runs an operation without the deadline of its caller, and outside the turns and flights that the caller is inside of:
/// for work that continues when its caller has gone, and that no caller waits for.
///
/// - Parameter operation: Runs in the caller's isolation.
/// - Throws: The error of the operation.
package nonisolated(nonsending) func withoutCallersContext<Value>(
    operation: nonisolated(nonsending) () async throws -> Value
) async rethrows -> Value {
    try await _Places.local.withValue(.none) { try await withoutDeadline(operation: operation) }
}
