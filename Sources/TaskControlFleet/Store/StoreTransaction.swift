public import Foundation

/// A transaction of a ``CoordinationStore``: conditions on entries, the operations that are executed if all conditions
/// hold, and the operations that are executed otherwise. The store executes the transaction in one atomic step.
public struct StoreTransaction: Hashable, Sendable {
    /// A condition on one entry.
    public enum Comparison: Hashable, Sendable {
        /// No entry has the given key.
        case absent(String)
        /// An entry has the given key.
        case present(String)
        /// An entry has the given key, and its ``StoreEntry/createRevision`` is the given revision.
        case createRevision(String, Int64)
        /// An entry has the given key, and its ``StoreEntry/modifyRevision`` is the given revision.
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
        public static func == (one: Self, other: Self) -> Bool { one.parts == other.parts }

        /// Adds the condition to a hasher.
        public func hash(into hasher: inout Hasher) {
            let (kind, key, revision, value) = parts
            hasher.combine(kind)
            hasher.combine(key)
            hasher.combine(revision)
            hasher.combine(value)
        }
    }

    /// An operation of a transaction.
    public enum Operation: Hashable, Sendable {
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
        public static func == (one: Self, other: Self) -> Bool { one.parts == other.parts }

        /// Adds the operation to a hasher.
        public func hash(into hasher: inout Hasher) {
            let (key, value, lease, deleted, read) = parts
            hasher.combine(key)
            hasher.combine(value)
            hasher.combine(lease)
            hasher.combine(deleted)
            hasher.combine(read)
        }
    }

    /// The conditions. If all of them hold, the operations of ``success`` are executed; otherwise those of ``failure``.
    public var comparisons: [Comparison]
    /// The operations that are executed, in order, if all conditions hold. At most one operation of this list may put
    /// or delete a given key: otherwise the transaction fails with ``StoreError/Reason/refused``.
    public var success: [Operation]
    /// The operations that are executed, in order, if at least one of the conditions does not hold. At most one
    /// operation of this list may put or delete a given key: otherwise the transaction fails with ``StoreError/Reason/refused``.
    public var failure: [Operation]

    /// Creates a transaction. Pass it to ``CoordinationStore/transact(_:)``.
    ///
    /// - Parameters:
    ///   - comparisons: The conditions. If there are none, the operations of `success` are executed.
    ///   - success: The operations that are executed if all conditions hold.
    ///   - failure: The operations that are executed if a condition does not hold.
    public init(comparisons: [Comparison] = [], success: [Operation], failure: [Operation] = []) {
        self.comparisons = comparisons
        self.success = success
        self.failure = failure
    }

    /// Whether all operations of the transaction are reads, so that it can be executed twice without harm.
    var onlyReads: Bool {
        (success + failure).allSatisfy { operation in
            if case .read = operation { true } else { false }
        }
    }

    /// The outcome of a transaction.
    public struct Result: Hashable, Sendable {
        /// Whether all conditions held. If `true`, the operations of ``StoreTransaction/success`` were executed; if
        /// `false`, those of ``StoreTransaction/failure``.
        public let succeeded: Bool
        /// The entries that the executed `read` operations have read: one array per `read` operation, in the order of
        /// the operations.
        public let reads: [[StoreEntry]]
        /// The revision of the store after the transaction: a number that increases whenever entries of the store
        /// change. If the transaction has changed entries, they have this revision.
        public let revision: Int64
        /// The term of the store's leader, as known to the member of the cluster that answered: a number that increases
        /// with each election of a new leader. Constant for a store without leaders.
        public let term: UInt64

        /// Creates a result from the answer of a store, for the implementation of a store and for tests.
        ///
        /// - Parameters:
        ///   - succeeded: Whether all conditions held.
        ///   - reads: The entries that the executed `read` operations have read: one array per `read` operation, in the
        ///     order of the operations.
        ///   - revision: The revision of the store after the transaction.
        ///   - term: The term of the leader; 0 for a store without leaders.
        public init(succeeded: Bool, reads: [[StoreEntry]] = [], revision: Int64, term: UInt64 = 0) {
            self.succeeded = succeeded
            self.reads = reads
            self.revision = revision
            self.term = term
        }
    }
}
