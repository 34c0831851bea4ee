public import TaskControl

/// The error of a call that was refused because its wait for a ``RateLimiter`` would have been too long.
public struct RateLimitExceededError: Error, Hashable, Sendable, RetryAfterProviding, LocalRefusal,
    CustomStringConvertible
{
    /// The name of the limiter; `nil` if it has none.
    public let name: String?

    /// The time after which the call would have been admitted; never `nil`.
    ///
    /// The function `retry` of TaskControl waits at least this long before the next attempt. If one of its limits, such
    /// as the cap of its backoff, does not allow that, `retry` throws this error instead.
    public let retryAfter: Duration?

    /// Creates the error, for tests of code that handles it.
    ///
    /// - Parameters:
    ///   - name: The name of the limiter; `nil` if it has none.
    ///   - retryAfter: The time after which the call would have been admitted.
    public init(name: String? = nil, retryAfter: Duration) {
        self.name = name
        self.retryAfter = retryAfter
    }

    /// A text with the name of the limiter, and the time after which the call would have been admitted.
    public var description: String {
        "the rate limiter\(name.map { " \($0)" } ?? "") would admit the call in \(retryAfter ?? .zero), which is too long to wait"
    }
}
