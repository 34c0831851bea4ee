internal import TaskControlFleet

/// The last changes that the shared connection of an ``EtcdStore``'s watches has received, in the order of their revisions. The number and the size
/// of the changes are limited.
struct WatchHistory: Hashable, Sendable {
    /// A change of one entry.
    struct Change: Hashable, Sendable {
        let key: String
        let revision: Int64
        let change: StoreChanges.Change

        init(_ change: StoreChanges.Change) {
            self.change = change
            switch change {
            case .put(let entry): (key, revision) = (entry.key, entry.modifyRevision)
            case .delete(let key, let revision): (self.key, self.revision) = (key, revision)
            }
        }

        /// The size of the key and the value, in bytes.
        fileprivate var size: Int {
            if case .put(let entry) = change { key.utf8.count + entry.value.count } else { key.utf8.count }
        }
    }

    /// The revision after which the history begins: it contains all changes after ``start``, up to and including ``end``.
    private(set) var start: Int64
    /// The revision up to which changes have been received.
    private(set) var end: Int64
    private var changes: [Change] = []
    private var size = 0
    private let maxCount: Int
    private let maxSize: Int

    /// Creates an empty history that begins after a revision.
    ///
    /// - Parameters:
    ///   - maxCount: The maximum number of changes. By default 1,024: enough for a watcher that reads the store before it begins to watch.
    ///   - maxSize: The maximum size of all keys and values, in bytes. By default 4 MiB: a few values of the largest size that etcd accepts, 1.5 MiB.
    init(after revision: Int64, maxCount: Int = 1_024, maxSize: Int = 4 << 20) {
        (start, end) = (revision, revision)
        (self.maxCount, self.maxSize) = (maxCount, maxSize)
    }

    /// Returns an empty history with the same limits that begins after a revision.
    func emptied(after revision: Int64) -> WatchHistory {
        WatchHistory(after: revision, maxCount: maxCount, maxSize: maxSize)
    }

    /// Adds the changes whose revisions are after ``end``, and ignores the others, which were received before.
    ///
    /// - Parameter received: All changes of one or more revisions.
    /// - Returns: Whether a change was new.
    mutating func append(_ received: [Change]) -> Bool {
        var new = received.filter { $0.revision > end }
        guard let last = new.map(\.revision).max() else { return false }
        if zip(new, new.dropFirst()).contains(where: { $0.revision > $1.revision }) {
            new.sort { $0.revision < $1.revision }
        }
        changes += new
        size += new.reduce(0) { $0 + $1.size }
        end = last
        trim()
        return true
    }

    /// Returns the changes after a revision. The revision must not be before ``start``.
    ///
    /// - Complexity: O(log *n* + *m*), where *m* is the number of changes that are returned.
    func changes(after revision: Int64) -> ArraySlice<Change> {
        var (low, high) = (0, changes.count)
        while low < high {
            let middle = (low + high) / 2
            if changes[middle].revision <= revision { low = middle + 1 } else { high = middle }
        }
        return changes[low...]
    }

    /// Removes the oldest changes if a limit is exceeded; changes of one revision are removed together. Removes a
    /// quarter of the limit at a time, so that adding a change takes constant time on average.
    private mutating func trim() {
        guard changes.count > maxCount || size > maxSize else { return }
        var (count, rest) = (0, size)
        while count < changes.count, changes.count - count > maxCount / 4 * 3 || rest > maxSize / 4 * 3 {
            rest -= changes[count].size
            start = changes[count].revision
            count += 1
        }
        while count < changes.count, changes[count].revision == start {
            rest -= changes[count].size
            count += 1
        }
        changes.removeFirst(count)
        size = rest
    }
}
