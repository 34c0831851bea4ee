/// The attempts of one call of `retry` or `poll`: decides whether another attempt follows one that has failed, and after which delay.
struct AttemptStateMachine {
    /// The number of the attempt that runs, or that follows the delay, counted from 1.
    private(set) var number = 1
    /// The number of tokens that the last repetition has taken from the budget; `nil` if it has taken none.
    private(set) var tokens: Int?
    private let attempts: Int
    private let maxElapsed: Duration?
    private var schedule: RetrySchedule

    /// - Parameters:
    ///   - attempts: The number of attempts that are allowed.
    ///   - maxElapsed: The time in which further attempts may begin; `nil` for no limit.
    init(attempts: Int, backoff: RetryBackoff, maxElapsed: Duration?) {
        self.attempts = attempts
        self.maxElapsed = maxElapsed
        schedule = RetrySchedule(backoff)
    }

    /// Whether the number of attempts is not used up.
    var mayRepeat: Bool { number < attempts }

    /// Returns the delay after the attempt, which has failed with an error; `nil` if there must be no further attempt.
    ///
    /// - Parameter hint: The delay that the error requests; `nil` for none.
    mutating func delay(after error: any Error, hint: Duration?) -> Duration? {
        schedule.delay(afterAttempt: number, error: error, hint: hint)
    }

    /// Returns whether the attempt after a delay would begin in time.
    ///
    /// - Parameters:
    ///   - elapsed: The time since the call; `nil` if it has no `maxElapsed`.
    ///   - remaining: The time until the deadline of the task; `nil` for none.
    func isInTime(_ delay: Duration, elapsed: Duration?, remaining: Duration?) -> Bool {
        if let remaining, remaining <= delay { return false }
        guard let maxElapsed, let elapsed else { return true }
        return elapsed.saturatingAdding(delay) <= maxElapsed
    }

    /// Returns the time in which the next attempt must begin; `nil` for no limit.
    ///
    /// - Parameter elapsed: The time since the call.
    func rest(elapsed: Duration) -> Duration? { maxElapsed.map { max(.zero, $0.saturated - elapsed) } }

    /// Records the tokens that the next attempt has taken from the budget; `nil` for none.
    mutating func take(_ tokens: Int?) { self.tokens = tokens }

    /// Begins the next attempt.
    mutating func next() { number += 1 }
}
