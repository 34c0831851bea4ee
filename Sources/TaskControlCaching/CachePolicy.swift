/// The rules for how long a ``CachedFlight`` returns a value, and for when it loads the value again.
///
/// ```swift
/// // Fresh for a minute. In the next five minutes a reader gets the old value at once, and a new one is loaded.
/// // If a load fails, the old value is used, for up to an hour after its minute.
/// let policy = CachePolicy(
///     timeToLive: .seconds(60),
///     staleWhileRevalidate: .seconds(300),
///     staleIfError: .seconds(3_600)
/// )
/// ```
///
/// The age of a value counts from the *start* of its load: a slow load does not make the value any younger. All durations may be zero; less than zero
/// counts as zero, and more than 100 years as 100 years.
public struct CachePolicy: Hashable, Sendable {
    /// The time for which a value is fresh, from the start of its load. For a value that
    /// ``CachedFlight/update(_:for:)`` stores, the time starts with that call.
    public var timeToLive: Duration

    /// The time for which a value is still returned at once after its time to live, while it is refreshed in the background. RFC 5861 calls this
    /// *stale-while-revalidate*.
    public var staleWhileRevalidate: Duration

    /// The time for which a value is still returned after its time to live, if a load fails. RFC 5861 calls this *stale-if-error*.
    public var staleIfError: Duration

    /// The longest time for which a caller that finds a stale value waits for its refresh, while
    /// ``staleWhileRevalidate`` allows the stale value to be returned. Zero: the caller does not wait. After the wait,
    /// the caller receives the value that the cache then has: the new value, or the stale one.
    ///
    /// The wait ends earlier if the stale value expires. If no value may be returned after the wait, the caller waits for a load.
    public var patience: Duration

    /// The time for which an error is thrown to later readers without another load, from the start of the load that
    /// failed; also called negative caching. Zero: each reader begins a new load.
    ///
    /// An error never replaces a value that ``staleIfError`` still allows to be returned.
    public var errorTimeToLive: Duration

    /// The factor of early refreshes: the larger it is, the earlier before the end of its time to live a value is
    /// refreshed. With 0, no value is refreshed before it is stale; the usual value is 1. This is the parameter *beta*
    /// of the algorithm XFetch (Vattani, Chierichetti and Lowenstein, "Optimal Probabilistic Cache Stampede
    /// Prevention", VLDB 2015).
    ///
    /// A value is refreshed by the first read in the last *d* × `earlyRefresh` × *e* of its time to live, where *d* is
    /// the time that its load took, and *e* is a random number with the exponential distribution of mean 1. So several
    /// processes that cache the same value do not all refresh it at the same time. XFetch draws a random number for
    /// each read; here it is drawn once per value. Within one process, where callers share a load anyway, this has the
    /// same effect.
    public var earlyRefresh: Double

    /// The time after a failed refresh in which no read begins another refresh. It doubles with each further failure in
    /// a row, and is at most the time to live of the value.
    public var refreshRetryDelay: Duration

    /// Creates a policy.
    ///
    /// - Parameters:
    ///   - timeToLive: The time for which a value is fresh.
    ///   - staleWhileRevalidate: The time after `timeToLive` for which a value is returned while it is refreshed. By default zero.
    ///   - staleIfError: The time after `timeToLive` for which a value is returned if a load fails. By default zero.
    ///   - patience: The longest wait of a caller that finds a stale value. By default zero: the caller does not wait.
    ///   - errorTimeToLive: The time for which an error is cached. By default zero: errors are not cached.
    ///   - earlyRefresh: The factor of early refreshes: see ``earlyRefresh``. By default 0: no value is refreshed
    ///     before it is stale. The usual value is 1. A negative value or NaN counts as 0.
    ///   - refreshRetryDelay: The time after a failed refresh in which no read begins another one. By default 5
    ///     seconds, as in the library SWR (its `errorRetryInterval`).
    public init(
        timeToLive: Duration,
        staleWhileRevalidate: Duration = .zero,
        staleIfError: Duration = .zero,
        patience: Duration = .zero,
        errorTimeToLive: Duration = .zero,
        earlyRefresh: Double = 0,
        refreshRetryDelay: Duration = .seconds(5)
    ) {
        self.timeToLive = timeToLive
        self.staleWhileRevalidate = staleWhileRevalidate
        self.staleIfError = staleIfError
        self.patience = patience
        self.errorTimeToLive = errorTimeToLive
        self.earlyRefresh = earlyRefresh
        self.refreshRetryDelay = refreshRetryDelay
    }
}
