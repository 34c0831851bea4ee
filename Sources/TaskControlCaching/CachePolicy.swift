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
    /// The time for which a value is fresh, from the start of its load or, for a value that
    /// ``CachedFlight/update(_:for:)`` stores, from that call. The closure `freshnessLifetime` of the cache's
    /// initializer can return another time for a value.
    public var timeToLive: Duration

    /// The time, after the end of a value's time to live, for which the value is still returned while the cache loads a
    /// new one in the background. The value is returned at once, unless callers first wait for the new value (``patience``). RFC 5861
    /// calls this *stale-while-revalidate*.
    public var staleWhileRevalidate: Duration

    /// The time after its time to live for which a value is still returned if a load fails, or if a load has not ended
    /// shortly before the deadline of a caller (see ``CachedFlight``). Until ``refreshRetryDelay`` has passed after a
    /// failure, the value is returned without another load. RFC 5861 calls this *stale-if-error*.
    public var staleIfError: Duration

    /// The longest time for which a caller that finds a stale value waits for the new value, which the cache loads in
    /// the background during ``staleWhileRevalidate``. If the load succeeds in this time, the caller receives the new
    /// value; if it fails or takes longer, the caller receives the stale value. The wait also ends shortly before the
    /// deadline of the caller (see ``CachedFlight``). Zero: the caller receives the stale value at once.
    ///
    /// If ``staleWhileRevalidate`` ends during this wait, the caller waits for the load without this limit, as it does
    /// if the cache has no value.
    public var patience: Duration

    /// The time for which an error is kept and thrown to later callers without another load, from the start of the load
    /// that failed; also called negative caching. Zero: no error is kept, and the next caller begins a new load.
    ///
    /// An error never replaces a value that ``staleWhileRevalidate`` or ``staleIfError`` still allows to be returned.
    /// An interruption is never kept: the error of a load that was cancelled, or a `CancellationError` of one that was
    /// not.
    public var errorTimeToLive: Duration

    /// The factor of early refreshes: the larger it is, the earlier the cache begins to replace a value that is still
    /// fresh. With 0, no value is refreshed before it is stale; the usual value is 1. This is the parameter *beta* of
    /// the algorithm XFetch (Vattani, Chierichetti and Lowenstein, "Optimal Probabilistic Cache Stampede Prevention",
    /// VLDB 2015).
    ///
    /// A value is refreshed by the first read in the last *d* × `earlyRefresh` × *e* of its time to live, where *d* is
    /// the time that its load took, and *e* is a random number with the exponential distribution of mean 1. So several
    /// processes that cache the same value do not all refresh it at the same time. XFetch draws a random number for
    /// each read; here it is drawn once per value.
    public var earlyRefresh: Double

    /// The time after a failed load in which no read begins another load in the background. It doubles with each
    /// further failure in a row, but does not grow beyond the time to live of the value.
    public var refreshRetryDelay: Duration

    /// Creates a policy.
    ///
    /// - Parameters:
    ///   - timeToLive: The time for which a value is fresh.
    ///   - staleWhileRevalidate: The time after `timeToLive` for which a value is still returned while a new one is
    ///     loaded in the background. By default zero.
    ///   - staleIfError: The time after `timeToLive` for which a value is still returned if a load fails or lasts until
    ///     shortly before the deadline of a caller. By default zero.
    ///   - patience: The longest time for which a caller that finds a stale value waits for the new one. By default
    ///     zero: the caller does not wait.
    ///   - errorTimeToLive: The time for which an error is kept and thrown to later callers. By default zero: errors
    ///     are not kept.
    ///   - earlyRefresh: The factor of early refreshes: see ``earlyRefresh``. By default 0: no value is refreshed
    ///     before it is stale. The usual value is 1. A negative value or NaN counts as 0.
    ///   - refreshRetryDelay: The time after a failed load in which no read begins another load in the background. By
    ///     default 5 seconds, as in the library SWR (its `errorRetryInterval`).
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
