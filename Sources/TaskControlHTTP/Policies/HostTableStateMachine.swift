internal import TaskControl

/// The values of a ``HostTable``, and which of them are evicted. Pure: a value without a lock, task or closure.
///
///     borrowed ◀──use── idle ──examine──▶ (judged) ──settle──▶ evicted      its eviction has no effect
///        │               ▲                   ├──────────────▶ idle         it is needed: examined again after the others
///        └────return─────┘                   └──────────────▶ used         it has a history without an end
///
/// An entry, which is a host with its value, is evicted only after it was *examined*: the machine takes it out of its queue,
/// the table judges outside its lock how important the value is, and the machine evicts the entry or puts it into a queue. Idle
/// entries are examined first, those that were not used for the longest time before the others; a needed entry then goes to
/// the end of the queue. Entries with a history without an end go to a queue of their own, and are evicted in its order. So
/// the number of steps for a new host does not depend on the number of entries, amortized: each step evicts an entry, moves
/// it to the other queue, or is one of the few with which the table passes over needed entries.
///
/// Each entry has a stamp: a number that changes with each use. An entry that was used while it was judged stays.
///
/// Invariants, checked by `checkInvariants(borrowed:judged:)` after each step of the tests:
/// 1. An entry is not removed while it is *borrowed*: while a call uses its value.
/// 2. The stamps of the entries differ.
/// 3. An entry that is neither borrowed nor being judged is in one of the two queues, and any other entry in none.
struct HostTableStateMachine<Value: Sendable> {
    /// The queues of the entries that no call uses.
    enum Queue: Hashable, CaseIterable, Sendable {
        /// The entries that were not judged since their last use, or that were needed then.
        case idle
        /// The entries that had a history without an end when they were judged.
        case used
    }

    typealias Table = KeyTable<HostEntry<Value>>
    /// The place of a borrowed entry, which stays the same until it is returned.
    typealias Place = Table.Index

    /// An entry that was taken out of its queue to be judged.
    struct Candidate: Sendable {
        let value: Value
        fileprivate let place: Place
        fileprivate let stamp: UInt64
        fileprivate let queue: Queue
        fileprivate let limit: Int
    }

    private var entries = Table()
    private var idle = Chain()
    private var used = Chain()
    private var lastStamp: UInt64 = 0

    // MARK: Using

    /// Returns the value of a host, and records that it is used now.
    ///
    /// - Parameters:
    ///   - host: The host.
    ///   - isBorrowed: Whether the entry must not be evicted until `giveBack(_:)` is called.
    /// - Returns: The value and its place; `nil` if the host has none.
    /// - Complexity: O(1).
    mutating func use(_ host: String, isBorrowed: Bool) -> (value: Value, place: Place)? {
        guard let place = entries.index(of: host) else { return nil }
        use(place) { $0 += isBorrowed ? 1 : 0 }
        return (entries[place].value, place)
    }

    /// Adds a value for a host, unless the table already has a value for that host.
    ///
    /// - Parameters:
    ///   - value: The value to add.
    ///   - host: The host.
    ///   - isBorrowed: Whether the entry must not be evicted until ``giveBack(_:)`` is called.
    /// - Returns: The value of the host, which is the existing one or the added one, and its place.
    /// - Complexity: O(1), amortized.
    mutating func add(_ value: Value, _ host: String, isBorrowed: Bool) -> (value: Value, place: Place) {
        if let used = use(host, isBorrowed: isBorrowed) { return used }
        let place = entries.insert(HostEntry(key: host, value: value))
        use(place) { $0 += isBorrowed ? 1 : 0 }
        return (value, place)
    }

    /// Ends one use of a value, which a call with `isBorrowed` as `true` began. Traps if the value is not borrowed.
    ///
    /// - Returns: The number of entries.
    /// - Complexity: O(1).
    mutating func giveBack(_ place: Place) -> Int {
        precondition(entries[place].borrowers > 0, "only a borrowed value is returned")
        use(place) { $0 -= 1 }
        return entries.count
    }

    /// Records a use of an entry, which changes the number of its borrowers.
    private mutating func use(_ place: Place, _ change: (inout Int) -> Void) {
        lastStamp += 1
        entries[place].stamp = lastStamp
        dequeue(place)
        change(&entries[place].borrowers)
        if entries[place].borrowers == 0 { enqueue(place, .idle) }
    }

    private mutating func enqueue(_ place: Place, _ queue: Queue) {
        entries[place].queue = queue
        switch queue {
        case .idle: entries.append(place, to: &idle)
        case .used: entries.append(place, to: &used)
        }
    }

    private mutating func dequeue(_ place: Place) {
        switch entries[place].queue {
        case nil: return
        case .idle: entries.unlink(place, from: &idle)
        case .used: entries.unlink(place, from: &used)
        }
        entries[place].queue = nil
    }

    // MARK: Evicting

    /// Takes the first entry out of a queue, to be judged. `settle(_:_:)` must then be called.
    ///
    /// - Parameters:
    ///   - queue: The queue.
    ///   - limit: The number of entries down to which entries are evicted.
    /// - Returns: The entry; `nil` if the queue is empty, or if there are not more entries than `limit`.
    /// - Complexity: O(1).
    mutating func examine(_ queue: Queue, downTo limit: Int) -> Candidate? {
        let place = queue == .idle ? idle.first : used.first
        guard entries.count > limit, place != Chain.none else { return nil }
        dequeue(place)
        let entry = entries[place]
        return Candidate(value: entry.value, place: place, stamp: entry.stamp, queue: queue, limit: limit)
    }

    /// Evicts an entry that was judged, or puts it into a queue. Has no effect if it was used in the meantime.
    ///
    /// - Returns: The evicted value, to be released outside the lock; `nil` if the entry stays.
    /// - Complexity: O(1), amortized.
    mutating func settle(_ candidate: Candidate, _ use: HostValueUse) -> Value? {
        let place = candidate.place
        guard entries.isOccupied(place), entries[place].stamp == candidate.stamp else { return nil }
        switch use {
        case .needed: enqueue(place, .idle)
        case .used where candidate.queue == .idle: enqueue(place, .used)
        // Another thread has made room in the meantime.
        case .used where entries.count <= candidate.limit, .unused where entries.count <= candidate.limit:
            enqueue(place, candidate.queue)
        case .used, .unused:
            return entries.remove(place).value
        }
        return nil
    }
}

/// A host, and its value.
struct HostEntry<Value: Sendable>: Keyed, Linked {
    let key: String
    let value: Value
    /// The number of calls that use the value.
    var borrowers = 0
    var stamp: UInt64 = 0
    /// The queue that contains the entry; `nil` if the entry is borrowed or being judged.
    var queue: HostTableStateMachine<Value>.Queue?
    var nextInBucket = Chain.none
    /// The neighbors in the queue.
    var links = Links()

    init(key: String, value: Value) { (self.key, self.value) = (key, value) }
}

extension HostTableStateMachine {
    /// The hosts that have a value.
    var hosts: Set<String> {
        Set((0..<entries.extent).filter { entries.isOccupied($0) }.map { entries[$0].key })
    }

    /// The hosts in a queue, in its order.
    func hosts(in queue: Queue) -> [String] {
        entries.indexes(of: queue == .idle ? idle : used).map { entries[$0].key }
    }

    /// Traps if an invariant does not hold.
    ///
    /// - Parameters:
    ///   - borrowed: The hosts whose values calls use.
    ///   - judged: The hosts that are being judged and were not used since.
    func checkInvariants(borrowed: Set<String>, judged: Set<String>) {
        let hosts = hosts
        precondition(borrowed.isSubset(of: hosts) && judged.isSubset(of: hosts), "a borrowed value stays")
        let places = (0..<entries.extent).filter { entries.isOccupied($0) }
        precondition(Set(places.map { entries[$0].stamp }).count == places.count, "stamps differ")
        for (queue, chain) in [(Queue.idle, idle), (.used, used)] {
            entries.checkLinks(of: chain)
            let queued = entries.indexes(of: chain)
            precondition(queued == queued.filter { entries[$0].queue == queue }, "an entry knows its queue")
            precondition(queued.count == places.count { entries[$0].queue == queue }, "a queue has its entries")
        }
        for place in places {
            let (host, isQueued) = (entries[place].key, entries[place].queue != nil)
            precondition((entries[place].borrowers > 0) == borrowed.contains(host), "borrowers are counted")
            precondition(
                isQueued != (borrowed.contains(host) || judged.contains(host)),
                "any other entry is in a queue"
            )
        }
    }
}
