internal import TaskControl

/// Which values a cache has, how old they are, and which loads run. Pure: no lock, task, clock or closure.
///
///     (absent) ──start──▶ loading ──finish──▶ fresh ──time──▶ stale ──time──▶ expired ──read──▶ (absent)
///        ▲                   │                  ▲               │ read: one refresh
///        │            update, invalidate        └────finish─────┘
///        │                   ▼
///        └─────finish── superseded         its result goes to the callers that wait for it, and is not stored
///
/// A load is known from the moment in which its flight begins the work until it ends. The flights of one key are distinguished by the load that
/// they come after: a caller that needs a newer result than a running load will have joins the flight after that load, which waits for its end.
///
/// Loads and values have serials, in the order in which the loads began or the values were written.
///
/// Invariants, checked by `checkInvariants()` after each step of the tests:
/// 1. A key has at most one load at any time.
/// 2. A key without a value has a load; otherwise nothing of it is kept.
/// 3. At most `capacity` values are kept; they form a chain in the order in which they were stored or passed over by an eviction.
/// 4. Flights wait only for a load that runs.
struct CacheStateMachine<Key: Hashable, Value, Waiter> {
    /// The number of a load or a written value; 0: before all of them.
    typealias Serial = UInt64
    typealias Waiters = WaiterTable<Waiter, WaitOutcome>
    typealias Table = KeyTable<CacheEntry<Key>>

    /// The times for which a value is used, from the start of its load.
    struct Lifespan: Hashable, Sendable {
        /// The time in which the value is fresh.
        var fresh: Duration
        /// The time after `fresh` in which the value is returned, and refreshed in the background.
        var stale = Duration.zero
        /// The time after `fresh` in which the value is returned if a load fails.
        var fallback = Duration.zero
        /// The time before the end of `fresh` at which the value is refreshed.
        var early = Duration.zero
    }

    struct Content {
        let value: Value
        let serial: Serial
        let start: Duration
        /// The time from which on a read refreshes the value.
        let refreshTime: Duration
        /// The time from which on the value is stale.
        let staleTime: Duration
        /// The time from which on the value is not returned without a load.
        let useLimit: Duration
        /// The time from which on the value is not returned at all.
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
        /// The load that precedes the flight of this load.
        let after: Serial
        /// The flight that performs the load.
        let flight: Ticket?
        let start: Duration
        /// Whether a write or an invalidation has come since the load began.
        var isSuperseded = false
    }

    /// The value and the load of a key, at the index of its entry.
    struct Body {
        var content: Content?
        var load: Load?
        /// The flights that wait for the end of the load.
        var line = Chain()
        /// The number of loads in a row that have failed.
        var failures = 0
        /// The time before which no read begins a refresh.
        var retryTime = Duration.zero
        /// Whether a reader has undertaken to begin a refresh.
        var isRefreshClaimed = false
    }

    /// The part of a body that a hit needs, at the same index: the rest would be copied with it.
    struct Hit {
        var value: Value?
        /// The time from which on a read refreshes the value, in whole nanoseconds, which are compared faster; the lowest number if there is no value.
        var refreshTime = Int64.min
        /// Whether a caller has used the value since it was stored or passed over by an eviction.
        var isUsed = false
    }

    let capacity: Int
    private let retryDelay: Duration
    var entries = Table()
    /// The bodies of the entries, as many as the table reaches.
    var bodies: ContiguousArray<Body> = []
    var hits: ContiguousArray<Hit> = []
    var waiters = Waiters()
    /// The entries with a value, the next candidate for an eviction first.
    var order = Chain()
    /// The number of entries that have a value.
    var count = 0
    var nextSerial: Serial = 1

    /// Creates the state of an empty cache.
    ///
    /// - Parameters:
    ///   - capacity: The highest number of values.
    ///   - retryDelay: The time after a failed load in which no read begins a refresh. It is longer after several failures in a row.
    init(capacity: Int, retryDelay: Duration) {
        (self.capacity, self.retryDelay) = (max(0, capacity), retryDelay)
    }

    // MARK: Reading

    enum Answer {
        /// A value, and nothing else to do.
        case hit(Value)
        /// A value that is older than it should be. A load for it runs if `joining` is not `nil`; it has the flight after that load.
        case old(Value, isStale: Bool, joining: Serial?)
        /// A value that is older than it should be; the caller must launch the flight after a load.
        case refresh(Value, isStale: Bool, after: Serial)
        /// The caller must join the flight after a load.
        case load(after: Serial, expired: Expired?)
    }

    /// A value that was removed because it had expired, to be released outside the lock.
    struct Expired {
        let value: Value
        var key: Key?
    }

    /// Returns the value of a key for a caller, if the value can be returned without any other action.
    ///
    /// - Parameter now: The time in whole nanoseconds. A value is never returned at its refresh time or later, since no two times are in the
    ///   opposite order of their nanoseconds.
    /// - Returns: `nil` if anything must be done, or if a nanosecond does not suffice to decide: see `read(_:at:)`.
    /// - Complexity: O(1).
    mutating func hit(_ key: Key, atNanosecond now: Int64) -> Value? {
        guard let index = entries.index(of: key) else { return nil }
        let hit = hits[Int(index)]
        guard now < hit.refreshTime else { return nil }
        touch(index)
        return hit.value
    }

    /// Returns the value of a key for a caller, or what the caller must do to obtain a value.
    ///
    /// - Complexity: O(1).
    mutating func read(_ key: Key, at now: Duration) -> Answer {
        guard let index = entries.index(of: key) else { return .load(after: 0, expired: nil) }
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

    /// Returns the load after which the load comes that is expected to bring a newer value of a key; `nil` if none is expected.
    private func running(_ index: Table.Index) -> Serial? {
        if let load = bodies[Int(index)].load { return load.isSuperseded ? nil : load.after }
        return bodies[Int(index)].isRefreshClaimed ? bodies[Int(index)].content?.serial : nil
    }

    /// Returns the load that precedes the flight of a caller that cannot use the value.
    private func flight(of index: Table.Index) -> Serial {
        if let load = bodies[Int(index)].load { return load.isSuperseded ? load.serial : load.after }
        return bodies[Int(index)].content?.serial ?? 0
    }

    /// Returns the load that precedes a flight whose load begins from now on.
    func newest(_ key: Key) -> Serial {
        guard let index = entries.index(of: key) else { return 0 }
        // A value that was written during the load is newer than the load.
        return max(bodies[Int(index)].load?.serial ?? 0, bodies[Int(index)].content?.serial ?? 0)
    }

    /// Returns the value of a key, if it would be returned without a load. Does not count as a use of the value.
    func peek(_ key: Key, at now: Duration) -> Value? {
        guard let index = entries.index(of: key), let content = bodies[Int(index)].content else { return nil }
        return now < content.useLimit ? content.value : nil
    }

    /// The time for which a reader of a stale value may wait for its refresh.
    struct Outlook {
        /// The time until the value is not returned any more.
        let remaining: Duration
        /// Whether a reader has undertaken the refresh, whose load has not begun.
        let isClaimed: Bool
    }

    /// Returns the outlook of a reader that waits for the load after another load; `nil` if the value is not returned any more. Does not count as a
    /// use of the value.
    func outlook(_ key: Key, after: Serial, at now: Duration) -> Outlook? {
        guard let index = entries.index(of: key), let content = bodies[Int(index)].content, now < content.useLimit
        else { return nil }
        let isClaimed = bodies[Int(index)].isRefreshClaimed && content.serial == after
        return Outlook(remaining: content.useLimit - now, isClaimed: isClaimed)
    }

    /// Returns the value of a key for a caller whose load has failed.
    func fallback(_ key: Key, at now: Duration) -> Value? {
        guard let index = entries.index(of: key), let content = bodies[Int(index)].content else { return nil }
        return now < content.fallbackLimit ? content.value : nil
    }

    @inline(__always)
    private mutating func touch(_ index: Table.Index) {
        // Most values are read more than once: a read costs less than a write.
        if !hits[Int(index)].isUsed { hits[Int(index)].isUsed = true }
    }

    // MARK: Loading

    enum Starting {
        /// The flight must load, and then call `finish`.
        case load(Serial)
        /// A newer value than that of the load before has come meanwhile.
        case value(Value)
        /// Another load of the key runs: the flight must park, and ask again when it is woken.
        case wait(Waiters.ID, behind: Ticket?)
    }

    /// Decides what a flight does that is about to load.
    ///
    /// - Parameters:
    ///   - after: The load after which the flight comes.
    ///   - flight: The flight.
    /// - Complexity: O(1), amortized.
    mutating func start(_ key: Key, after: Serial, flight: Ticket?, at now: Duration) -> Starting {
        let index = entries.index(of: key) ?? insert(key)
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

    /// Parks the waiter of a flight.
    ///
    /// - Returns: The result with which the waiter must be resumed at once; `nil`: it waits.
    mutating func park(_ id: Waiters.ID, _ waiter: Waiter) -> WaitOutcome? { waiters.park(id, waiter) }

    /// Removes a flight that no longer waits. Has no effect if the flight was woken.
    ///
    /// - Returns: The waiter, if it is parked.
    mutating func leave(_ id: Waiters.ID, _ key: Key) -> Waiter? {
        guard waiters.isWaiting(id), let index = entries.index(of: key) else { return nil }
        return waiters.leave(id, in: &bodies[Int(index)].line, with: .left)
    }

    enum Outcome {
        case value(Value, Lifespan)
        /// An error. It is stored if its lifespan is more than zero and there is no value to fall back to.
        case failure(Value, Lifespan)
        /// The flight was cancelled, which says nothing about the key.
        case cancelled
    }

    /// The consequences of a change: the storage acts on them, and releases the values and keys outside the lock.
    struct Remains {
        /// The flights that waited for the load.
        var woken: [Waiter] = []
        var values: [Value] = []
        var keys: [Key] = []
        /// The keys whose values had to make room.
        var evicted: [Key] = []
        /// The keys whose loads were superseded, with the load after which the flight of each comes, and that flight: the key may have a newer
        /// flight after the same load.
        var superseded: [(key: Key, after: Serial, flight: Ticket?)] = []
    }

    /// Ends a load, and stores its result unless the load was superseded.
    ///
    /// - Complexity: O(1), and O(*n*) in the number of flights that wait for it.
    mutating func finish(_ key: Key, _ serial: Serial, _ outcome: Outcome, at now: Duration) -> Remains {
        guard let index = entries.index(of: key), let load = bodies[Int(index)].load, load.serial == serial else {
            preconditionFailure("A load ends once.")
        }
        var remains = Remains()
        bodies[Int(index)].load = nil
        remains.woken = waiters.wakeAll(in: &bodies[Int(index)].line, with: .reached)
        if !load.isSuperseded {
            switch outcome {
            case .cancelled: break
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

    /// Records a failed load: later reads try again after the delay, and after twice the time for each further failure, but at least once per time to
    /// live.
    private mutating func fail(_ index: Table.Index, at now: Duration) {
        bodies[Int(index)].failures += 1
        let lifetime = bodies[Int(index)].content.map { $0.staleTime - $0.start } ?? .zero
        let factor = Double(1 << min(bodies[Int(index)].failures - 1, 30))
        let delay = min(retryDelay.saturatingMultiplied(by: factor), max(retryDelay, lifetime))
        bodies[Int(index)].retryTime = now + delay
    }

    mutating func insert(_ key: Key) -> Table.Index {
        let index = entries.insert(CacheEntry(key: key))
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

    /// The number of entries that memory is allocated for.
    var memory: Int { max(entries.capacity, bodies.capacity, waiters.capacity) }
}

/// A key of a cache.
struct CacheEntry<Key: Hashable>: Keyed, Linked {
    let key: Key
    var nextInBucket = Chain.none
    /// The neighbors in the chain of the entries with a value.
    var links = Links()
}
