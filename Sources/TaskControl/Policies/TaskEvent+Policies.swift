extension TaskEvent.Primitive {
    /// A call of `retry`.
    public static var retry: Self { Self("retry", [.call]) }
    /// A call of ``withTimeout(_:clock:operation:)``.
    public static var withTimeout: Self { Self("withTimeout", [.call, .awaited, .limited]) }
    /// A call of ``withDetachedTimeout(_:name:clock:operation:)``.
    public static var withDetachedTimeout: Self { Self("withDetachedTimeout", [.call, .awaited]) }
    /// An ``AsyncSemaphore``.
    public static var asyncSemaphore: Self { Self("AsyncSemaphore", [.call, .line]) }
}

extension TaskEvent.Kind {
    /// A `retry` makes another attempt.
    public static var retrying: Self { Self("retrying") }
    /// An attempt of a `retry`, not the first, has succeeded.
    public static var succeeded: Self { Self("succeeded") }
    /// A `retry` makes no other attempt.
    public static var gaveUp: Self { Self("gaveUp") }
    /// A time limit was exceeded.
    public static var timedOut: Self { Self("timedOut") }
    /// Abandoned work has ended, for example after a time limit.
    public static var abandonedWorkEnded: Self { Self("abandonedWorkEnded") }
    /// Permits were acquired.
    public static var acquired: Self { Self("acquired") }
    /// Permits were released.
    public static var released: Self { Self("released") }
}

extension TaskOrigin {
    static var withDetachedTimeout: Self { Self("withDetachedTimeout", .withDetachedTimeout) }
}
