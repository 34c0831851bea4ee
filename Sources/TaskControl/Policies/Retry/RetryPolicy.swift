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
/// Copies of a policy share its budget. Create one policy per service, for example in a constant, so that an outage of
/// one service does not use up the retries of another.
public struct RetryPolicy: Sendable {
    /// The policy of a call of `retry` that passes neither a policy nor `attempts`, such as `retry { … }`. All such
    /// calls share the budget of this policy.
    public static let `default` = RetryPolicy()

    /// The number of attempts that are allowed, including the first. Less than 1 counts as 1.
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

    /// Creates a policy.
    ///
    /// - Parameters:
    ///   - attempts: The number of attempts that are allowed, including the first. Less than 1 counts as 1.
    ///   - backoff: The delays between the attempts. By default exponential from 50 ms, capped at 20 s, with full
    ///     jitter, as in the AWS SDKs.
    ///   - budget: The budget that limits the retries of all calls with this policy. By default a new budget: see
    ///     ``RetryBudget``. `nil`: no such limit.
    ///   - maxElapsed: The time after the call of `retry` in which further attempts may begin. If the delay before an
    ///     attempt would end later, the attempt is not made, and the last error is thrown. `nil`, the default: no
    ///     limit.
    ///   - shouldRetry: Returns whether another attempt may follow an error; if `false`, the error is thrown. By
    ///     default ``isWorthRetrying(_:)``.
    public init(
        attempts: Int = 3,
        backoff: RetryBackoff = .exponential(base: .milliseconds(50)).capped(at: .seconds(20)).jittered(.full),
        budget: RetryBudget? = RetryBudget(),
        maxElapsed: Duration? = nil,
        shouldRetry: @escaping @Sendable (any Error) -> Bool = RetryPolicy.isWorthRetrying
    ) {
        self.attempts = attempts
        self.backoff = backoff
        self.budget = budget
        self.maxElapsed = maxElapsed
        self.shouldRetry = shouldRetry
    }

    /// Returns whether another attempt could succeed after an error.
    ///
    /// Returns `false` for a `CancellationError`, an error of encoding or decoding, and a mistake in the program, such
    /// as ``SingleFlightReentrancyError`` and ``QueueReentrancyError``; `true` for every other error.
    public static func isWorthRetrying(_ error: any Error) -> Bool {
        switch error {
        case is CancellationError, is DecodingError, is EncodingError: false
        case is any ProgrammingMistake: false
        default: true
        }
    }
}
