public import TaskControl

// The engine of caches, from the outside in:
//
//     CachedFlight                            the face
//     _CacheStorage                           the lock; acts after unlocking
//       CacheStateMachine                     the entries by key: fresh, stale, failed, pinned; and which is evicted
//     _FlightTable                            of the core: one load per key, whose callers share it

/// The implementation of a ``CachedFlight``: it calls a ``CacheStateMachine`` under a lock, and acts on the answers
/// after unlocking. A flight, a task whose result several callers share, performs each load.
///
/// The flights retain this object while they run. ``CachedFlight`` cancels the flights when it is deallocated.
@usableFromInline
final class _CacheStorage: Sendable {
    typealias Machine = CacheStateMachine<_ErasedKey, _CachedResult>

    let state: Locked<Machine>
    let flights: _FlightTable
    private let time: Stopwatch
    private let policy: CachePolicy
    private let loader: _CacheLoader
    private let random: @Sendable () -> UInt64

    @usableFromInline
    init(
        name: String?,
        capacity: Int,
        policy: CachePolicy,
        clock: some Clock<Duration>,
        random: @escaping @Sendable () -> UInt64,
        loader: _CacheLoader
    ) {
        let capacity = ComputedNumber.count(capacity, atLeast: 0, "CachedFlight(capacity:)", .cachedFlight)
        state = Locked(Machine(capacity: capacity, retryDelay: policy.refreshRetryDelay.usable))
        // A failed load is reported by the events of its flight only: a refresh that fails is not an unhandled error.
        flights = _FlightTable(origin: .cachedFlight, name: name, unheard: .isHandled, emitsLife: true)
        time = Stopwatch(clock)
        var policy = policy
        policy.earlyRefresh = ComputedNumber.number(
            policy.earlyRefresh,
            in: 0...Double.greatestFiniteMagnitude,
            default: 0,
            "CachePolicy(earlyRefresh:)",
            .cachedFlight
        )
        self.policy = policy
        self.loader = loader
        self.random = random
    }

    var source: EventSource { flights.source }

    // MARK: Reading

    /// Returns the cached result of a key; `nil` if there is none, or if it is due for a refresh.
    @usableFromInline
    func hit(_ key: _ErasedKey) -> _CachedResult? {
        let now = time.nanoseconds
        return state.withLock { $0.hit(key, atNanosecond: now) }
    }

    /// Returns the result of a key, from the cache or from a load.
    @usableFromInline
    nonisolated(nonsending) func value(_ key: _ErasedKey) async throws -> _CachedResult {
        let now = time.now
        let (answer, moment) = state.withLock { ($0.read(key, at: now), Diagnostics.moment) }
        if case .hit(let result) = answer { return result }
        // The key is searched for here, where the isolation is certainly the client's, and not after a wait.
        let entry = pin(key)
        perform(answer, for: entry, at: moment)
        switch answer {
        case .hit(let result): return result
        case .refresh(let result, let isStale, let after), .old(let result, let isStale, let after?):
            guard isStale, policy.patience > .zero, !Task.isCancelled else { return result }
            if let result = try await newer(entry, after) { return result }
        case .old(let result, _, joining: nil): return result
        case .load(let after, _): return try await loadOrOld(entry, after)
        }
        // The stale value has expired or was invalidated while the reader waited. The reader does not wait for a refresh again.
        switch read(entry) {
        case .hit(let result), .refresh(let result, _, _), .old(let result, _, _): return result
        case .load(let after, _): return try await loadOrOld(entry, after)
        }
    }

    /// Pins the entry of a key, for a call that the client makes with the key.
    @usableFromInline
    func pin(_ key: _ErasedKey) -> _PinnedEntry {
        let key = key.described()
        return _PinnedEntry(self, state.withLock { $0.pin(key) }, key)
    }

    fileprivate func unpin(_ place: Machine.Place) {
        let key = state.withLock { $0.unpin(place) }
        // Perhaps the last reference to the key: released here, where the lock is not held.
        withExtendedLifetime(key) {}
    }

    /// Reads the result of a pinned entry. If the answer requires it, begins a refresh, or emits that a value has
    /// expired. Does not wait for a load or a refresh: the code that calls this function does.
    private func read(_ entry: _PinnedEntry) -> Machine.Answer {
        let now = time.now
        let (answer, moment) = state.withLock { ($0.read(entry.place, at: now), Diagnostics.moment) }
        perform(answer, for: entry, at: moment)
        return answer
    }

    private func perform(_ answer: Machine.Answer, for entry: _PinnedEntry, at moment: EventMoment?) {
        switch answer {
        case .refresh(_, _, let after): launch(entry, after)
        case .load(_, .some): source.emit(.expired, key: entry.key.text, at: moment)
        default: break
        }
    }

    /// Returns the result of a refresh if it ends within ``CachePolicy/patience``, and otherwise the result that the
    /// cache has after the wait.
    ///
    /// - Parameter after: The serial number that the flight of the refresh comes after.
    ///
    /// - Returns: `nil` if the cache then has no result that may be returned without a load.
    /// - Throws: `CancellationError` if the caller is cancelled.
    private nonisolated(nonsending) func newer(
        _ entry: _PinnedEntry,
        _ after: Machine.Serial
    ) async throws -> _CachedResult? {
        let start = time.now
        guard let outlook = state.withLock({ $0.outlook(entry.place, after: after, at: start) }) else { return nil }
        // The reader that must begin the refresh may not have begun it yet. Otherwise no flight begins here: a later
        // read tries again if the refresh has failed already.
        if outlook.isClaimed { launch(entry, after) }
        let flight = _ErasedKey(LoadKey(entry, after: after))
        // An expired value is not returned, even if the patience of the policy is longer.
        let end = start + min(policy.patience, outlook.remaining)
        do {
            let caller = try flights.joinIfPresent(flight, of: _CachedResult.self)
            let patience: Limit = { [time] in
                // A clock that can't sleep ends the wait at once.
                try? await time.sleep(until: end)
                return !Task.isCancelled
            }
            if let result = try await caller?.value(until: [patience] + limits { true }) { return result }
        } catch {
            try Task.checkCancellation()
        }
        let now = time.now
        return state.withLock { $0.peek(entry.place, at: now) }
    }

    /// A function that suspends until a limit of a wait, and returns whether the wait must then end.
    private typealias Limit = @Sendable () async -> Bool

    /// Returns the limit of the current task's wait if the task has a deadline: shortly before the deadline. The wait
    /// then ends if `hasOld` returns `true`.
    private func limits(_ hasOld: @escaping @Sendable () -> Bool) -> [Limit] {
        guard let margin = Task.currentDeadline?.margin else { return [] }
        return [{ await Deadline.waitUntilNear(margin) && hasOld() }]
    }

    /// Returns the result of the load that comes after the serial number `after`, or an old value if the policy allows an
    /// old value to be returned, and the load fails or has not ended shortly before the caller's deadline.
    nonisolated(nonsending) func loadOrOld(_ entry: _PinnedEntry, _ after: UInt64) async throws -> _CachedResult {
        do {
            guard Task.currentDeadline != nil, old(entry) != nil else { return try await load(entry, after) }
            let limits = limits { [self] in old(entry) != nil }
            if let result = try await join(entry, after).value(until: limits) { return result }
        } catch {
            let old = old(entry)
            // A cancelled caller receives CancellationError, whatever was thrown.
            try Task.checkCancellation()
            // A mistake of the program is not hidden by an old value.
            guard !(error is any ProgrammingMistake), let old else { throw error }
            return old
        }
        if let old = old(entry) { return old }
        // The old value was invalidated when the wait ended.
        switch read(entry) {
        case .hit(let result), .refresh(let result, _, _), .old(let result, _, _): return result
        case .load(let after, _): return try await load(entry, after)
        }
    }

    /// Returns the value of an entry that the policy allows to be returned if a load fails; `nil` if there is none.
    func old(_ entry: _PinnedEntry) -> _CachedResult? {
        let now = time.now
        return state.withLock { $0.fallback(entry.place, at: now) }.flatMap { $0.error == nil ? $0 : nil }
    }

    /// Returns the result of a load of a key that begins after this call, or a value that was written after this call.
    @usableFromInline
    nonisolated(nonsending) func fresh(_ key: _ErasedKey) async throws -> _CachedResult {
        let entry = pin(key)
        return try await load(entry, state.withLock { $0.newest(entry.place) })
    }

    /// Returns the first result of a ``CachedFlight/Values`` sequence, and the serial number that the flight of the second
    /// result comes after. If the result is `nil`, the sequence has only the second result. If the number is `nil`, the
    /// sequence has only the first result.
    @usableFromInline
    func first(_ entry: _PinnedEntry) -> (_CachedResult?, after: UInt64?) {
        switch read(entry) {
        case .hit(let result): (result, nil)
        case .refresh(let result, let isStale, let after): (result, isStale ? after : nil)
        case .old(let result, let isStale, let after):
            (result, isStale ? after ?? state.withLock { $0.newest(entry.place) } : nil)
        case .load(let after, _): (nil, after)
        }
    }

    @usableFromInline
    func peek(_ key: _ErasedKey) -> _CachedResult? {
        let now = time.now
        return state.withLock { $0.peek(key, at: now) }
    }

    // MARK: Loading

    /// Returns the result of the key's flight that comes after the serial number `after`. Begins the flight if there is
    /// none.
    ///
    /// - Throws: The error of the load; `CancellationError` if the caller is cancelled; `ReentrancyError`
    ///   if the caller is inside the flight.
    @usableFromInline
    nonisolated(nonsending) func load(_ entry: _PinnedEntry, _ after: UInt64) async throws -> _CachedResult {
        try await join(entry, after).value()
    }

    /// Joins the key's flight that comes after the serial number `after`, or begins it. The caller must then wait. Throws
    /// as `load(_:_:)` does.
    private func join(_ entry: _PinnedEntry, _ after: UInt64) throws -> _FlightCaller<_CachedResult> {
        let flight = _ErasedKey(LoadKey(entry, after: after))
        guard let caller = try flights.join(flight, operation: { try await self.fly(entry, after) }) else {
            throw entry.reentrancyError
        }
        return caller
    }

    /// Returns the result of the key's flight that comes after the serial number `after`. Begins the flight if there is
    /// none. The flight continues if the caller is cancelled.
    ///
    /// - Throws: The same errors as `load(_:_:)`.
    nonisolated(nonsending) func refreshed(_ entry: _PinnedEntry, _ after: UInt64) async throws -> _CachedResult {
        try Task.checkCancellation()
        launch(entry, after)
        return try await load(entry, after)
    }

    /// Begins the key's flight that comes after the serial number `after`, unless there is one. The flight continues
    /// without callers.
    private func launch(_ entry: _PinnedEntry, _ after: Machine.Serial) {
        let flight = _ErasedKey(LoadKey(entry, after: after))
        flights.launch(flight) { try await self.fly(entry, after) }
    }

    /// Performs the work of a flight: waits until no other load of the key runs, loads, and stores the result.
    ///
    /// Before its result is stored, the flight accepts no more callers: a caller that comes after a later invalidation
    /// must not receive the result.
    ///
    /// - Parameters:
    ///   - entry: The entry of the key, which the flight keeps pinned.
    ///   - after: The serial number that the flight comes after.
    private nonisolated(nonsending) func fly(
        _ entry: _PinnedEntry,
        _ after: Machine.Serial
    ) async throws -> _CachedResult {
        let id = flights.innermostID
        var isRetired = false
        func retire() {
            if let id, !isRetired { flights.retire(id) }
            isRetired = true
        }
        while true {
            let start = time.now
            switch state.withLock({ $0.start(entry.place, after: after, flight: id, at: start) }) {
            case .value(let result):
                // Calls `start` again after the flight accepts no more callers: the value may have been invalidated
                // before.
                guard isRetired else {
                    retire()
                    continue
                }
                return try result.checked()
            case .wait(let place, let other):
                try await wait(at: place, entry, behind: other)
            case .load(let serial):
                let result = await loader.load(entry.key)
                retire()
                finish(entry, serial, result, start)
                return try result.checked()
            }
        }
    }

    /// Waits until the running load of the key has ended, so that a key never has two loads at a time.
    ///
    /// - Parameters:
    ///   - place: The ID of the wait, which the state machine has returned.
    ///   - entry: The entry of the key.
    ///   - other: The flight that performs the running load; `nil` if the load does not run in a flight.
    /// - Throws: `CancellationError` if the waiting flight is cancelled, also if the other load has ended; a reentrancy
    ///   error if the other flight waits for this flight.
    private nonisolated(nonsending) func wait(
        at place: Machine.Waiters.ID,
        _ entry: _PinnedEntry,
        behind other: Ticket?
    ) async throws {
        let wait = other.flatMap { flights.wait(behind: $0) }
        let isCircular = other != nil && wait == nil
        if isCircular { state.withLock { $0.leave(place, entry.place) }?.resume(returning: .left) }
        let outcome = await suspend { waiter in
            state.withLock { $0.park(place, Word(waiter)) }
        } onCancel: {
            state.withLock { $0.leave(place, entry.place) }?.resume(returning: .left)
        } raising: { [flights] priority in
            if let other { flights.raise(other, to: priority) }
        }
        if isCircular { throw entry.reentrancyError }
        wait?.end()
        // A load that was cancelled before it began does not begin.
        if outcome == .left || Task.isCancelled { throw CancellationError() }
    }

    private func finish(_ entry: _PinnedEntry, _ serial: Machine.Serial, _ result: _CachedResult, _ start: Duration) {
        let now = time.now
        let outcome: Machine.Outcome
        if result.error == nil {
            outcome = .value(result, lifespan(of: result, cost: now - start))
        } else if Task.isCancelled || result.error.map(isInterruption) == true {
            outcome = .interrupted
        } else {
            outcome = .failure(result, Machine.Lifespan(fresh: lifetime(of: result, policy.errorTimeToLive)))
        }
        act(on: state.withLock { ($0.finish(entry.place, serial, outcome, at: now), Diagnostics.moment) })
    }

    private func lifetime(of result: _CachedResult, _ usual: Duration) -> Duration {
        (loader.lifetime(of: result) ?? usual).usable
    }

    private func lifespan(of result: _CachedResult, cost: Duration) -> Machine.Lifespan {
        var span = Machine.Lifespan(
            fresh: lifetime(of: result, policy.timeToLive),
            stale: policy.staleWhileRevalidate.usable,
            fallback: policy.staleIfError.usable
        )
        if policy.earlyRefresh > 0, cost > .zero {
            span.early = cost.saturatingMultiplied(by: policy.earlyRefresh * exponentialVariate(random))
        }
        return span
    }

    // MARK: Changing

    @usableFromInline
    func update(_ key: _ErasedKey, _ result: _CachedResult) {
        let key = key.described()
        let span = lifespan(of: result, cost: .zero)
        let now = time.now
        let change = state.withLock { ($0.update(key, result, span, at: now), Diagnostics.moment) }
        source.emit(.written, key: key.text, at: change.1)
        act(on: change)
    }

    @usableFromInline
    func invalidate(_ key: _ErasedKey) {
        let key = key.described()
        let change = state.withLock { ($0.invalidate(key), Diagnostics.moment) }
        source.emit(.invalidated, key: key.text, at: change.1)
        act(on: change)
    }

    @usableFromInline
    func removeAll() { clear(state.withLock { ($0.removeAll(), Diagnostics.moment) }) }

    @usableFromInline
    func removeAll(olderThan age: Duration) {
        let now = time.now
        clear(state.withLock { ($0.removeAll(olderThan: age, at: now), Diagnostics.moment) })
    }

    private func clear(_ change: (remains: Machine.Remains, moment: EventMoment?)) {
        source.emit(.removedAll, count: change.remains.values.count, at: change.moment)
        act(on: change)
    }

    /// Carries out the consequences of a change: resumes waiting flights, releases superseded flights, and emits
    /// evictions. `moment` is the time of the change for events; `nil` if there are no observers.
    private func act(on change: (remains: Machine.Remains, moment: EventMoment?)) {
        for waiter in change.remains.woken { waiter.resume(returning: .reached) }
        for load in change.remains.superseded {
            guard let id = load.flight else { continue }
            flights.release(id, because: .superseded(key: load.key.text))
        }
        for key in change.remains.evicted {
            source.emit(.evicted, key: key.text, at: change.moment)
        }
    }

    /// Cancels all loads, since the cache is deallocated and nothing uses their results.
    @usableFromInline
    func end() {
        if flights.count > 0 { flights.cancelAll(.ownerDeallocated(name: source.name)) }
        source.emit(.deallocated)
    }

    // MARK: Looking

    @usableFromInline var name: String? { source.name }

    @usableFromInline var count: Int { state.withLock { $0.count } }

    /// The number of running loads.
    var loadCount: Int { state.withLock { $0.loadCount } }

    /// The capacity of the state machine's largest table, as a measure of the memory that is allocated.
    var memory: Int { state.withLock { $0.memory } }
}

extension _CachedResult {
    /// Returns the result of a load, or throws its error.
    fileprivate func checked() throws -> _CachedResult {
        if let error { throw error }
        return self
    }
}

extension Duration {
    /// This duration, limited to the range from zero to 100 years, the longest time that is safe to add to the time of
    /// a clock.
    fileprivate var usable: Duration { max(.zero, saturated) }
}

/// The result of a load, without the type of its value, so that ``_CacheStorage`` is compiled once for all types.
///
/// Sendable: the class and its subclass each have a single stored property, which is a Sendable constant.
@usableFromInline
class _CachedResult: @unchecked Sendable {
    @usableFromInline final let error: (any Error)?

    @export(implementation)
    init(error: (any Error)?) { self.error = error }
}

/// The value that a load has returned.
///
/// Sendable: the only property that it adds is a Sendable constant.
@usableFromInline
final class _CachedValue<Value: Sendable>: _CachedResult, @unchecked Sendable {
    @usableFromInline let value: Value

    @export(implementation)
    init(_ value: Value) {
        self.value = value
        super.init(error: nil)
    }
}

/// The functions of a cache whose code depends on the types of its keys and values, without these types, so that
/// ``_CacheStorage``, which calls them, is compiled once for all types.
///
/// A class and not two closures: a closure that is Sendable can't use a type of keys that may be isolated.
@usableFromInline
class _CacheLoader: @unchecked Sendable {
    @export(implementation) init() {}

    /// Calls the client's function to load the value of a key, and returns the value or the error.
    @usableFromInline
    nonisolated(nonsending) func load(_ key: _ErasedKey) async -> _CachedResult {
        preconditionFailure("A loader has a type.")
    }

    /// Returns the time for which a result is fresh; `nil` for the time of the policy.
    @usableFromInline
    func lifetime(of result: _CachedResult) -> Duration? { preconditionFailure("A loader has a type.") }
}

/// Sendable, because its stored properties are constant functions that are Sendable.
@usableFromInline
final class _TypedLoader<Key: Hashable, Value: Sendable>: _CacheLoader, @unchecked Sendable {
    @usableFromInline typealias Load = @Sendable (Key) async throws -> Value
    @usableFromInline typealias Lifetime = @Sendable (Result<Value, any Error>) -> Duration?

    @usableFromInline let load: Load
    @usableFromInline let lifetime: Lifetime?

    @export(implementation)
    init(_ load: @escaping Load, _ lifetime: Lifetime?) { (self.load, self.lifetime) = (load, lifetime) }

    @export(implementation)
    override nonisolated(nonsending) func load(_ key: _ErasedKey) async -> _CachedResult {
        // The initializers of `CachedFlight` refuse keys that the load must not share with the cache.
        nonisolated(unsafe) let key = key.unwrapped(as: Key.self)
        do {
            return _CachedValue<Value>(try await load(key))
        } catch {
            return _CachedResult(error: error)
        }
    }

    @export(implementation)
    override func lifetime(of result: _CachedResult) -> Duration? {
        lifetime?(CachedFlight<Key, Value>._result(result))
    }
}

/// An entry of a cache that is pinned as long as this object exists.
///
/// A call of the client creates it, in which the key may be searched for. Code that runs later, in another isolation, such
/// as a load, finds the entry by its place.
@usableFromInline
final class _PinnedEntry: Sendable {
    fileprivate let place: _CacheStorage.Machine.Place
    fileprivate let key: _ErasedKey
    private let storage: _CacheStorage

    fileprivate init(_ storage: _CacheStorage, _ place: _CacheStorage.Machine.Place, _ key: _ErasedKey) {
        (self.storage, self.place, self.key) = (storage, place, key)
    }

    deinit { storage.unpin(place) }

    /// The error of a load that requests its own key.
    fileprivate var reentrancyError: ReentrancyError { ReentrancyError(key: key.text ?? "") }
}

/// The key of a flight: the entry of the cache, and the serial number of the load or written value that the flight comes
/// after.
struct LoadKey: Hashable, Sendable, CustomStringConvertible, WrappingKey {
    private let key: _ErasedKey
    private let entry: UInt64
    private let after: UInt64

    init(_ entry: _PinnedEntry, after: UInt64) {
        (key, self.entry, self.after) = (entry.key, entry.place.serial, after)
    }

    static func == (one: LoadKey, other: LoadKey) -> Bool { one.entry == other.entry && one.after == other.after }

    func hash(into hasher: inout Hasher) {
        hasher.combine(entry)
        hasher.combine(after)
    }

    var description: String { plainText }

    package var plainText: String { key.text ?? "" }
}

/// Returns a random number from the exponential distribution with the mean 1. Uses only comparisons (J. von Neumann,
/// "Various Techniques Used in Connection with Random Digits", 1951), since the standard library has no logarithm.
///
/// - Parameter next: Returns 64 random bits.
func exponentialVariate(_ next: () -> UInt64) -> Double {
    // More rounds than a good generator ever needs. The limit is for a generator that always returns the same number,
    // which must not hang the caller.
    for whole in 0..<64 {
        let first = next() >> 11
        var (last, length) = (first, 1)
        while case let number = next() >> 11, number < last, length < 64 { (last, length) = (number, length + 1) }
        if length.isMultiple(of: 2) { continue }
        return Double(whole) + Double(first) / Double(UInt64.max >> 11)
    }
    return 1
}
