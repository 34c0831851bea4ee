public import TaskControl

/// The error of a call that an ``AdaptiveLimiter`` has refused, because too many calls wait, or because its deadline would pass before it began.
public struct ConcurrencyLimitError: Error, Hashable, Sendable, RetryAfterProviding, LocalRefusal,
    CustomStringConvertible
{
    /// The name of the limiter; `nil` if it has none.
    public let name: String?

    /// The time after which the calls in line have probably begun; `nil` if the limiter does not know yet how long calls take. `retry` waits for this
    /// time, or throws the error if its limits do not allow that.
    public let retryAfter: Duration?

    /// Creates the error, for tests of code that handles it.
    ///
    /// - Parameters:
    ///   - name: The name of the limiter.
    ///   - retryAfter: The time after which the calls in line have probably begun.
    public init(name: String? = nil, retryAfter: Duration? = nil) {
        self.name = name
        self.retryAfter = retryAfter
    }

    /// The name of the limiter, and the time after which the calls in line have probably begun.
    public var description: String {
        let time = retryAfter.map { ", for about \($0)" } ?? ""
        return "too many calls wait for the adaptive limiter\(name.map { " \($0)" } ?? "")\(time)"
    }
}
