internal import TaskControl

/// The state of a cache: its values, their ages, and its running loads. Pure: a value without a lock, task, clock or
/// closure.
///
///     (absent) ──start──▶ loading ──finish──▶ fresh ──time──▶ stale ──time──▶ expired ──read──▶ (absent)
///        ▲                   │                  ▲               │ read: one refresh
///        │            update, invalidate        └────finish─────┘
///        │                   ▼
///        └─────finish── superseded         its result goes to the callers that wait for it, and is not stored
///
/// A flight, a task whose result several callers share, performs each load. The state contains a load from the moment
/// in which its flight begins the work until the work ends.
///
/// Loads and written values have serial numbers, in the order in which the loads began or the values were written. The
/// flights of one key are distinguished by the serial number of the load or written value that they come after, called
/// `after`: their own loads have greater numbers. A caller that needs a newer result than a running load will have
/// joins the flight that comes after that load. That flight waits until the running load has ended, and then loads.
///
/// A key is searched for only in the calls of a client, which name it, since the search runs the client's `==`. Code that
/// runs after such a call, such as a load, has *pinned* the entry of the key, and finds it by its place: the entry stays in the
/// table until it is unpinned.
///
/// Invariants, checked by `checkInvariants()` after each step of the tests:
/// 1. A key has at most one load at any time.
/// 2. Each key that the cache stores has a value, or is pinned. A load is one of those that have pinned it.
/// 3. At most `capacity` values are kept. They form a linked list in the order in which they were stored or passed over
///    by an eviction.
/// 4. A flight waits only for a load that runs.
struct CacheStateMachine<Key: Hashable, Value> {
    typealias Waiter = Word
    /// The serial number of a load or a written value. 0 comes before all of them.
    typealias Serial = UInt64
    typealias Waiters = WaiterTable
    typealias Table = KeyTable<CacheEntry<Key>>

    /// The place of a pinned entry: its index in the table, and the number that no other entry has had.
    struct Place: Hashable, Sendable {
        let index: Table.Index
        let serial: UInt64
    }

    /// The durations for which a value is used, which begin with the start of its load.
    struct Lifespan: Hashable, Sendable {
        /// The duration, from the start of the load, for which the value is fresh.
        var fresh: Duration
        /// The duration after `fresh` for which the value is still returned, and refreshed in the background.
        var stale = Duration.zero
        /// The duration after `fresh` for which the value is still returned if a load fails.
        var fallback = Duration.zero
        /// The duration before the end of `fresh` in which a read already refreshes the value.
        var early = Duration.zero
    }

    struct Content {
        let value: Value
        let serial: Serial
        let start: Duration
        /// The moment from which a read refreshes the value, as the time since the creation of the cache.
        let refreshTime: Duration
        /// The moment from which the value is stale, as the time since the creation of the cache.
        let staleTime: Duration
        /// The moment from which the value is returned only if a load fails, as the time since the creation of the
        /// cache.
        let useLimit: Duration
        /// The moment from which the expired value is never returned, as the time since the creation of the cache.
        let fallbackLimit: Duration

        init(_ value: Value, _ serial: Serial, start: Duration, _ span: Lifespan) {
            (self.value, self.serial, self.start) = (value, serial, start)
            staleTime = start + span.fresh
            refreshTime = max(start, staleTime - span.early)
            useLimit = staleTime + span.stale
            fallbackLimit = max(useLimit, staleTime + span.fallback)
        }
    }

    struct Load {
        let serial: Serial
        /// The serial number of the load or written value that the flight of this load comes after.
        let after: Serial
        /// The flight that performs the load; `nil` only in tests without flights.
        let flight: Ticket?
        let start: Duration
        /// Whether a value was written, or the key was invalidated, since the load began. If so, the result of the load
        /// is not stored.
        var isSuperseded = false
    }

    /// The value and the load of a key, at the same index as the ``CacheEntry`` of the key.
    struct Body {
        var content: Content?
        var load: Load?
        /// The number of the calls of `pin(_:)` for which `unpin(_:)` has not been called.
        var pins = 0
        /// The flights of this key that wait until `load` has ended, before they load themselves.
        var line = Chain()
        /// The number of loads that have failed since the last load or write that stored a value.
        var failures = 0
        /// The moment before which no read begins a refresh, as the time since the creation of the cache.
        var retryTime = Duration.zero
        /// Whether a read has returned ``Answer/refresh(_:isStale:after:)``, and that refresh has not begun yet.
        /// Meanwhile no other read begins a refresh.
        var isRefreshClaimed = false
    }

    /// The part of the state of a key that `hit(_:atNanosecond:)` reads, at the same index as the ``Body`` of the key.
    /// Separate from ``Body``, so that a hit does not copy the rest.
    struct Hit {
        var value: Value?
        /// The moment from which a read refreshes the value, in nanoseconds since the creation of the cache, which are
        /// compared faster than durations; `Int64.min` if there is no value.
        var refreshTime = Int64.min
        /// Whether a caller has used the value since it was stored or passed over by an eviction.
        var isUsed = false
    }

    let capacity: Int
    private let retryDelay: Duration
    var entries = Table()
    /// The bodies of the entries. The body of an entry has the same index as the entry in `entries`.
    var bodies: ContiguousArray<Body> = []
    var hits: ContiguousArray<Hit> = []
    var waiters = Waiters()
    /// The entries with a value, the next candidate for an eviction first.
    var order = Chain()
    /// The number of entries that have a value.
    var count = 0
    var nextSerial: Serial = 1
    private var nextEntry: UInt64 = 0

    /// Creates the state of an empty cache.
    ///
    /// - Parameters:
    ///   - capacity: The largest number of values. A negative number counts as zero.
    ///   - retryDelay: The time after a failed load in which no read begins a refresh. It is longer after several
    ///     failures in a row.
    init(capacity: Int, retryDelay: Duration) {
        (self.capacity, self.retryDelay) = (max(0, capacity), retryDelay)
    }

    // MARK: Reading

    enum Answer {
        /// A value that is not due for a refresh, for the reader to return.
        case hit(Value)
        /// A value that is due for a refresh, which this reader must not begin. `isStale` is `true` if the value is no
        /// longer fresh, and `false` if it is only due for an early refresh. `joining` identifies the flight of the
        /// expected refresh, which runs or which another reader begins: it is the serial number of the load or written
        /// value that this flight comes after. `joining` is `nil` if no refresh is expected.
        case old(Value, isStale: Bool, joining: Serial?)
        /// A value that is due for a refresh, which this reader must begin: the flight that comes after the load or
        /// written value with the serial number `after`. `isStale` has the same meaning as for `old`.
        case refresh(Value, isStale: Bool, after: Serial)
        /// There is no value to return without a load. The reader must join or begin the flight that comes after the
        /// serial number `after`. `expired` is the value that the read has removed, if any.
        case load(after: Serial, expired: Expired?)
    }

    /// A value that was removed because it had expired, and its key if the key was removed too. Both are released
    /// outside the lock.
    struct Expired {
        let value: Value
        var key: Key?
    }

    /// Returns the value of a key if it is not due for a refresh. This counts as a use of the value.
    ///
    /// - Parameter now: The time since the creation of the cache, rounded to whole nanoseconds. Rounding does not
    ///   change the order of two times, so a value is never returned at its refresh time or later.
    /// - Returns: The value; `nil` if the caller must call `read(_:at:)`, because there is no such value, or because
    ///   whole nanoseconds are too coarse to decide.
    /// - Complexity: O(1).
    mutating func hit(_ key: Key, atNanosecond now: Int64) -> Value? {
        guard let index = entries.index(of: key) else { return nil }
        let hit = hits[Int(index)]
        guard now < hit.refreshTime else { return nil }
        touch(index)
        return hit.value
    }

    /// Returns the value of a key, or the action by which the caller obtains a value. Counts as a use of the value.
    /// Removes an expired value. `now` is the time since the creation of the cache.
    ///
    /// - Complexity: O(1).
    mutating func read(_ key: Key, at now: Duration) -> Answer {
        guard let index = entries.index(of: key) else { return .load(after: 0, expired: nil) }
        return read(index, at: now)
    }

    /// Returns the value of a pinned entry, as `read(_:at:)` does for a key.
    mutating func read(_ place: Place, at now: Duration) -> Answer { read(place.index, at: now) }

    private mutating func read(_ index: Table.Index, at now: Duration) -> Answer {
        guard let content = bodies[Int(index)].content else { return .load(after: flight(of: index), expired: nil) }
        if now < content.refreshTime {
            touch(index)
            return .hit(content.value)
        }
        let isStale = now >= content.staleTime
        let mayRefresh = bodies[Int(index)].load == nil && now >= bodies[Int(index)].retryTime
        if now < content.useLimit {
            touch(index)
            guard mayRefresh, !bodies[Int(index)].isRefreshClaimed else {
                return .old(content.value, isStale: isStale, joining: running(index))
            }
            bodies[Int(index)].isRefreshClaimed = true
            return .refresh(content.value, isStale: isStale, after: content.serial)
        }
        if now < content.fallbackLimit {
            touch(index)
            // A load has failed a moment ago, so another one would fail as well.
            if bodies[Int(index)].load == nil, !mayRefresh {
                return .old(content.value, isStale: true, joining: nil)
            }
            return .load(after: flight(of: index), expired: nil)
        }
        dropContent(index)
        let after = flight(of: index)
        return .load(after: after, expired: Expired(value: content.value, key: removeIfUnused(index)))
    }

    /// Determines the flight that will refresh the value of the entry at an index: a refresh that runs, or that a
    /// reader has yet to begin.
    ///
    /// - Returns: The serial number that this flight comes after; `nil` if no refresh is expected.
    private func running(_ index: Table.Index) -> Serial? {
        if let load = bodies[Int(index)].load { return load.isSuperseded ? nil : load.after }
        return bodies[Int(index)].isRefreshClaimed ? bodies[Int(index)].content?.serial : nil
    }

    /// Determines the flight that a caller must join or begin if the entry at an index has no value to return.
    ///
    /// - Returns: The serial number that this flight comes after. It is less than that of the flight's own load.
    private func flight(of index: Table.Index) -> Serial {
        if let load = bodies[Int(index)].load { return load.isSuperseded ? load.serial : load.after }
        return bodies[Int(index)].content?.serial ?? 0
    }

    /// Returns the serial number of the newest load or written value of a pinned entry; 0 if there is none. A flight
    /// that comes after this number begins its load after this call.
    func newest(_ place: Place) -> Serial {
        let body = bodies[Int(place.index)]
        // A value that was written during the load is newer than the load.
        return max(body.load?.serial ?? 0, body.content?.serial ?? 0)
    }

    /// Returns the value of a key; `nil` if there is none, or if it may be returned only after a failed load. Does not
    /// count as a use of the value.
    func peek(_ key: Key, at now: Duration) -> Value? { entries.index(of: key).flatMap { peek($0, at: now) } }

    /// Returns the value of a pinned entry, as `peek(_:at:)` does for a key.
    func peek(_ place: Place, at now: Duration) -> Value? { peek(place.index, at: now) }

    private func peek(_ index: Table.Index, at now: Duration) -> Value? {
        guard let content = bodies[Int(index)].content else { return nil }
        return now < content.useLimit ? content.value : nil
    }

    /// The two facts that determine how a reader of a stale value waits for the refresh of that value.
    struct Outlook {
        /// The duration, from the call of `outlook`, for which the value may still be returned without a failed load.
        let remaining: Duration
        /// Whether another reader must begin the refresh, and has not begun it yet.
        let isClaimed: Bool
    }

    /// Returns the facts for a reader of a stale value that waits for its refresh: the flight that comes after the
    /// serial number `after`. Returns `nil` if the value may be returned only after a failed load, or no longer. Does
    /// not count as a use of the value. `now` is the time since the creation of the cache.
    func outlook(_ place: Place, after: Serial, at now: Duration) -> Outlook? {
        guard let content = bodies[Int(place.index)].content, now < content.useLimit else { return nil }
        let isClaimed = bodies[Int(place.index)].isRefreshClaimed && content.serial == after
        return Outlook(remaining: content.useLimit - now, isClaimed: isClaimed)
    }

    /// Returns the value of a pinned entry for a caller whose load has failed; `nil` if there is none, or if it has
    /// expired.
    func fallback(_ place: Place, at now: Duration) -> Value? {
        guard let content = bodies[Int(place.index)].content else { return nil }
        return now < content.fallbackLimit ? content.value : nil
    }

    @inline(__always)
    private mutating func touch(_ index: Table.Index) {
        // Most values are read more than once: a read costs less than a write.
        if !hits[Int(index)].isUsed { hits[Int(index)].isUsed = true }
    }

    // MARK: Pinning

    /// Keeps the entry of a key in the table until `unpin(_:)` is called for its place, and inserts the entry if the key
    /// has none.
    ///
    /// - Complexity: O(1) on average, amortized.
    mutating func pin(_ key: Key) -> Place {
        let index = entries.index(of: key) ?? insert(key)
        bodies[Int(index)].pins += 1
        return Place(index: index, serial: entries[index].serial)
    }

    /// Ends the effect of one call of `pin(_:)`.
    ///
    /// - Returns: The key, to be released outside the lock, if the entry was removed; otherwise `nil`.
    mutating func unpin(_ place: Place) -> Key? {
        bodies[Int(place.index)].pins -= 1
        return removeIfUnused(place.index)
    }

    // MARK: Loading

    enum Starting {
        /// The flight must load, and then pass this serial number to `finish`.
        case load(Serial)
        /// The flight must return this value instead of loading: a fresh value that is newer than the flight's `after`
        /// was stored meanwhile.
        case value(Value)
        /// Another load of the key runs, performed by the flight `behind`. This flight must call `park(_:_:)` with this
        /// ID, and call `start` again when it is resumed.
        case wait(Waiters.ID, behind: Ticket?)
    }

    /// Returns the next action of a flight that is about to load.
    ///
    /// - Parameters:
    ///   - place: The entry of the key, which the flight has pinned until after `finish`.
    ///   - after: The serial number of the load or written value that the flight comes after.
    ///   - flight: The identity of the flight; `nil` only in tests without flights.
    /// - Complexity: O(1), amortized.
    mutating func start(_ place: Place, after: Serial, flight: Ticket?, at now: Duration) -> Starting {
        let index = place.index
        bodies[Int(index)].isRefreshClaimed = false
        if let content = bodies[Int(index)].content, content.serial > after, now < content.staleTime {
            return .value(content.value)
        }
        if let load = bodies[Int(index)].load {
            return .wait(waiters.enroll(in: &bodies[Int(index)].line), behind: load.flight)
        }
        bodies[Int(index)].load = Load(serial: nextSerial, after: after, flight: flight, start: now)
        nextSerial += 1
        return .load(nextSerial - 1)
    }

    /// Stores the continuation of a flight that waits for a running load, with the ID that `start` has returned.
    ///
    /// - Returns: The outcome with which the continuation must be resumed at once; `nil` if it was stored.
    mutating func park(_ id: Waiters.ID, _ waiter: Waiter) -> WaitOutcome? { waiters.park(id, waiter) }

    /// Removes a flight that no longer waits for a running load. Has no effect if the end of the load has woken the
    /// flight.
    ///
    /// - Returns: The continuation to resume; `nil` if the flight had not parked yet, or was woken.
    mutating func leave(_ id: Waiters.ID, _ place: Place) -> Waiter? {
        guard waiters.isWaiting(id) else { return nil }
        return waiters.leave(id, in: &bodies[Int(place.index)].line, with: .left)
    }

    enum Outcome {
        case value(Value, Lifespan)
        /// A result that contains an error. It is stored if its lifespan is more than zero, and if there is no older
        /// value that may be returned after a failed load.
        case failure(Value, Lifespan)
        /// The flight was cancelled or its load interrupted, which says nothing about the key.
        case interrupted
    }

    /// The consequences of a change of the state. The caller acts on them after it has released the lock, and only then
    /// releases the values and keys.
    struct Remains {
        /// The continuations of the flights that waited for a load that has now ended.
        var woken: [Waiter] = []
        var values: [Value] = []
        var keys: [Key] = []
        /// The keys whose values were removed because the cache was full.
        var evicted: [Key] = []
        /// The keys whose running loads were superseded, so that their results are not stored. For each key, `flight`
        /// is the flight of the load, and `after` is the serial number that it comes after. Both are needed: the key
        /// may have a newer flight with the same `after`.
        var superseded: [(key: Key, after: Serial, flight: Ticket?)] = []
    }

    /// Ends the load with a serial number, and stores its result unless a write or an invalidation has superseded the
    /// load. Traps if that load does not run.
    ///
    /// - Complexity: O(1), and O(*n*) in the number of flights that wait for the end of the load.
    mutating func finish(_ place: Place, _ serial: Serial, _ outcome: Outcome, at now: Duration) -> Remains {
        let index = place.index
        guard let load = bodies[Int(index)].load, load.serial == serial else {
            preconditionFailure("A load ends once.")
        }
        var remains = Remains()
        bodies[Int(index)].load = nil
        remains.woken = waiters.wakeAll(in: &bodies[Int(index)].line, with: .reached)
        if !load.isSuperseded {
            switch outcome {
            case .interrupted: break
            case .value(let value, let span):
                (bodies[Int(index)].failures, bodies[Int(index)].retryTime) = (0, .zero)
                store(Content(value, serial, start: load.start, span), at: index, now, &remains)
            case .failure(let error, let span):
                fail(index, at: now)
                let limit = bodies[Int(index)].content?.fallbackLimit
                if span.fresh > .zero, limit.map({ now >= $0 }) ?? true {
                    store(Content(error, serial, start: load.start, span), at: index, now, &remains)
                }
            }
        }
        if let key = removeIfUnused(index) { remains.keys.append(key) }
        return remains
    }

    /// Records a failed load of the entry at an index, and sets the moment before which no read begins a refresh. The
    /// delay doubles for each further failure in a row, up to the time to live of the value.
    private mutating func fail(_ index: Table.Index, at now: Duration) {
        bodies[Int(index)].failures += 1
        let lifetime = bodies[Int(index)].content.map { $0.staleTime - $0.start } ?? .zero
        let factor = Double(1 << min(bodies[Int(index)].failures - 1, 30))
        let delay = min(retryDelay.saturatingMultiplied(by: factor), max(retryDelay, lifetime))
        bodies[Int(index)].retryTime = now + delay
    }

    mutating func insert(_ key: Key) -> Table.Index {
        let index = entries.insert(CacheEntry(key: key, serial: nextEntry))
        nextEntry += 1
        if Int(index) == bodies.count {
            bodies.append(Body())
            hits.append(Hit())
        }
        return index
    }

    // MARK: Looking

    /// The number of running loads.
    var loadCount: Int {
        (0..<entries.extent).count { entries.isOccupied($0) && bodies[Int($0)].load != nil }
    }

    /// The capacity of the largest table, as a measure of the memory that is allocated.
    var memory: Int { max(entries.capacity, bodies.capacity, waiters.capacity) }
}

/// An entry of the table of a cache: a key, and its links to other entries.
struct CacheEntry<Key: Hashable>: Keyed, Linked {
    let key: Key
    /// A number that no other entry of the table has had.
    let serial: UInt64
    var nextInBucket = Chain.none
    /// The neighbors in the list of the entries that have a value, in the order of eviction.
    var links = Links()
}

extension CacheStateMachine {
    /// Stores a value that was written, and supersedes a running load of the key: the result of that load is not
    /// stored.
    ///
    /// - Parameters:
    ///   - key: The key of the value.
    ///   - value: The value.
    ///   - span: The times for which the value is used, counted from `now`.
    ///   - now: The current time, counted from the creation of the cache.
    /// - Returns: The consequences, such as evicted values, on which the caller acts outside the lock.
    /// - Complexity: O(1), amortized.
    mutating func update(_ key: Key, _ value: Value, _ span: Lifespan, at now: Duration) -> Remains {
        var remains = Remains()
        let index = entries.index(of: key) ?? insert(key)
        supersede(index, &remains)
        (bodies[Int(index)].failures, bodies[Int(index)].retryTime) = (0, .zero)
        store(Content(value, nextSerial, start: now, span), at: index, now, &remains)
        nextSerial += 1
        if let key = removeIfUnused(index) { remains.keys.append(key) }
        return remains
    }

    /// Removes the value of a key, and supersedes a running load of the key: the result of that load is not stored.
    ///
    /// - Returns: The consequences, such as the removed value, on which the caller acts outside the lock.
    mutating func invalidate(_ key: Key) -> Remains {
        var remains = Remains()
        if let index = entries.index(of: key) { invalidate(index, &remains) }
        return remains
    }

    /// Removes all values, and supersedes all running loads: the results of these loads are not stored.
    ///
    /// - Returns: The consequences, such as the removed values, on which the caller acts outside the lock.
    /// - Complexity: O(*n*) in the number of values and loads.
    mutating func removeAll() -> Remains {
        var remains = Remains()
        for index in 0..<entries.extent where entries.isOccupied(index) { invalidate(index, &remains) }
        return remains
    }

    /// Removes the values that are older than a duration. The age counts from the start of the load, or from the write.
    ///
    /// - Parameters:
    ///   - age: The age above which values are removed.
    ///   - now: The current time, counted from the creation of the cache.
    /// - Returns: The consequences, such as the removed values, on which the caller acts outside the lock.
    /// - Complexity: O(*n*) in the number of values and loads.
    mutating func removeAll(olderThan age: Duration, at now: Duration) -> Remains {
        var remains = Remains()
        for index in 0..<entries.extent where entries.isOccupied(index) {
            guard let content = bodies[Int(index)].content, now - content.start > age else { continue }
            remains.values.append(content.value)
            dropContent(index)
            if let key = removeIfUnused(index) { remains.keys.append(key) }
        }
        return remains
    }

    private mutating func invalidate(_ index: Table.Index, _ remains: inout Remains) {
        supersede(index, &remains)
        if let content = bodies[Int(index)].content {
            remains.values.append(content.value)
            dropContent(index)
        }
        if let key = removeIfUnused(index) { remains.keys.append(key) }
    }

    private mutating func supersede(_ index: Table.Index, _ remains: inout Remains) {
        guard let load = bodies[Int(index)].load, !load.isSuperseded else { return }
        bodies[Int(index)].load?.isSuperseded = true
        remains.superseded.append((entries[index].key, load.after, load.flight))
    }
}

// MARK: Storing

extension CacheStateMachine {
    mutating func store(
        _ content: Content,
        at index: Table.Index,
        _ now: Duration,
        _ remains: inout Remains
    ) {
        if let old = bodies[Int(index)].content {
            remains.values.append(old.value)
            dropContent(index)
        }
        bodies[Int(index)].isRefreshClaimed = false
        guard now < content.fallbackLimit else { return remains.values.append(content.value) }
        guard capacity > 0 else {
            remains.values.append(content.value)
            return remains.evicted.append(entries[index].key)
        }
        if count == capacity { evict(&remains) }
        bodies[Int(index)].content = content
        hits[Int(index)] = Hit(value: content.value, refreshTime: content.refreshTime.wholeNanoseconds)
        entries.append(index, to: &order)
        count += 1
    }

    /// Evicts a value by the second-chance algorithm: takes the first value in ``order``, and passes over each value
    /// that was used since it was stored or last passed over. There must be a value.
    ///
    /// - Parameter remains: The consequences, to which the evicted value and its key are added.
    /// - Complexity: O(1), amortized: a value is passed over only once per use.
    private mutating func evict(_ remains: inout Remains) {
        while hits[Int(order.first)].isUsed {
            let index = order.first
            hits[Int(index)].isUsed = false
            entries.unlink(index, from: &order)
            entries.append(index, to: &order)
        }
        let oldest = order.first
        if let content = bodies[Int(oldest)].content { remains.values.append(content.value) }
        remains.evicted.append(entries[oldest].key)
        dropContent(oldest)
        _ = removeIfUnused(oldest)
    }

    mutating func dropContent(_ index: Table.Index) {
        entries.unlink(index, from: &order)
        bodies[Int(index)].content = nil
        hits[Int(index)] = Hit()
        bodies[Int(index)].isRefreshClaimed = false
        count -= 1
    }

    /// Removes the entry at an index of the table if it has no value and is not pinned.
    ///
    /// - Returns: The key of the removed entry, to be released outside the lock; `nil` if the entry was not removed.
    mutating func removeIfUnused(_ index: Table.Index) -> Key? {
        guard bodies[Int(index)].content == nil, bodies[Int(index)].load == nil else { return nil }
        // Without a value and a load, the failures of the key are past.
        bodies[Int(index)] = Body(pins: bodies[Int(index)].pins)
        if bodies[Int(index)].pins > 0 { return nil }
        let key = entries.remove(index).key
        let extent = Int(entries.extent)
        if extent < bodies.count {
            bodies.removeSubrange(extent...)
            hits.removeSubrange(extent...)
            bodies.shrinkIfMostlyEmpty(keeping: 128)
            hits.shrinkIfMostlyEmpty(keeping: 128)
        }
        return key
    }
}

extension CacheStateMachine {
    /// Traps if an invariant does not hold.
    ///
    /// - Complexity: O(*n*) in the number of values and loads.
    func checkInvariants() {
        var (withContent, withLine) = (0, 0)
        for index in 0..<entries.extent where entries.isOccupied(index) {
            let (key, body) = (entries[index].key, bodies[Int(index)])
            precondition(body.content != nil || body.pins > 0, "a key without a value is pinned")
            precondition(body.load == nil || body.pins > 0, "a load has pinned its key")
            precondition(body.line.isEmpty || body.load != nil, "flights wait only for a load that runs")
            precondition(entries.index(of: key) == index, "a key has one entry")
            if body.content != nil { withContent += 1 }
            if !body.line.isEmpty { withLine += 1 }
        }
        precondition(bodies.count == Int(entries.extent), "the bodies are as many as the table reaches")
        entries.checkLinks(of: order)
        let chained = entries.indexes(of: order)
        precondition(chained.allSatisfy { bodies[Int($0)].content != nil }, "the chain consists of values")
        precondition(chained.count == count && count == withContent && count <= capacity, "values are counted")
        precondition(waiters.count > 0 || withLine == 0, "a flight that waits has a place")
    }
}
