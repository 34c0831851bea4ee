public import TaskControl

/// The error of a call that an ``AdaptiveLimiter`` has refused, because too many calls wait, or because the deadline of
/// the call would pass before the call began.
public struct ConcurrencyLimitError: Error, Hashable, Sendable, RetryAfterProviding, LocalRefusal,
    CustomStringConvertible
{
    /// The name of the limiter; `nil` if it has none.
    public let name: String?

    /// The estimated time after which the waiting calls have begun; `nil` if the limiter does not know yet how long
    /// calls take. `retry` waits for this time, or throws the error if its limits do not allow that.
    public let retryAfter: Duration?

    /// Creates the error, for tests of code that handles it.
    ///
    /// - Parameters:
    ///   - name: The name of the limiter.
    ///   - retryAfter: The estimated time after which the waiting calls have begun; `nil` if it is unknown.
    public init(name: String? = nil, retryAfter: Duration? = nil) {
        self.name = name
        self.retryAfter = retryAfter
    }

    /// The name of the limiter, and the estimated time after which the waiting calls have begun.
    public var description: String {
        let time = retryAfter.map { ", for about \($0)" } ?? ""
        return "too many calls wait for the adaptive limiter\(name.map { " \($0)" } ?? "")\(time)"
    }
}
