/// The values of a ``HostTable``, and which of them are evicted. Pure: a value without a lock, task or closure.
///
/// Each entry, which is a host with its value, has a stamp: a number that changes with each use. The table decides
/// outside its lock which entries to evict, and then removes only those whose stamp is still the same.
///
/// Invariants, checked by `checkInvariants()` after each step of the tests:
/// 1. An entry is not removed while it is *borrowed*: while a call uses its value.
/// 2. The stamps of the entries differ.
struct HostTableStateMachine<Value: Sendable>: Sendable {
    /// An entry that no caller is using, and that may be evicted.
    struct Candidate: Sendable {
        let host: String
        let value: Value
        fileprivate let stamp: UInt64
    }

    private struct Entry {
        let value: Value
        var borrowers: Int
        var stamp: UInt64
    }

    /// The number of entries at which the table is full: from then on, other entries are evicted before one is added.
    private let comfortable: Int
    private var entries: [String: Entry] = [:]
    private var lastStamp: UInt64 = 0

    init(comfortable: Int) {
        self.comfortable = comfortable
    }

    private mutating func makeStamp() -> UInt64 {
        lastStamp += 1
        return lastStamp
    }

    /// Returns the value of a host, and records that it is used now.
    ///
    /// - Parameters:
    ///   - host: The host.
    ///   - isBorrowed: Whether the entry must not be evicted until `giveBack(_:)` is called.
    /// - Returns: The value; `nil` if the host has none.
    mutating func use(_ host: String, isBorrowed: Bool) -> Value? {
        guard entries[host] != nil else { return nil }
        let stamp = makeStamp()
        entries[host]?.stamp = stamp
        if isBorrowed { entries[host]?.borrowers += 1 }
        return entries[host]?.value
    }

    /// Adds a value for a host, unless the table already has a value for that host.
    ///
    /// - Parameters:
    ///   - value: The value to add.
    ///   - host: The host.
    ///   - isBorrowed: Whether the entry must not be evicted until ``giveBack(_:)`` is called.
    /// - Returns: The value of the host: the existing one, or the added one.
    mutating func add(_ value: Value, _ host: String, isBorrowed: Bool) -> Value {
        if let value = use(host, isBorrowed: isBorrowed) { return value }
        entries[host] = Entry(value: value, borrowers: isBorrowed ? 1 : 0, stamp: makeStamp())
        return value
    }

    /// Ends one use of the value of a host, which a call with `isBorrowed` as `true` began. Traps if the value is not
    /// borrowed.
    mutating func giveBack(_ host: String) {
        guard let borrowers = entries[host]?.borrowers, borrowers > 0 else {
            preconditionFailure("only a borrowed value is returned")
        }
        let stamp = makeStamp()
        entries[host]?.borrowers = borrowers - 1
        entries[host]?.stamp = stamp
    }

    /// Returns the entries that may be evicted before another one is added, the least recently used ones first. Empty while the table has room.
    ///
    /// - Complexity: O(*n* log *n*) in the number of entries.
    func candidates() -> [Candidate] {
        guard entries.count >= comfortable else { return [] }
        return entries.filter { $1.borrowers == 0 }
            .map { Candidate(host: $0, value: $1.value, stamp: $1.stamp) }
            .sorted { $0.stamp < $1.stamp }
    }

    /// Removes entries until the table has room for another one.
    ///
    /// - Parameter candidates: The entries that may be removed, in the order of their removal. Those that were used in the meantime are kept.
    /// - Returns: The removed values, which the caller must release after the lock has been released.
    mutating func remove(_ candidates: [Candidate]) -> [Value] {
        var removed: [Value] = []
        for candidate in candidates where entries.count >= comfortable {
            guard let entry = entries[candidate.host], entry.stamp == candidate.stamp else { continue }
            entries[candidate.host] = nil
            removed.append(entry.value)
        }
        return removed
    }
}

extension HostTableStateMachine {
    /// The hosts that have a value.
    var hosts: Set<String> { Set(entries.keys) }

    /// Traps if an invariant does not hold.
    ///
    /// - Parameter borrowed: The hosts whose values the caller borrows.
    func checkInvariants(borrowed: Set<String>) {
        precondition(borrowed.isSubset(of: entries.keys), "a borrowed value stays")
        precondition(Set(entries.values.map(\.stamp)).count == entries.count, "stamps differ")
    }
}
