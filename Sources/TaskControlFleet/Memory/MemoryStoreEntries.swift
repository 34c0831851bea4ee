internal import Foundation
internal import TaskControl

/// The entries of a ``MemoryStore``, in the order of their keys as UTF-8. A value type without side effects.
struct MemoryStoreEntries {
    private(set) var all: [StoreEntry] = []

    /// The entry with a key; `nil` if there is none.
    ///
    /// - Complexity: O(log *n*) in the number of entries.
    subscript(_ key: String) -> StoreEntry? {
        let index = firstIndex(notBefore: key)
        return index < all.count && all[index].key.isSameKey(as: key) ? all[index] : nil
    }

    /// Creates or replaces an entry.
    ///
    /// - Complexity: O(*n*) in the number of entries.
    mutating func put(_ entry: StoreEntry) {
        let index = firstIndex(notBefore: entry.key)
        if index < all.count, all[index].key.isSameKey(as: entry.key) {
            all[index] = entry
        } else {
            all.insert(entry, at: index)
        }
    }

    /// Removes the entries of a range.
    ///
    /// - Returns: The keys of the removed entries, in order.
    /// - Complexity: O(*n*) in the number of entries.
    mutating func remove(_ keys: StoreRange.Keys) -> [String] {
        let indices = indices(of: keys)
        let removed = all[indices].map(\.key)
        all.removeSubrange(indices)
        return removed
    }

    /// Removes the entries that are attached to a lease.
    ///
    /// - Returns: The keys of the removed entries, in order.
    /// - Complexity: O(*n*) in the number of entries.
    mutating func remove(attachedTo lease: LeaseID) -> [String] {
        defer { all.removeAll { $0.lease == lease } }
        return all.filter { $0.lease == lease }.map(\.key)
    }

    /// Returns the entries of a range, in the range's order and up to its limit.
    ///
    /// - Complexity: O(log *n* + *m*) for *m* of *n* entries in the range; O(log *n* + *m* log *m*) in the order of creation.
    func read(_ range: StoreRange) -> [StoreEntry] {
        var found = all[indices(of: range.keys)]
        if range.order == .creation {
            // Entries that one transaction has created have the same revision. They are sorted by their keys.
            let sorted = found.indices.sorted { (all[$0].createRevision, $0) < (all[$1].createRevision, $1) }
            found = sorted.map { all[$0] }[...]
        }
        guard let limit = range.limit else { return Array(found) }
        return Array(found.prefix(max(1, limit)))
    }

    private func indices(of keys: StoreRange.Keys) -> Range<Int> {
        switch keys {
        case .key(let key):
            let first = firstIndex(notBefore: key)
            let isThere = first < all.count && all[first].key.isSameKey(as: key)
            return first..<(isThere ? first + 1 : first)
        case .prefix(let prefix):
            let first = firstIndex(notBefore: prefix)
            return first..<index { $0.isKeyBefore(prefix) || $0.utf8.starts(with: prefix.utf8) }
        }
    }

    private func firstIndex(notBefore key: String) -> Int {
        index { $0.isKeyBefore(key) }
    }

    /// Returns the index of the first key that does not satisfy a condition; the number of entries if all keys satisfy it. The condition must hold
    /// for all keys before that key, and for no key after it.
    private func index(whereNot isInFirstPart: (String) -> Bool) -> Int {
        var (low, high) = (0, all.count)
        while low < high {
            let middle = (low + high) / 2
            if isInFirstPart(all[middle].key) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
