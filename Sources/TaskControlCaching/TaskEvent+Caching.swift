@_spi(Observers) public import TaskControl

extension TaskEvent.Primitive {
    /// The primitive in events of a ``CachedFlight``.
    public static var cachedFlight: Self { Self("CachedFlight", [.call, .awaited]) }
}

extension TaskEvent.Kind {
    /// A value was removed because it was too old.
    public static var expired: Self { Self("expired") }
    /// A value was removed because the cache was full.
    public static var evicted: Self { Self("evicted") }
    /// ``CachedFlight/update(_:for:)`` has stored a value in the cache.
    public static var written: Self { Self("written") }
    /// The value of a key was removed, and the result of a running load of the key will not be stored.
    public static var invalidated: Self { Self("invalidated") }
    /// All values, or all values that are older than a given duration, were removed.
    public static var removedAll: Self { Self("removedAll") }
}

extension TaskOrigin {
    static var cachedFlight: Self { Self("CachedFlight", .cachedFlight) }
}
