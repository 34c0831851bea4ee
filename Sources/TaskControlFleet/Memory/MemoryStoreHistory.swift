internal import Foundation
internal import TaskControl

/// The latest changes of a ``MemoryStore``, which the store keeps for its watches. A value type without side effects.
///
/// The changes of one revision are kept or removed together.
struct MemoryStoreHistory {
    private var revisions: [(revision: Int64, changes: [StoreChanges.Change])] = []
    private var count = 0
    private let limit: Int
    /// The last revision whose changes were removed; 0 if no changes were removed.
    private(set) var compactedRevision: Int64 = 0

    /// Creates an empty history.
    ///
    /// - Parameter limit: The maximum number of changes.
    init(limit: Int) {
        self.limit = limit
    }

    /// Returns whether the history contains all changes after a revision.
    func isComplete(after revision: Int64) -> Bool { revision >= compactedRevision }

    /// Adds the changes of a new revision, and removes the oldest changes beyond the limit. The revision must be greater than all earlier ones.
    ///
    /// - Complexity: O(*n*) in the number of kept changes.
    mutating func append(_ changes: [StoreChanges.Change], at revision: Int64) {
        revisions.append((revision, changes))
        count += changes.count
        var dropped = 0
        while count > limit {
            count -= revisions[dropped].changes.count
            compactedRevision = revisions[dropped].revision
            dropped += 1
        }
        revisions.removeFirst(dropped)
    }

    /// Removes all changes.
    mutating func removeAll() {
        compactedRevision = revisions.last?.revision ?? compactedRevision
        revisions = []
        count = 0
    }

    /// Returns the changes of a range after a revision, in the order of their revisions. ``isComplete(after:)`` must be `true` for the revision.
    ///
    /// - Complexity: O(log *n* + *m*) for *m* changes after the revision.
    func changes(in range: StoreRange, after revision: Int64) -> [StoreChanges.Change] {
        let first = revisions.lastIndex { $0.revision <= revision }.map { $0 + 1 } ?? 0
        return revisions[first...].flatMap(\.changes).filter { range.contains($0.key) }
    }
}
