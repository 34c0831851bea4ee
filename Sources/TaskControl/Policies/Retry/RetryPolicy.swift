/// A rule for how often, after which delays, and after which errors
/// ``retry(_:clock:onRetry:operation:)-(_,_,_,()->Value)`` calls an operation again.
///
/// ```swift
/// extension RetryPolicy {
///     static let payments = RetryPolicy(attempts: 5, maxElapsed: .seconds(10))
/// }
///
/// let receipt = try await retry(.payments) { try await pay(order) }
/// ```
///
/// The defaults are safe for a service on a network: 3 attempts, a delay that grows from 50 ms to at most 20 s with
/// full jitter, and a budget, as in the standard mode of the AWS SDKs. Errors that would be the same the next time are
/// not retried: see ``isWorthRetrying(_:)``.
///
/// Copies of a policy share its budget, and so do all policies that one line of code creates: a policy that is written at
/// a call limits the retries of all executions of that call. Create one policy per service, for example in a constant,
/// so that an outage of one service does not use up the retries of another.
public struct RetryPolicy: Sendable {
    /// The policy of a call of `retry` that passes neither a policy nor `attempts`, such as `retry { … }`. All such
    /// calls share the budget of this policy.
    public static let `default` = RetryPolicy()

    /// The number of attempts that are allowed, including the first. If it is less than 1, `retry` makes none and throws
    /// ``NoAttemptError``.
    public var attempts: Int
    /// The delays between the attempts.
    public var backoff: RetryBackoff
    /// The budget that limits the retries of all calls with this policy together: see ``RetryBudget``. `nil`: no such
    /// limit.
    public var budget: RetryBudget?
    /// The time after the call of `retry` in which further attempts may begin; `nil` for no limit. If the delay before
    /// an attempt would end later, the attempt is not made, and the last error is thrown.
    public var maxElapsed: Duration?
    /// The closure that returns whether another attempt may follow an error; if `false`, the error is thrown.
    public var shouldRetry: @Sendable (any Error) -> Bool
    /// Returns the reports of a condition for which attempts wait, such as whether the network can be reached: see
    /// ``retry(attempts:backoff:shouldRetry:budget:maxElapsed:waitingFor:clock:onRetry:operation:)-(_,_,_,_,_,_,_,_,()->Value)``.
    /// `nil`: no condition.
    public var waitingFor: (@Sendable () async -> AsyncStream<Bool>)?

    /// Creates a policy.
    ///
    /// - Parameters:
    ///   - attempts: The number of attempts that are allowed, including the first.
    ///   - backoff: The delays between the attempts. By default exponential from 50 ms, capped at 20 s, with full
    ///     jitter, as in the AWS SDKs.
    ///   - budget: The budget that limits the retries of all calls with this policy. By default
    ///     ``RetryBudget/perCallSite``: all policies that this line of code creates have one budget. `nil`: no such limit.
    ///   - maxElapsed: The time after the call of `retry` in which further attempts may begin. If the delay before an
    ///     attempt would end later, the attempt is not made, and the last error is thrown. `nil`, the default: no
    ///     limit.
    ///   - shouldRetry: Returns whether another attempt may follow an error; if `false`, the error is thrown. By
    ///     default ``isWorthRetrying(_:)``.
    ///   - waitingFor: Returns the reports of a condition for which attempts wait. `nil`, the default: no condition.
    ///   - fileID: The file of the call, for ``RetryBudget/perCallSite``.
    ///   - line: The line of the call.
    ///   - column: The column of the call.
    public init(
        attempts: Int = 3,
        backoff: RetryBackoff = .exponential(base: .milliseconds(50)).capped(at: .seconds(20)).jittered(.full),
        budget: RetryBudget? = .perCallSite,
        maxElapsed: Duration? = nil,
        shouldRetry: @escaping @Sendable (any Error) -> Bool = RetryPolicy.isWorthRetrying,
        waitingFor: (@Sendable () async -> AsyncStream<Bool>)? = nil,
        fileID: StaticString = #fileID,
        line: Int = #line,
        column: Int = #column
    ) {
        self.attempts = attempts
        self.backoff = backoff
        self.budget = budget === RetryBudget.perCallSite ? .ofCallSite(fileID, line, column) : budget
        self.maxElapsed = maxElapsed
        self.shouldRetry = shouldRetry
        self.waitingFor = waitingFor
    }

    /// Returns whether another attempt could succeed after an error.
    ///
    /// Returns what the error states, if it conforms to ``RetryAdvising``. Otherwise returns `false` for an
    /// interruption, such as a `CancellationError`, an error of encoding or decoding, and a mistake in the program, such as
    /// ``ReentrancyError`` and ``ContinuationDroppedError``; `true` for every other error.
    public static func isWorthRetrying(_ error: any Error) -> Bool {
        if let error = error as? any RetryAdvising {
            error.isWorthRetrying
        } else {
            isWorthRetryingWithoutAdvice(error)
        }
    }

    /// Returns whether another attempt could succeed after an error, apart from what the error states.
    static func isWorthRetryingWithoutAdvice(_ error: any Error) -> Bool {
        switch error {
        case is DecodingError, is EncodingError, is any ProgrammingMistake: false
        case _ where isInterruption(error): false
        default: true
        }
    }
}
