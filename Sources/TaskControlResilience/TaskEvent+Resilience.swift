@_spi(Observers) public import TaskControl

extension TaskEvent.Primitive {
    /// The value of `TaskEvent.primitive` in events of a ``CircuitBreaker``.
    public static var circuitBreaker: Self { Self("CircuitBreaker", [.call]) }
    /// The value of `TaskEvent.primitive` in events of a ``RateLimiter``.
    public static var rateLimiter: Self { Self("RateLimiter", [.call, .limited]) }
    /// The value of `TaskEvent.primitive` in events of calls of
    /// ``withHedging(after:maxHedges:budget:clock:operation:shouldHedge:)-(_,_,_,_,()->Value,_)``.
    public static var withHedging: Self { Self("withHedging", [.call]) }
}

extension TaskEvent.Kind {
    /// A call has taken tokens of a ``RateLimiter``.
    public static var tokensTaken: Self { Self("tokensTaken") }
    /// A ``CircuitBreaker`` has opened: it refuses all calls until it admits a probe.
    public static var circuitOpened: Self { Self("circuitOpened") }
    /// A ``CircuitBreaker`` has closed: it admits all calls from now on.
    public static var circuitClosed: Self { Self("circuitClosed") }
    /// A ``CircuitBreaker`` has admitted a call as a probe.
    public static var probing: Self { Self("probing") }
    /// A call of `withHedging` begins an attempt after the first.
    public static var hedging: Self { Self("hedging") }
    /// A policy, such as a ``CircuitBreaker``, has refused a call: the call to the service was not made.
    public static var callRefused: Self { Self("callRefused") }
}
