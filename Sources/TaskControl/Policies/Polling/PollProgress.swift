/// The calls of one poll so far. Decides what follows a call that has ended. A value without effects: it reads no clock
/// and calls no operation.
struct PollProgress<Value: Sendable> {
    enum Step {
        /// Wait for the delay, and call again.
        case wait(Duration)
        /// The next call would not begin in time: end the poll with ``timeout``.
        case endInTimeout
        /// End the poll with the error.
        case fail(any Error)
    }

    private(set) var calls = 0
    private var lastValue: Value?
    private var lastError: (any Error)?
    private var schedule: RetrySchedule

    init(_ backoff: RetryBackoff) {
        schedule = RetrySchedule(backoff)
    }

    /// The error of a poll that ends now because its time is over.
    var timeout: PollTimeoutError<Value> {
        PollTimeoutError(calls: calls, lastValue: lastValue, lastError: lastError)
    }

    /// Records the value of a call that has ended.
    mutating func record(_ value: Value) {
        calls += 1
        (lastValue, lastError) = (value, nil)
    }

    /// Records the error of a call that has ended.
    mutating func record(_ error: any Error) {
        calls += 1
        lastError = error
    }

    /// Returns the step after a call whose value did not satisfy the condition.
    ///
    /// - Parameter remaining: The time until the limit or the deadline; `nil` for none.
    mutating func afterValue(remaining: Duration?) -> Step {
        guard let delay = schedule.delay(afterAttempt: calls, error: timeout, hint: nil) else { return .endInTimeout }
        return isInTime(delay, remaining) ? .wait(delay) : .endInTimeout
    }

    /// Returns the step after a call that failed with an error after which another call may follow.
    ///
    /// - Parameters:
    ///   - hint: The delay that the error requests; `nil` for none.
    ///   - remaining: The time until the limit or the deadline; `nil` for none.
    mutating func afterError(_ error: any Error, hint: Duration?, remaining: Duration?) -> Step {
        guard let delay = schedule.delay(afterAttempt: calls, error: error, hint: hint) else { return .fail(error) }
        return isInTime(delay, remaining) ? .wait(delay) : .endInTimeout
    }

    private func isInTime(_ delay: Duration, _ remaining: Duration?) -> Bool {
        remaining.map { delay < $0 } ?? true
    }
}
