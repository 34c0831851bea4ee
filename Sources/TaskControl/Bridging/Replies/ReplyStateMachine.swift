/// The IDs for which a reply is expected. A pure value, without a lock, task or closure.
///
///     unknown ──expect──▶ expected ──reply, leave, close──▶ unknown
///                            │  ▲
///                            └──┘ expect: the earlier entry is returned, and superseded
///
/// Each entry that is returned is returned once, so that its promise receives one result, and is released outside the
/// lock, since its key and its payload are objects of the client.
struct ReplyStateMachine<Payload> {
    /// Identifies one registration: not the registration that uses the same key later.
    typealias ID = Ticket

    struct Entry: Keyed, Ticketed {
        let key: _ErasedKey
        let serial: UInt64
        let payload: Payload
        var nextInBucket = Chain.none
    }

    private var entries = KeyTable<Entry>()
    private var nextSerial: UInt64 = 0
    private(set) var isClosed = false

    /// The number of expected replies.
    var count: Int { entries.count }

    /// Registers a key.
    ///
    /// - Returns: The ID of the registration, and the entry that the key had before, which is removed; `nil` after
    ///   `close()`: nothing is registered then.
    /// - Complexity: O(1) on average, amortized.
    mutating func expect(_ key: _ErasedKey, _ payload: Payload) -> (id: ID, superseded: Entry?)? {
        if isClosed { return nil }
        let superseded = reply(to: key)
        let slot = entries.insert(Entry(key: key, serial: nextSerial, payload: payload))
        nextSerial += 1
        return (entries.elements.ticket(at: slot), superseded)
    }

    /// Removes the entry of a key, to which the reply has come.
    ///
    /// - Returns: The entry; `nil` if the key is not registered.
    /// - Complexity: O(1) on average.
    mutating func reply(to key: _ErasedKey) -> Entry? { entries.index(of: key).map { entries.remove($0) } }

    /// Removes a registration, whose request is no longer of interest. Does not compare keys.
    ///
    /// - Returns: The entry; `nil` if it was removed before.
    /// - Complexity: O(1) on average.
    mutating func leave(_ id: ID) -> Entry? { entries.elements.contains(id) ? entries.remove(id.slot) : nil }

    /// Removes all entries, and refuses later ones.
    ///
    /// - Returns: The entries; `nil` if this function was called before.
    /// - Complexity: O(*n*) in the number of entries.
    mutating func close() -> [Entry]? {
        if isClosed { return nil }
        isClosed = true
        let closed = (0..<entries.extent).filter(entries.isOccupied).map { entries[$0] }
        entries = KeyTable()
        return closed
    }
}
