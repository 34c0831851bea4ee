extension TaskEvent.Primitive {
    /// A call of ``withSingleFlight(key:operation:)``.
    public static var withSingleFlight: Self { Self("withSingleFlight", [.call, .awaited]) }
    /// A ``SingleFlight``.
    public static var singleFlight: Self { Self("SingleFlight", [.call, .awaited]) }
}

extension TaskEvent.Kind {
    /// The next caller of the key begins a new flight.
    public static var forgotten: Self { Self("forgotten") }
}

extension TaskOrigin {
    static var withSingleFlight: Self { Self("withSingleFlight", .withSingleFlight) }
    static var singleFlight: Self { Self("SingleFlight", .singleFlight) }
}
