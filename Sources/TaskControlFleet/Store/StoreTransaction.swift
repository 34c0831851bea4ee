package import Foundation

/// A transaction of a ``CoordinationStore``: conditions on entries, and the changes that are made if all conditions hold. The store executes the
/// transaction in one atomic step. Keys are compared byte by byte, in UTF-8.
package struct StoreTransaction: Hashable, Sendable {
    /// A condition on one entry.
    package enum Comparison: Hashable, Sendable {
        /// No entry has the given key.
        case absent(String)
        /// An entry has the given key.
        case present(String)
        /// An entry has the given key, and was created at the given revision, such as that of a ``Lease/FencingToken``.
        case createRevision(String, Int64)
        /// An entry has the given key, and was created or last replaced at the given revision.
        case modifyRevision(String, Int64)
        /// An entry has the given key, and its value is the given one.
        case value(String, Data)

        private var parts: (kind: Int, key: StoreKey, revision: Int64, value: Data?) {
            switch self {
            case .absent(let key): (0, StoreKey(key), 0, nil)
            case .present(let key): (1, StoreKey(key), 0, nil)
            case .createRevision(let key, let revision): (2, StoreKey(key), revision, nil)
            case .modifyRevision(let key, let revision): (3, StoreKey(key), revision, nil)
            case .value(let key, let value): (4, StoreKey(key), 0, value)
            }
        }

        /// Returns whether both conditions are equal. Keys are compared byte by byte, in UTF-8.
        package static func == (one: Self, other: Self) -> Bool { one.parts == other.parts }

        /// Adds the condition to a hasher.
        package func hash(into hasher: inout Hasher) {
            let (kind, key, revision, value) = parts
            hasher.combine(kind)
            hasher.combine(key)
            hasher.combine(revision)
            hasher.combine(value)
        }
    }

    /// An operation of a transaction.
    package enum Operation: Hashable, Sendable {
        /// Creates the entry with the given key and value, or replaces its value and its lease. When the lease ends,
        /// the store removes the entry. An entry without a lease stays until it is removed.
        case put(String, Data, lease: LeaseID? = nil)
        /// Removes the entries with the given keys.
        case delete(StoreRange.Keys)
        /// Reads entries, as they are after the preceding operations of the transaction.
        case read(StoreRange)

        private var parts: (key: StoreKey?, value: Data?, lease: LeaseID?, deleted: StoreRange.Keys?, read: StoreRange?)
        {
            switch self {
            case .put(let key, let value, let lease): (StoreKey(key), value, lease, nil, nil)
            case .delete(let keys): (nil, nil, nil, keys, nil)
            case .read(let range): (nil, nil, nil, nil, range)
            }
        }

        /// Returns whether both operations are equal. Keys are compared byte by byte, in UTF-8.
        package static func == (one: Self, other: Self) -> Bool { one.parts == other.parts }

        /// Adds the operation to a hasher.
        package func hash(into hasher: inout Hasher) {
            let (key, value, lease, deleted, read) = parts
            hasher.combine(key)
            hasher.combine(value)
            hasher.combine(lease)
            hasher.combine(deleted)
            hasher.combine(read)
        }
    }

    /// The conditions. If all of them hold, the operations of ``success`` are executed; otherwise those of ``failure``.
    package var comparisons: [Comparison]
    /// The operations that are executed, in order, if all conditions hold. At most one operation of this list may put
    /// or delete a given key: otherwise the transaction fails with ``StoreError/Reason/refused``.
    package var success: [Operation]
    /// The operations that are executed, in order, if at least one of the conditions does not hold. At most one
    /// operation of this list may put or delete a given key: otherwise the transaction fails with ``StoreError/Reason/refused``.
    package var failure: [Operation]

    /// Creates a transaction from its operations.
    ///
    /// - Parameters:
    ///   - comparisons: The conditions. If there are none, the operations of `success` are executed.
    ///   - success: The operations that are executed if all conditions hold.
    ///   - failure: The operations that are executed if a condition does not hold.
    package init(comparisons: [Comparison] = [], success: [Operation], failure: [Operation] = []) {
        self.comparisons = comparisons
        self.success = success
        self.failure = failure
    }

    /// Creates a transaction from its conditions and changes.
    ///
    /// - Parameters:
    ///   - conditions: The conditions. If there are none, the changes are always made.
    ///   - entries: The keys and values of the entries that are created or replaced. They stay until they are deleted.
    ///   - keys: The keys of the entries that are deleted. A key that is in both parameters is refused
    ///     (``StoreError/Reason/refused``).
    package init(if conditions: [Comparison] = [], put entries: [String: Data] = [:], delete keys: [String] = []) {
        self.init(
            comparisons: conditions,
            success: entries.map { .put($0.key, $0.value) } + keys.map { .delete(.key($0)) }
        )
    }

    /// Whether all operations of the transaction are reads, so that it can be executed twice without harm.
    package var onlyReads: Bool {
        (success + failure).allSatisfy { operation in
            if case .read = operation { true } else { false }
        }
    }

    /// The outcome of a transaction.
    package struct Result: Hashable, Sendable {
        /// Whether all conditions held. If `true`, the operations of `StoreTransaction.success` were executed; if
        /// `false`, those of `StoreTransaction.failure`.
        package let succeeded: Bool
        /// The entries that the executed `read` operations have read: one array per `read` operation, in the order of
        /// the operations.
        package let reads: [[StoreEntry]]
        /// The revision of the store after the transaction: a number that increases whenever entries of the store
        /// change. If the transaction has changed entries, they have this revision.
        package let revision: Int64
        /// The term of the store's leader, as known to the member of the cluster that answered: a number that increases
        /// with each election of a new leader. Constant for a store without leaders.
        package let term: UInt64

        /// Creates a result from the answer of a store, for the implementation of a store and for tests.
        ///
        /// - Parameters:
        ///   - succeeded: Whether all conditions held.
        ///   - reads: The entries that the executed `read` operations have read: one array per `read` operation, in the
        ///     order of the operations.
        ///   - revision: The revision of the store after the transaction.
        ///   - term: The term of the leader; 0 for a store without leaders.
        package init(succeeded: Bool, reads: [[StoreEntry]] = [], revision: Int64, term: UInt64 = 0) {
            self.succeeded = succeeded
            self.reads = reads
            self.revision = revision
            self.term = term
        }
    }
}
