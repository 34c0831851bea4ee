public import TaskControl

/// The error of a call that was refused because a ``CircuitBreaker`` is open: the operation did not begin.
public struct CircuitOpenError: Error, Hashable, Sendable, RetryAfterProviding, LocalRefusal, CustomStringConvertible {
    /// The name of the breaker; `nil` if it has none.
    public let name: String?

    /// The time after which the breaker admits a call again, unless its state changes earlier; never `nil`. `retry`
    /// waits for this time, or throws the error if its limits do not allow that.
    public let retryAfter: Duration?

    /// Creates the error, for tests of code that handles it.
    ///
    /// - Parameters:
    ///   - name: The name of the breaker.
    ///   - retryAfter: The time until the breaker admits a call again.
    public init(name: String? = nil, retryAfter: Duration) {
        self.name = name
        self.retryAfter = retryAfter
    }

    /// The name of the breaker, and the time until it admits a call.
    public var description: String {
        "the circuit breaker\(name.map { " \($0)" } ?? "") is open, and admits a call in \(retryAfter ?? .zero)"
    }
}
