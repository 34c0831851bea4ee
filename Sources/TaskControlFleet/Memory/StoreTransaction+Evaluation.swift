internal import Foundation

extension StoreTransaction.Comparison {
    /// The key of the entry that the condition examines.
    var key: String {
        switch self {
        case .absent(let key), .present(let key), .createRevision(let key, _), .modifyRevision(let key, _),
            .value(let key, _):
            key
        }
    }

    /// Returns whether the condition holds.
    ///
    /// - Parameter entry: The entry with the key; `nil` if there is none.
    func holds(for entry: StoreEntry?) -> Bool {
        guard let entry else {
            if case .absent = self { return true }
            return false
        }
        return switch self {
        case .absent: false
        case .present: true
        case .createRevision(_, let revision): entry.createRevision == revision
        case .modifyRevision(_, let revision): entry.modifyRevision == revision
        case .value(_, let value): entry.value == value
        }
    }
}

extension StoreTransaction {
    /// Returns whether the operations change each key at most once: no operation puts or deletes a key that an earlier operation has put or deleted.
    ///
    /// - Complexity: O(*n*²) in the number of operations.
    static func changeNoKeyTwice(_ operations: [Operation]) -> Bool {
        let ranges = operations.compactMap { operation -> StoreRange.Keys? in
            switch operation {
            case .put(let key, _, _): .key(key)
            case .delete(let keys): keys
            case .read: nil
            }
        }
        return ranges.indices.allSatisfy { index in ranges[..<index].allSatisfy { !$0.overlaps(ranges[index]) } }
    }
}

extension StoreRange.Keys {
    /// Returns whether any key can be in both ranges.
    func overlaps(_ other: Self) -> Bool {
        switch (self, other) {
        case (.key(let key), _): StoreRange(other).contains(key)
        case (_, .key(let key)): StoreRange(self).contains(key)
        case (.prefix(let one), .prefix(let other)):
            one.utf8.starts(with: other.utf8) || other.utf8.starts(with: one.utf8)
        }
    }
}
