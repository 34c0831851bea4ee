public import TaskControl

/// The error of a call that a policy has refused. The operation of the call did not begin, or, if a part of its
/// attempts has refused it, did not begin again.
public struct CallRefusedError: Error, Hashable, Sendable, RetryAdvising, CustomStringConvertible {
    /// The reason for which a part refuses a call.
    public struct Reason: Hashable, Sendable, CustomStringConvertible {
        /// A ``CircuitBreaker`` is open, or is half-open while enough probes run.
        public static let circuitOpen = Reason("the circuit is open")
        /// The wait for a ``RateLimiter`` would be longer than its limit, or would end after the caller's deadline.
        public static let rateExceeded = Reason("the wait for the rate limit would be too long")
        /// A part admits no further call, and lets none wait.
        public static let full = Reason("no further call is admitted")

        /// A text for logs.
        public let description: String

        /// Creates a reason for a ``PolicyPart`` of your own. Reasons with the same text are equal.
        ///
        /// - Parameter description: A text for logs.
        public init(_ description: String) { self.description = description }
    }

    /// The reason.
    public let reason: Reason

    /// The name of the part that refused the call; `nil` if it has none.
    public let name: String?

    /// The time, counted from the refusal, after which the part admits a call again; `nil` if it is not known. The parts
    /// of this module always give it. If other callers call first, a later call can be refused again.
    ///
    /// The function `retry` of TaskControl, around the policy, waits at least this long before the next attempt. If one of its limits, such
    /// as the cap of its backoff, does not allow that, `retry` throws this error instead.
    public let retryAfter: Duration?

    /// Creates the error, for parts of your own, and for tests of code that handles it.
    ///
    /// - Parameters:
    ///   - reason: The reason.
    ///   - name: The name of the part; `nil` if it has none.
    ///   - retryAfter: The time after which the part admits a call again; `nil` if it is not known.
    public init(_ reason: Reason, name: String? = nil, retryAfter: Duration? = nil) {
        (self.reason, self.name, self.retryAfter) = (reason, name, retryAfter)
    }

    /// A text with the name of the part, the reason, and the time after which a call is admitted again.
    public var description: String {
        "the call was refused\(name.map { " by \($0)" } ?? ""): \(reason)"
            + (retryAfter.map { "; a call is admitted in \($0)" } ?? "")
    }
}
