/// Runs an operation with a deadline after a duration: see ``withDeadline(_:operation:)``.
///
/// ```swift
/// let page = try await withDeadline(in: .seconds(2)) {
///     try await fetch(url)
/// }
/// ```
///
/// ## Cancellation
/// The same as for ``withDeadline(_:operation:)``.
///
/// - Parameters:
///   - duration: The time from now to the deadline. With zero or less, the operation does not begin. A duration of more than 100 years counts as 100
///     years.
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

/// Runs an operation with a deadline at an instant of a clock: see ``withDeadline(_:operation:)``.
///
/// ## Cancellation
/// The same as for ``withDeadline(_:operation:)``.
///
/// - Parameters:
///   - instant: The instant of the deadline.
///   - clock: The clock of the instant.
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
/// At the deadline, the operation is cancelled and awaited. `Task.currentDeadline` is the deadline inside the operation, in its child tasks and
/// in the tasks that it creates; tasks that it does not await are not cancelled at the deadline.
///
/// A flight of ``withSingleFlight(key:operation:)`` or ``SingleFlight`` has the latest deadline of its callers, and none if one of them has none.
/// Each caller leaves the flight at its own deadline, and the last one to leave cancels it. A flight that continues without callers
/// (``AbandonedFlightBehavior/finish``) and a load of a `CachedFlight` have no deadline.
///
/// A deadline that is not before the caller's deadline changes nothing, and costs no timer: the caller's deadline cancels the operation earlier.
///
/// `retry` makes no attempt that would begin after the deadline, and throws the error of the last attempt instead.
///
/// The differences from `withDeadline` of SE-0526, which is not in a release yet: a value that the operation returns after the deadline is not
/// returned here, and the error is ``DeadlineExceededError``, not that of the operation.
///
/// ## Cancellation
/// A caller that is cancelled cancels the operation, waits for its end, and receives `CancellationError` if the operation fails, regardless of the
/// error it throws.
///
/// ## Ordering
/// If the operation ends at about the same time as its deadline, the first of them determines the result, as for
/// ``withTimeout(_:clock:operation:)``.
///
/// - Parameters:
///   - deadline: The deadline. If it has passed, the operation does not begin.
///   - operation: Runs in the caller's isolation, in a child task if the deadline needs a timer.
/// - Returns: The result of the operation.
/// - Throws: ``DeadlineExceededError`` at the deadline, or if it has passed; the error of the operation, if it throws before the deadline;
///   `CancellationError` if the caller is cancelled; the error of the clock, if it cannot sleep.
@inlinable
public nonisolated(nonsending) func withDeadline<Value>(
    _ deadline: Deadline,
    operation: nonisolated(nonsending) () async throws -> Value
) async throws -> Value {
    if try _isInherited(deadline) { return try await operation() }
    return try await _withEarlierDeadline(deadline, operation)
}

/// Returns whether the deadline of the current task cancels an operation no later than a given deadline would, so that no timer is needed.
///
/// - Throws: `CancellationError` if the current task is cancelled; ``DeadlineExceededError`` if its deadline has passed.
@usableFromInline
func _isInherited(_ deadline: Deadline) throws -> Bool {
    if _isTaskCancelled { throw CancellationError() }
    guard let inherited = Deadline.local, let outer = inherited.current, !deadline.isBefore(outer) else { return false }
    if outer.hasPassed { throw DeadlineExceededError() }
    // In a flight, a later caller may move the outer deadline behind this one.
    return inherited.latest == nil
}

@usableFromInline
nonisolated(nonsending) func _withEarlierDeadline<Value>(
    _ deadline: Deadline,
    _ operation: nonisolated(nonsending) () async throws -> Value
) async throws -> Value {
    // The error of an inner time limit stays what it is: only the limit below throws here.
    let result: Result<Value, any Error>
    do {
        let inherited = Deadline.local?.limited(by: deadline) ?? Deadline.Inherited(fixed: deadline, latest: nil)
        result = try await Deadline.$local.withValue(inherited) {
            try await limited(deadline.remaining, clock: deadline.clock) {
                do { return .success(try await operation()) } catch { return .failure(error) }
            }
        }
    } catch is TimeoutError {
        throw DeadlineExceededError()
    }
    if case .failure = result { try Task.checkCancellation() }
    return try result.get()
}

/// Runs an operation with a time limit. Generic over the clock, to open the type of `any Clock`.
private nonisolated(nonsending) func limited<Value>(
    _ duration: Duration,
    clock: some Clock<Duration>,
    operation: nonisolated(nonsending) () async throws -> Value
) async throws -> Value {
    try await withTimeout(duration, clock: clock, operation: operation)
}

/// Runs an operation without the deadline of its caller, for work that must be completed even if the deadline has passed, such as releasing a resource.
///
/// The operation, and the tasks that it creates, have no deadline. The operation is still cancelled with its caller, and so also
/// when the deadline cancels the caller: to let it continue, give it to an owner, such as an ``AsyncLifetime``.
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
