extension TaskEvent.Primitive {
    /// The primitive in events of calls of ``withSingleFlight(key:operation:)``.
    public static var withSingleFlight: Self { Self("withSingleFlight", [.call, .awaited]) }
    /// The primitive in events of a ``SingleFlight``.
    public static var singleFlight: Self { Self("SingleFlight", [.call, .awaited]) }
}

extension TaskEvent.Kind {
    /// ``SingleFlight/forget(_:)`` was called for a key whose work is in progress: the next caller of the key begins
    /// new work.
    public static var forgotten: Self { Self("forgotten") }
    /// Work has ended that its caller no longer awaited, for example after a time limit was exceeded.
    public static var abandonedWorkEnded: Self { Self("abandonedWorkEnded") }
}

extension TaskOrigin {
    static var withSingleFlight: Self { Self("withSingleFlight", .withSingleFlight) }
    static var singleFlight: Self { Self("SingleFlight", .singleFlight) }
}
