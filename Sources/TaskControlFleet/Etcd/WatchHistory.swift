/// The last changes that a watch has received, in the order of their revisions. Keeps a limited number of them.
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

        /// The memory of the key and the value, approximately, in bytes.
        fileprivate var size: Int {
            if case .put(let entry) = change { key.utf8.count + entry.value.count } else { key.utf8.count }
        }
    }

    /// All changes after this revision, up to ``end``, are kept.
    private(set) var start: Int64
    /// The revision up to which changes have been received.
    private(set) var end: Int64
    private var changes: [Change] = []
    private var size = 0
    private let maxCount: Int
    private let maxSize: Int

    /// Creates a history that begins after a revision.
    ///
    /// - Parameters:
    ///   - maxCount: The number of changes that are kept: enough for a watcher that reads the store before it begins to watch.
    ///   - maxSize: The size of their keys and values, in bytes: a few values of the largest size that etcd accepts, 1.5 MiB.
    init(after revision: Int64, maxCount: Int = 1_024, maxSize: Int = 4 << 20) {
        (start, end) = (revision, revision)
        (self.maxCount, self.maxSize) = (maxCount, maxSize)
    }

    /// The same limits, and no changes.
    func emptied(after revision: Int64) -> WatchHistory {
        WatchHistory(after: revision, maxCount: maxCount, maxSize: maxSize)
    }

    /// Adds changes, except those that have been received before.
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

    /// Returns the changes after a revision that is not before ``start``.
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

    /// Removes the oldest revisions, each as a whole. Removes a quarter at a time, so that a change costs a constant on average.
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
