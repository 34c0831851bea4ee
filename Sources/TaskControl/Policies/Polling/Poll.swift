/// Calls an operation repeatedly until its value satisfies a condition, and returns that value.
///
/// ```swift
/// // At most two minutes, with growing delays between the calls.
/// let items = try await poll(within: .seconds(120)) {
///     try await api.fetchFeed()
/// } until: { items in
///     !items.isEmpty
/// }
/// ```
///
/// The first call is made at once. The delay between the end of a call and the next call is that of the backoff, which
/// is also used for calls that fail. An error that is not worth another call ends the poll, and so does an error that
/// the condition throws: this is how a state that never changes again is reported.
///
/// ```swift
/// struct Refused: Error {}
///
/// let items = try await poll(every: .fixed(.seconds(5)), within: .seconds(120)) {
///     try await api.fetchFeed()
/// } until: { items in
///     if items.count > 100 { throw Refused() }
///     return !items.isEmpty
/// }
/// ```
///
/// The operation and the condition run in the caller's isolation. A call that hangs is ended by `limit` only: to limit
/// each call, use ``withTimeout(_:clock:operation:)`` inside the operation.
///
/// Related: `retry` repeats an operation until it does not throw, a few times. `every` of `TaskControlSupervision` calls
/// an operation at regular times for as long as an owner exists.
///
/// ## Ordering
/// After a call that returns a value, the condition is called once. If it does not hold, or the call failed and another
/// call may follow, the delay begins if the next call would begin before the limit, and before the ``Deadline`` of the
/// task. If not, the poll ends at once, without the delay. No other call follows either if the owner of the task is being
/// shut down with ``WaitingWorkBehavior/cancel``, which is checked before and after the delay. A hint of the error (see
/// ``RetryAdvising``) extends the delay as in `retry`. With a limit, a value counts if the condition has accepted it
/// before the limit, by the clock; at the limit, it is late.
///
/// ## Cancellation
/// If the caller was cancelled before the poll, no call is made, and `CancellationError` is thrown. If the caller is
/// cancelled later, the running call is cancelled and awaited, a delay ends immediately, and `CancellationError` is
/// thrown, regardless of the operation's error. If the call returns a value that satisfies the condition, the poll
/// returns it, even if the caller was cancelled during the call.
///
/// - Parameters:
///   - backoff: The delays between the calls. By default exponential from 1 s, by a factor of 1.5, capped at 15 s, with
///     equal jitter: at least half of each delay. The closure of ``RetryBackoff/custom(_:)`` receives the error of a
///     call that failed; after a call whose value did not satisfy the condition, it receives the ``PollTimeoutError``
///     with that value. If it returns `nil`, there is no further call, and the error that it received is thrown.
///   - limit: The time limit, measured from the call of `poll`, which the operation inherits as its ``Deadline``: the
///     running call is cancelled and awaited at the limit. With zero or less, no call is made. `nil`, the default: the
///     poll ends with its condition, with an error, with the deadline of the task, or with a cancellation.
///   - calls: The most calls of the operation; `nil`, the default, for any number. Less than 1 counts as 1.
///   - clock: Measures the delays and the limit.
///   - shouldRetry: Returns whether another call may follow an error of the operation; if `false`, the error is thrown.
///     By default ``RetryPolicy/isWorthRetrying(_:)``.
///   - operation: The call. Must be safe to repeat.
///   - condition: Returns whether the value is the awaited one. An error that it throws ends the poll.
/// - Returns: The first value that satisfies the condition.
/// - Throws: `CancellationError` if the caller is cancelled and no value is returned, also if a `withDeadline` around the
///   poll cancels it: that call throws ``DeadlineExceededError`` to its own caller. Otherwise ``PollTimeoutError``,
///   with the last value and the last error, if the condition did not hold before the limit or in the last call, or would not be tested
///   again before the deadline of the task or because of a shutdown; the error of the operation after which no further
///   call may follow; the error of the condition; the error of the clock, if the clock cannot sleep.
/// - Complexity: O(1) per call.
public nonisolated(nonsending) func poll<Value: Sendable, C: Clock>(
    every backoff: RetryBackoff = .exponential(base: .seconds(1), factor: 1.5).capped(at: .seconds(15)).jittered(
        .equal
    ),
    within limit: Duration? = nil,
    calls: Int? = nil,
    clock: C = ContinuousClock(),
    shouldRetry: (any Error) -> Bool = RetryPolicy.isWorthRetrying,
    operation: nonisolated(nonsending) () async throws -> Value,
    until condition: (Value) throws -> Bool
) async throws -> Value where C.Duration == Duration {
    let most = calls.map { ComputedNumber.count($0, "poll(calls:)", .poll) } ?? .max
    var attempts = _Attempts(.poll, attempts: most, backoff: backoff, clock: clock)
    // The error of a poll whose time is over: the calls that have ended.
    var timeout = PollTimeoutError(calls: 0)
    var found: Value?
    nonisolated(nonsending) func run() async -> _Attempts.End {
        await attempts.run(after: nil, shouldRetry: shouldRetry, hint: _retryAfter(of:), onRetry: { _ in }) { number in
            let value: Value
            do {
                value = try await operation()
            } catch {
                // The error of a call that was cancelled is a consequence of the cancellation.
                if !Task.isCancelled {
                    timeout = PollTimeoutError(calls: number, lastValue: timeout.lastValue, lastError: error)
                }
                return .thrown(error)
            }
            timeout = PollTimeoutError(calls: number, lastValue: value)
            do {
                guard try condition(value) else { return .unsatisfied(timeout) }
            } catch {
                return .final(error)
            }
            found = value
            return nil
        }
    }
    let end: _Attempts.End
    do {
        end = if let limit { try await withDeadline(in: limit, clock: clock) { await run() } } else { await run() }
    } catch {
        end = error is DeadlineExceededError ? .late(error) : .failed(error)
    }
    func ended(_ kind: TaskEvent.Kind, _ error: any Error) -> any Error {
        attempts.emitEnd(kind, error)
        return error
    }
    switch end {
    case .succeeded:
        guard let found else { preconditionFailure("The last call has returned a value.") }
        attempts.emitEnd(.succeeded)
        return found
    // A cancelled caller receives CancellationError, regardless of how the calls have ended.
    case .failed where Task.isCancelled, .late where Task.isCancelled: throw ended(.gaveUp, CancellationError())
    case .failed(let error): throw ended(.gaveUp, error)
    case .late: throw ended(.timedOut, timeout)
    }
}
