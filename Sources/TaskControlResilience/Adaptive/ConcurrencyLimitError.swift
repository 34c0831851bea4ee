public import TaskControl

/// The error of a call that an ``AdaptiveLimiter`` has refused: too many calls wait, or the deadline of the call would
/// probably pass before the limiter admitted the call.
public struct ConcurrencyLimitError: Error, Hashable, Sendable, RetryAfterProviding, LocalRefusal,
    CustomStringConvertible
{
    /// The name of the limiter; `nil` if it has none.
    public let name: String?

    /// The estimated time until the limiter has admitted all calls that were waiting when it refused this call; `nil`
    /// if it did not know yet how long calls take.
    ///
    /// The function `retry` of TaskControl waits at least this long before the next attempt. If one of its limits, such
    /// as the cap of its backoff, does not allow that, `retry` throws this error instead.
    public let retryAfter: Duration?

    /// Creates the error, for tests of code that handles it.
    ///
    /// - Parameters:
    ///   - name: The name of the limiter; `nil` if it has none.
    ///   - retryAfter: The estimated time until the limiter has admitted all waiting calls; `nil` if the time is not
    ///     known.
    public init(name: String? = nil, retryAfter: Duration? = nil) {
        self.name = name
        self.retryAfter = retryAfter
    }

    /// A text with the name of the limiter, and the estimated time until it has admitted all waiting calls, as far as
    /// both are known.
    public var description: String {
        let time = retryAfter.map { ", for about \($0)" } ?? ""
        return "too many calls wait for the adaptive limiter\(name.map { " \($0)" } ?? "")\(time)"
    }
}
