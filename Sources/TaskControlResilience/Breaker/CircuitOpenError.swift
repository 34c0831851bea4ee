public import TaskControl

/// The error of a call that a ``CircuitBreaker`` has refused, because the breaker is open, or is half-open while enough
/// probes run. The operation of the call did not begin.
public struct CircuitOpenError: Error, Hashable, Sendable, RetryAfterProviding, LocalRefusal, CustomStringConvertible {
    /// The name of the breaker; `nil` if it has none.
    public let name: String?

    /// The time after which the breaker admits a call again, unless its state changes earlier; never `nil`.
    ///
    /// The function `retry` of TaskControl waits at least this long before the next attempt. If one of its limits, such
    /// as the cap of its backoff, does not allow that, `retry` throws this error instead.
    public let retryAfter: Duration?

    /// Creates the error, for tests of code that handles it.
    ///
    /// - Parameters:
    ///   - name: The name of the breaker; `nil` if it has none.
    ///   - retryAfter: The time until the breaker admits a call again.
    public init(name: String? = nil, retryAfter: Duration) {
        self.name = name
        self.retryAfter = retryAfter
    }

    /// A text with the name of the breaker, and the time after which it admits a call again.
    public var description: String {
        "the circuit breaker\(name.map { " \($0)" } ?? "") is open, and admits a call in \(retryAfter ?? .zero)"
    }
}
