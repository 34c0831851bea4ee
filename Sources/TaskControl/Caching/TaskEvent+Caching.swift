extension TaskEvent.Primitive {
    /// A ``CachedFlight``.
    public static var cachedFlight: Self { Self("CachedFlight", [.call, .awaited]) }
}

extension TaskEvent.Kind {
    /// A value was too old, and has left the cache.
    public static var expired: Self { Self("expired") }
    /// A value had to make room for another one.
    public static var evicted: Self { Self("evicted") }
    /// A value was written into the cache.
    public static var written: Self { Self("written") }
    /// The value of a key was removed, and a running load of the key is not stored.
    public static var invalidated: Self { Self("invalidated") }
    /// All values, or all values of some age, were removed.
    public static var removedAll: Self { Self("removedAll") }
}

extension TaskOrigin {
    static var cachedFlight: Self { Self("CachedFlight", .cachedFlight) }
}
