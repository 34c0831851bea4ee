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
/// task. If not, the poll ends at once, without the delay. A hint of the error (see ``RetryAfterProviding``) extends the
/// delay as in `retry`. With a limit, a value counts if the condition has accepted it before the limit, by the
/// clock; at the limit, it is late.
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
///   - clock: Measures the delays and the limit.
///   - shouldRetry: Returns whether another call may follow an error of the operation; if `false`, the error is thrown.
///     By default ``RetryPolicy/isWorthRetrying(_:)``.
///   - operation: The call. Must be safe to repeat.
///   - condition: Returns whether the value is the awaited one. An error that it throws ends the poll.
/// - Returns: The first value that satisfies the condition.
/// - Throws: `CancellationError` if the caller is cancelled and no value is returned, also if a `withDeadline` around the
///   poll cancels it: that call throws ``DeadlineExceededError`` to its own caller. Otherwise ``PollTimeoutError``,
///   with the last value and the last error, if the condition did not hold before the limit, or would not be tested
///   again before the deadline of the task; the error of the operation after which no further call may follow; the
///   error of the condition; the error of the clock, if the clock cannot sleep.
/// - Complexity: O(1) per call.
public nonisolated(nonsending) func poll<Value: Sendable, C: Clock>(
    every backoff: RetryBackoff = .exponential(base: .seconds(1), factor: 1.5).capped(at: .seconds(15)).jittered(
        .equal
    ),
    within limit: Duration? = nil,
    clock: C = ContinuousClock(),
    shouldRetry: (any Error) -> Bool = RetryPolicy.isWorthRetrying,
    operation: nonisolated(nonsending) () async throws -> Value,
    until condition: (Value) throws -> Bool
) async throws -> Value where C.Duration == Duration {
    var run = PollRun<Value>(backoff)
    let end: PollRun<Value>.End
    do {
        if let limit {
            end = try await withDeadline(in: limit, clock: clock) {
                await run.run(clock, shouldRetry, operation, condition)
            }
        } else {
            end = await run.run(clock, shouldRetry, operation, condition)
        }
    } catch is DeadlineExceededError {
        end = .timedOut
    } catch {
        end = .failed(error)
    }
    return try run.value(of: end)
}

/// One call of `poll`: makes the calls of the operation, and emits the events.
private struct PollRun<Value: Sendable> {
    /// How the loop of calls has ended. Not a thrown error, so that an error of the operation is not taken for that of
    /// the limit.
    enum End {
        case found(Value)
        case timedOut
        case failed(any Error)
    }

    private var progress: PollProgress<Value>
    /// The events of the poll, from its first unsuccessful call on.
    private var events: CallEvents?
    private var loop = FairLoop()

    init(_ backoff: RetryBackoff) {
        progress = PollProgress(backoff)
    }

    nonisolated(nonsending) mutating func run(
        _ clock: some Clock<Duration>,
        _ shouldRetry: (any Error) -> Bool,
        _ operation: nonisolated(nonsending) () async throws -> Value,
        _ condition: (Value) throws -> Bool
    ) async -> End {
        do {
            try Task.checkCancellation()
            while true {
                let step: PollProgress<Value>.Step
                switch await result(of: operation) {
                case .success(let value):
                    progress.record(value)
                    if try condition(value) { return .found(value) }
                    try Task.checkCancellation()
                    step = progress.afterValue(remaining: Deadline.current?.remaining)
                    emit(.unsatisfied, nil)
                case .failure(let error):
                    // The error of a call that was cancelled is a consequence of the cancellation.
                    try Task.checkCancellation()
                    progress.record(error)
                    emit(.failed, error)
                    guard shouldRetry(error) else { throw error }
                    let hint = _retryAfter(of: error)
                    step = progress.afterError(error, hint: hint, remaining: Deadline.current?.remaining)
                }
                switch step {
                case .wait(let delay): try await wait(delay, clock)
                case .endInTimeout: return .timedOut
                case .fail(let error): throw error
                }
            }
        } catch {
            return .failed(error)
        }
    }

    private nonisolated(nonsending) func result(
        of operation: nonisolated(nonsending) () async throws -> Value
    ) async -> Result<Value, any Error> {
        do { return .success(try await operation()) } catch { return .failure(error) }
    }

    private nonisolated(nonsending) mutating func wait(_ delay: Duration, _ clock: some Clock<Duration>) async throws {
        events?.emit(.waiting, .entered(.waiting), attempt: progress.calls, delay: delay)
        if delay > .zero {
            try await sleep(for: delay, on: clock)
        } else if loop.mustYield() {
            await Task.yield()
        }
        try Task.checkCancellation()
        events?.emit(.retrying, .entered(.running), attempt: progress.calls + 1)
    }

    /// Returns the value that the caller of `poll` receives, or throws its error, and emits the last event.
    func value(of end: End) throws -> Value {
        switch end {
        case .found(let value):
            events?.end(.succeeded, .completed, attempt: progress.calls)
            return value
        // A cancelled caller receives CancellationError, regardless of how the calls have ended.
        case .timedOut where Task.isCancelled, .failed where Task.isCancelled:
            throw ended(.gaveUp, CancellationError())
        case .timedOut:
            throw ended(.timedOut, progress.timeout)
        case .failed(let error):
            throw ended(.gaveUp, error)
        }
    }

    private func ended(_ kind: TaskEvent.Kind, _ error: any Error) -> any Error {
        events?.end(kind, .failed, error: error, attempt: progress.calls)
        return error
    }

    private mutating func emit(_ kind: TaskEvent.Kind, _ error: (any Error)?) {
        if let events {
            events.emit(kind, error: error, attempt: progress.calls)
        } else {
            events = CallEvents.begin(.poll, kind, .running, error: error, attempt: progress.calls)
        }
    }
}
