/// The lines of the keys that are in use, each with the number of its users: the calls that wait in the line or have its
/// turn. A line without users is removed. A pure value, without a lock, task or closure.
struct LineTable<Line> {
    typealias Slot = KeyTable<Entry>.Index

    struct Entry: Keyed {
        let key: _ErasedKey
        let line: Line
        fileprivate var users = 1
        var nextInBucket = Chain.none

        fileprivate init(_ key: _ErasedKey, _ line: Line) { (self.key, self.line) = (key, line) }
    }

    private var entries = KeyTable<Entry>()

    /// The number of keys that are in use.
    var count: Int { entries.count }

    /// Adds a user to the line of a key.
    ///
    /// - Returns: The slot of the line, for `leave(_:)`, and the line; `nil` if the key has no line.
    /// - Complexity: O(1) on average.
    mutating func enter(_ key: _ErasedKey) -> (slot: Slot, line: Line)? {
        guard let slot = entries.index(of: key) else { return nil }
        entries[slot].users += 1
        return (slot, entries[slot].line)
    }

    /// Adds a user to the line of a key, which is `line` if the key has none.
    ///
    /// - Returns: The slot of the line, for `leave(_:)`, and the line.
    /// - Complexity: O(1) on average, amortized.
    mutating func enter(_ key: _ErasedKey, adding line: Line) -> (slot: Slot, line: Line) {
        enter(key) ?? (entries.insert(Entry(key, line)), line)
    }

    /// Removes a user from a line, and the line with its last user. Does not compare keys.
    ///
    /// - Returns: The entry that was removed, to be released outside the lock; `nil` if the line has other users.
    /// - Complexity: O(1) on average.
    mutating func leave(_ slot: Slot) -> Entry? {
        entries[slot].users -= 1
        return entries[slot].users == 0 ? entries.remove(slot) : nil
    }
}
