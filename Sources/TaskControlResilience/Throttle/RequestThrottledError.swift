public import TaskControl

/// The error of a call that was refused because a ``ClientThrottle`` limits the calls of a service that refuses most of them: the operation did not
/// begin.
public struct RequestThrottledError: Error, Hashable, Sendable, RetryAfterProviding, LocalRefusal,
    CustomStringConvertible
{
    /// The name of the throttle; `nil` if it has none.
    public let name: String?

    /// The longest time until the throttle admits the next call, which another caller can make first; never `nil`.
    /// `retry` waits for this time, or throws the error if its limits do not allow that.
    public let retryAfter: Duration?

    /// Creates the error, for tests of code that handles it.
    ///
    /// - Parameters:
    ///   - name: The name of the throttle.
    ///   - retryAfter: The longest time until the throttle admits the next call.
    public init(name: String? = nil, retryAfter: Duration) {
        self.name = name
        self.retryAfter = retryAfter
    }

    /// A sentence that names the throttle, and states why the call was refused.
    public var description: String {
        "the client throttle\(name.map { " \($0)" } ?? "") refused the call, since the service refuses most calls"
    }
}
