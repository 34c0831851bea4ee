public import TaskControl

/// A cache that loads each missing value once, regardless of how many callers ask for it at the same time.
///
/// ```swift
/// let articles = CachedFlight<Article.ID, Article>(
///     capacity: 1_000,
///     policy: CachePolicy(timeToLive: .seconds(60), staleWhileRevalidate: .seconds(300))
/// ) { id in
///     try await api.article(id)
/// }
///
/// let article = try await articles.value(for: id)      // from the cache, or loaded once for all callers
/// articles.update(edited, for: id)                     // a load that runs now does not overwrite this
/// articles.invalidate(id)                              // a load that runs now is not stored
/// ```
///
/// A value is fresh for the policy's ``CachePolicy/timeToLive``. After that the value is *stale*: a reader waits for a
/// new value, unless ``CachePolicy/staleWhileRevalidate`` allows the stale value to be returned. In that case the cache
/// begins a *refresh*: a load in the background.
///
/// - At most one load per key runs at any time, refreshes included. A call that needs a newer result than the running load will have, such as
///   ``fresh(for:)`` or the first call after ``invalidate(_:)``, waits for the end of the running load. So give a load a time limit if it can hang.
/// - ``update(_:for:)`` and ``invalidate(_:)`` take precedence over a load that runs: the result of that load is not
///   stored, and goes only to the callers that already wait for it. If there are none, the load is cancelled. If the
///   load fails, and the cache has a newer value when such a caller resumes, the caller receives that value.
/// - A refresh belongs to the cache: it continues if the reader that triggered it is cancelled, and is cancelled if the
///   cache is deallocated.
/// - A failed refresh is tried again by later reads, after ``CachePolicy/refreshRetryDelay``. The error of the refresh
///   is emitted as the event `CachedFlight.failed`. It is thrown only to callers that waited for the refresh and do not
///   receive an old value instead.
/// - The age of a value counts from the start of its load.
/// - A value expires when neither ``CachePolicy/staleWhileRevalidate`` nor ``CachePolicy/staleIfError`` allows it to be
///   returned any longer. An expired value is never returned, even while its refresh hangs.
/// - Errors are cached only for the time of ``CachePolicy/errorTimeToLive``, or for the time that the closure
///   `freshnessLifetime` of the initializer returns for an error.
/// - At most `capacity` values and cached errors are kept. Those that have not been used recently are evicted first: an
///   eviction takes the oldest, and passes over each that was used since it was stored or last passed over (the
///   *second-chance* approximation of LRU).
///
/// As a `TaskOwner`, a cache can be drained, closed and shut down: its tasks are its loads.
///
/// Safe to use from any thread and any isolation. The cache retains its values, its keys and the load function: the load function should capture only
/// what it needs.
///
/// Related: `SingleFlight` shares work among concurrent callers, and keeps nothing.
///
/// ## Cancellation
/// A caller that is cancelled while it waits receives `CancellationError` immediately. The load continues for its other
/// callers; if the last caller stops waiting, the load is cancelled, unless it is a refresh, or a caller has left it with
/// an old value before its deadline. Inside a cancelled load, `Task.cancellationCause` is `CancellationCause.lastCallerLeft`, `CancellationCause.superseded(key:)` after a write
/// or an invalidation, or `CancellationCause.ownerDeallocated(name:)` after the cache was deallocated.
///
/// ## Deadlines
/// A load belongs to the cache and can continue without callers, so it has no deadline: neither that of its first
/// caller, nor, unlike a flight of `SingleFlight`, the latest deadline of its callers. Use
/// `withDeadline(in:clock:operation:)` or `withTimeout(_:clock:operation:)` inside the load function. A deadline around
/// ``value(for:)`` limits how long that caller waits.
///
/// If the policy allows an old value to be returned, a caller waits for a load only until shortly before its deadline, and
/// receives the old value in time: a tenth of the time that is left when its wait begins, and at most 50 ms, before the
/// deadline, measured with the clock of the deadline. The load then continues, even if the caller was the last one. The
/// cache does not know a limit that is no deadline, such as that of `withTimeout(_:clock:operation:)` around the call.
///
/// ## Priorities
/// A load has the priority of its first caller, and is escalated to the highest priority of its callers, where the system supports it (macOS 26,
/// Linux).
public final class CachedFlight<Key: Hashable, Value: Sendable>: TaskOwner, ClosableOwner {
    @usableFromInline let _storage: _CacheStorage

    /// Creates an empty cache.
    ///
    /// - Parameters:
    ///   - name: The name shown in diagnostics; `nil` for none.
    ///   - capacity: The largest number of values and cached errors. If it is zero or negative, none is kept, and only
    ///     concurrent calls share a value.
    ///   - policy: The rules for how long values are returned, and for when they are loaded again.
    ///   - freshnessLifetime: Returns the time for which a result is fresh, for example from the headers of a response,
    ///     and `nil` for the time of the policy: its ``CachePolicy/timeToLive`` for a value and its
    ///     ``CachePolicy/errorTimeToLive`` for an error. Without this closure, the times of the policy apply. Called
    ///     without a lock held: by ``update(_:for:)``, and in the task of a load when the load has ended. Not called
    ///     with an error that ``CachePolicy/errorTimeToLive`` never keeps.
    ///   - clock: Measures the age of values, and ``CachePolicy/patience``.
    ///   - random: Returns 64 random bits for ``CachePolicy/earlyRefresh``. By default, the bits of the system's random
    ///     number generator.
    ///   - load: Loads the value of a key, in a task of its own with the task-locals, the priority and the task name of the first caller, but without
    ///     its deadline. It must end when its task is cancelled.
    @export(implementation)
    public init(
        name: String? = nil,
        capacity: Int,
        policy: CachePolicy,
        freshnessLifetime: (@Sendable (Result<Value, any Error>) -> Duration?)? = nil,
        clock: some Clock<Duration> = ContinuousClock(),
        random: @escaping @Sendable () -> UInt64 = { UInt64.random(in: 0...UInt64.max) },
        load: @escaping @Sendable (Key) async throws -> Value
    ) where Key: Sendable {
        _storage = _CacheStorage(
            name: name,
            capacity: capacity,
            policy: policy,
            clock: clock,
            random: random,
            loader: _TypedLoader(load, freshnessLifetime)
        )
    }

    /// Creates an empty cache for keys whose conformance to `Hashable` is isolated to an actor, as that of each type in a
    /// project with default isolation. The parameters except `load` are those of the initializer for other keys.
    ///
    /// - Parameter load: Loads the value of a key, in the isolation of the code that creates the cache: that of the keys.
    @export(implementation)
    public init(
        name: String? = nil,
        capacity: Int,
        policy: CachePolicy,
        freshnessLifetime: (@Sendable (Result<Value, any Error>) -> Duration?)? = nil,
        clock: some Clock<Duration> = ContinuousClock(),
        random: @escaping @Sendable () -> UInt64 = { UInt64.random(in: 0...UInt64.max) },
        @_inheritActorContext load: @escaping @Sendable (Key) async throws -> Value
    ) {
        _storage = _CacheStorage(
            name: name,
            capacity: capacity,
            policy: policy,
            clock: clock,
            random: random,
            loader: _TypedLoader(load, freshnessLifetime)
        )
    }

    /// Refused: the load can't share a key that is not `Sendable` with the cache.
    @_KeyMustBeSendable
    @available(
        *,
        deprecated,
        message: "The type of the keys must conform to Sendable: a load uses a key in another isolation than the cache."
    )
    public init(
        name: String? = nil,
        capacity: Int,
        policy: CachePolicy,
        freshnessLifetime: (@Sendable (Result<Value, any Error>) -> Duration?)? = nil,
        clock: some Clock<Duration> = ContinuousClock(),
        random: @escaping @Sendable () -> UInt64 = { UInt64.random(in: 0...UInt64.max) },
        load: @escaping @Sendable (Key) async throws -> Value
    ) where Key: SendableMetatype { _KeyMustBeSendable.refuse() }

    deinit { _storage.end() }

    /// The name shown in diagnostics; `nil` if the cache has none.
    public var name: String? { _storage.name }

    // MARK: Reading

    /// Returns the value of a key: from the cache, or from a load.
    ///
    /// A fresh value is returned without suspending. The policy determines when a stale value is returned.
    ///
    /// ## Cancellation
    /// A caller that is cancelled while it waits for a load receives `CancellationError` immediately. If the last
    /// caller stops waiting, the load is cancelled, unless the cache began it in the background to replace a stale
    /// value. A caller that was cancelled before the call does not wait: it receives the cached value if the policy
    /// allows this value to be returned without a load, and otherwise `CancellationError`.
    ///
    /// - Parameter key: The key of the value. Its `==`, which is called if hashes are equal, runs while a lock is held,
    ///   and must not call the cache.
    /// - Returns: The value.
    /// - Throws: The error of the load, unless the cache then has a newer value, or an old one that
    ///   ``CachePolicy/staleIfError`` or ``CachePolicy/staleWhileRevalidate`` allows to be returned (a caller with a
    ///   deadline receives an old value shortly before it, if the load has not ended); an error that is
    ///   cached; `CancellationError` if the caller is cancelled; `CancellationCause` if it is not, and the load is
    ///   cancelled by ``cancelAll()`` or refused after ``close()``; `ReentrancyError` if the caller is inside the load of the same key, or if two loads would wait for
    ///   each other.
    /// - Complexity: O(1). A cached value is returned without a memory allocation if the type of the key is trivial and
    ///   has at most eight bytes, such as a number, and otherwise with one allocation.
    @export(implementation)
    public nonisolated(nonsending) func value(for key: sending Key) async throws -> Value {
        let key = _ErasedKey(key)
        if let hit = _storage.hit(key) { return try Self._value(hit) }
        return try Self._value(try await _storage.value(key))
    }

    /// Returns a value that is newer than this call: its load begins after the call, or ``update(_:for:)`` stores it
    /// after the call.
    ///
    /// If a load of the key already runs, the call ignores its result: it waits until that load has ended, and then
    /// loads the value again, unless ``update(_:for:)`` has stored a value in the meantime. Callers that wait at the
    /// same time share the new load. Its value is stored in the cache, unless the key is written or invalidated during
    /// the load.
    ///
    /// ## Cancellation
    /// A cancelled caller receives `CancellationError` immediately. If the last caller of the new load stops waiting,
    /// the new load is cancelled, unless the cache also needs it to replace a stale value in the background.
    ///
    /// - Parameter key: The key.
    /// - Returns: The value.
    /// - Throws: The error of the load, even if ``CachePolicy/staleIfError`` allows an old value to be returned;
    ///   `CancellationError`, `CancellationCause` and `ReentrancyError` as for ``value(for:)``.
    /// - Complexity: O(1).
    @export(implementation)
    public nonisolated(nonsending) func fresh(for key: sending Key) async throws -> Value {
        try Self._value(try await _storage.fresh(_ErasedKey(key)))
    }

    /// Returns an asynchronous sequence of the stale value of a key, if there is one, and then a fresh value. Use the
    /// sequence in a screen that shows a stale value at once, and replaces it when the fresh value arrives.
    ///
    /// ```swift
    /// for try await article in articles.values(for: id) { model.article = article }
    /// ```
    ///
    /// If the cached value is fresh, it is the only element. If there is no value that may be returned at once, the
    /// only element is the loaded value, or an old value as ``value(for:)`` returns it: if the load fails, or shortly before
    /// the deadline of the caller. Each loop over the sequence reads the cache again. If the load after a stale value fails, the loop
    /// receives the stale value, and then throws the error of the load.
    ///
    /// - Parameter key: The key.
    /// - Returns: A sequence of one or two values.
    public func values(for key: sending Key) -> Values {
        Values(cache: self, entry: _storage.pin(_ErasedKey(key)))
    }

    /// Returns the cached value of a key if it is fresh, or if it is stale and ``CachePolicy/staleWhileRevalidate``
    /// still allows it to be returned. This function begins no load, and does not count as a use of the value.
    ///
    /// - Parameter key: The key.
    /// - Returns: The value; `nil` if there is no such value, or if an error is cached.
    /// - Complexity: O(1).
    @export(implementation)
    public func peek(_ key: Key) -> Value? {
        _storage.peek(_ErasedKey(key)).flatMap { try? Self._value($0) }
    }

    /// The number of values and cached errors in the cache. Includes those that have expired, until their key is read.
    public var valueCount: Int { _storage.count }

    // MARK: Changing

    /// Stores a value for a key. The value is fresh from the time of this call, for the duration that the closure
    /// `freshnessLifetime` of the initializer returns or, without this closure or if it returns `nil`, for
    /// ``CachePolicy/timeToLive``.
    ///
    /// If a load of the key runs, its value is not stored, and goes only to the callers that already wait for it; if
    /// there are none, the load is cancelled. If the load fails, they receive the newest value instead of the error.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - key: The key.
    /// - Complexity: O(1), amortized.
    @export(implementation)
    public func update(_ value: Value, for key: sending Key) {
        _storage.update(_ErasedKey(key), _CachedValue(value))
    }

    /// Removes the value of a key, for example because the value has changed on the server. The next caller loads it again.
    ///
    /// If a load of the key runs, its value is not stored, and goes only to the callers that already wait for it; if
    /// there are none, the load is cancelled. If the load fails, such a caller receives its error or, if a later load has
    /// stored a value before the caller resumes, that value.
    ///
    /// - Parameter key: The key.
    /// - Complexity: O(1).
    @export(implementation)
    public func invalidate(_ key: Key) { _storage.invalidate(_ErasedKey(key)) }

    /// Removes the values of all keys, as ``invalidate(_:)`` does for one key.
    ///
    /// - Complexity: O(*n*) in the number of values and loads.
    public func removeAll() { _storage.removeAll() }

    /// Removes the values and cached errors that are older than a duration, to save memory. Running loads are not
    /// affected.
    ///
    /// - Parameter age: The age above which values are removed. It counts from the start of the load, or from the call
    ///   of ``update(_:for:)``.
    /// - Complexity: O(*n*) in the number of values.
    public func removeAll(olderThan age: Duration) { _storage.removeAll(olderThan: age) }
}

// A cache as an owner of its loads.
extension CachedFlight {
    /// The number of loads that run, refreshes included. It may have changed by the time the caller uses it.
    public var count: Int { _storage.flights.count }

    /// Cancels all loads. Their callers receive `CancellationCause` with the reason, and `CancellationError` only if
    /// they are cancelled themselves; the values stay, and later readers begin new loads.
    ///
    /// - Complexity: O(*n*) in the number of loads and their callers.
    public func cancelAll() { cancelAll(for: .requested(reason: nil)) }

    /// Cancels all loads for a reason, which `Task.cancellationCause` inside the loads returns. Otherwise the same as
    /// ``cancelAll()``.
    ///
    /// - Parameter reason: A description of the reason, for logs.
    public func cancelAll(because reason: String) { cancelAll(for: .requested(reason: reason)) }

    /// Cancels all loads, and refuses later ones. Values that may be returned without a load are still returned; a
    /// reader that needs a load receives `CancellationCause`.
    public func close() {
        refuse(waiting: .run)
        cancelAll(for: .shutdown(name: name))
    }

    package func refuse(waiting: WaitingWorkBehavior) { _storage.flights.refuse(waiting: waiting) }

    package func cutOff(for cause: CancellationCause, within limit: CancellationLimit?) async -> ShutdownReport {
        await _storage.flights.cutOff(for: cause, within: limit)
    }

    package func cancelAll(for cause: CancellationCause) { _storage.flights.cancelAll(cause) }

    package func drain(staysWhenCancelled: Bool) async throws(CancellationError) {
        try await _storage.flights.drain(staysWhenCancelled: staysWhenCancelled)
    }
}

extension CachedFlight {
    @export(implementation)
    static func _value(_ result: _CachedResult) throws -> Value {
        if let error = result.error {
            // A cancelled caller receives CancellationError, whatever was thrown.
            try Task.checkCancellation()
            throw error
        }
        return unsafeDowncast(result, to: _CachedValue<Value>.self).value
    }

    @export(implementation)
    static func _result(_ result: _CachedResult) -> Result<Value, any Error> {
        if let error = result.error { return .failure(error) }
        return .success(unsafeDowncast(result, to: _CachedValue<Value>.self).value)
    }
}
