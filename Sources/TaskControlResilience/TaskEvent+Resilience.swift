public import TaskControl

extension TaskEvent.Primitive {
    /// A ``CircuitBreaker``.
    public static var circuitBreaker: Self { Self("CircuitBreaker", [.call]) }
    /// A ``RateLimiter``.
    public static var rateLimiter: Self { Self("RateLimiter", [.call, .limited]) }
}

extension TaskEvent.Kind {
    /// A ``RateLimiter`` has admitted a call, which has taken tokens.
    public static var tokensTaken: Self { Self("tokensTaken") }
    /// A ``CircuitBreaker`` has opened: it refuses calls from now on.
    public static var circuitOpened: Self { Self("circuitOpened") }
    /// A ``CircuitBreaker`` has closed: it admits all calls from now on.
    public static var circuitClosed: Self { Self("circuitClosed") }
    /// A ``CircuitBreaker`` has admitted a call as a probe.
    public static var probing: Self { Self("probing") }
    /// A policy has refused a call, which was not made.
    public static var callRefused: Self { Self("callRefused") }
}
