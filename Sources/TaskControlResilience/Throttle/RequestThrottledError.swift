public import TaskControl

/// The error of a call that a ``ClientThrottle`` refused, because the service has lately accepted too few calls. The
/// operation of the call did not begin.
public struct RequestThrottledError: Error, Hashable, Sendable, RetryAfterProviding, LocalRefusal,
    CustomStringConvertible
{
    /// The name of the throttle; `nil` if it has none.
    public let name: String?

    /// The time, counted from the refusal, after which the throttle certainly admits one call; never `nil`. If another
    /// caller makes this call first, a later call can be refused again.
    ///
    /// `retry` waits for this time before its next attempt; if its limits do not allow that, `retry` throws this error.
    public let retryAfter: Duration?

    /// Creates the error, for tests of code that handles it.
    ///
    /// - Parameters:
    ///   - name: The name of the throttle; `nil` if it has none.
    ///   - retryAfter: The time after which the throttle certainly admits one call: see ``retryAfter``.
    public init(name: String? = nil, retryAfter: Duration) {
        self.name = name
        self.retryAfter = retryAfter
    }

    /// A sentence that names the throttle, and states why the call was refused.
    public var description: String {
        "the client throttle\(name.map { " \($0)" } ?? "") refused the call, since the service refuses most calls"
    }
}
