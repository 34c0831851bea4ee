extension TaskEvent.Primitive {
    /// The primitive in events of calls of `retry`.
    public static var retry: Self { Self("retry", [.call]) }
    /// The primitive in events of calls of ``poll(every:within:calls:clock:shouldRetry:operation:until:)``.
    public static var poll: Self { Self("poll", [.call]) }
    /// The primitive in events of calls of ``withTimeout(_:clock:operation:)``.
    public static var withTimeout: Self { Self("withTimeout", [.call, .awaited, .limited]) }
    /// The primitive in events of calls of ``withDetachedTimeout(_:name:clock:operation:)``.
    public static var withDetachedTimeout: Self { Self("withDetachedTimeout", [.call, .awaited]) }
    /// The primitive in events of an ``AsyncSemaphore``.
    public static var asyncSemaphore: Self { Self("AsyncSemaphore", [.call, .line]) }
    /// The same primitive, in the event that begins a call of ``AsyncSemaphore/acquirePermit(_:)``.
    static var permitValue: Self { Self("AsyncSemaphore", [.call, .line, .movable]) }
    /// The same primitive, in the event that begins a call of ``AsyncSemaphore/acquire(_:within:clock:)``.
    static var limitedRequest: Self { Self("AsyncSemaphore", [.call, .line, .limited]) }
}

extension TaskEvent.Kind {
    /// A call of `retry` begins another attempt. Emitted when the delay after the failed attempt is over; ``waiting``
    /// is emitted before the delay.
    public static var retrying: Self { Self("retrying") }
    /// A later attempt of a call of `retry` has succeeded, after the first had failed.
    public static var succeeded: Self { Self("succeeded") }
    /// A call of `retry` makes no further attempt after a failed one, and throws.
    public static var gaveUp: Self { Self("gaveUp") }
    /// A call of the operation of ``poll(every:within:calls:clock:shouldRetry:operation:until:)`` returned a value that does not
    /// satisfy the condition.
    public static var unsatisfied: Self { Self("unsatisfied") }
    /// A call, for example of ``withTimeout(_:clock:operation:)``, exceeded its time limit.
    public static var timedOut: Self { Self("timedOut") }
    /// A caller acquired permits, for example those of an ``AsyncSemaphore``.
    public static var acquired: Self { Self("acquired") }
    /// A caller released permits, for example those of an ``AsyncSemaphore``.
    public static var released: Self { Self("released") }
}

extension TaskOrigin {
    static var withDetachedTimeout: Self { Self("withDetachedTimeout", .withDetachedTimeout) }
}
