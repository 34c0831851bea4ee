public import Foundation

/// An atomic step of a ``CoordinationStore``: comparisons, and operations for each of their outcomes.
public struct StoreTransaction: Hashable, Sendable {
    /// A condition on one entry.
    public enum Comparison: Hashable, Sendable {
        /// No entry has the key.
        case absent(String)
        /// An entry has the key.
        case present(String)
        /// The entry with the key was created at a revision.
        case createRevision(String, Int64)
        /// The entry with the key was last put at a revision.
        case modifyRevision(String, Int64)
        /// The entry with the given key has the given value.
        case value(String, Data)
    }

    /// A step of a transaction.
    public enum Operation: Hashable, Sendable {
        /// Creates or replaces an entry. An entry without a lease stays until it is removed.
        case put(String, Data, lease: LeaseID? = nil)
        /// Removes entries.
        case delete(StoreRange.Keys)
        /// Reads entries, in their state after the preceding operations of the transaction.
        case read(StoreRange)
    }

    /// The conditions: all must hold.
    public var comparisons: [Comparison]
    /// The operations if all conditions hold, in order. No key may be put or deleted twice.
    public var success: [Operation]
    /// The operations if a condition does not hold.
    public var failure: [Operation]

    /// Creates a transaction.
    ///
    /// - Parameters:
    ///   - comparisons: The conditions. Without any, the operations of `success` are executed.
    ///   - success: The operations if all conditions hold.
    ///   - failure: The operations if a condition does not hold.
    public init(comparisons: [Comparison] = [], success: [Operation], failure: [Operation] = []) {
        self.comparisons = comparisons
        self.success = success
        self.failure = failure
    }

    /// The outcome of a transaction.
    public struct Result: Hashable, Sendable {
        /// Whether the conditions held, and the operations of ``StoreTransaction/success`` were executed.
        public let succeeded: Bool
        /// The entries of each `read` of the executed operations, in their order.
        public let reads: [[StoreEntry]]
        /// The revision of the store after the transaction. If the transaction changed entries, it is the revision of
        /// these changes.
        public let revision: Int64
        /// The term of the leader that executed the transaction; constant for a store without leaders.
        public let term: UInt64

        /// Creates the outcome that a store returns.
        ///
        /// - Parameters:
        ///   - succeeded: Whether the conditions held.
        ///   - reads: The entries of each read.
        ///   - revision: The revision after the transaction.
        ///   - term: The term of the leader; 0 for a store without leaders.
        public init(succeeded: Bool, reads: [[StoreEntry]] = [], revision: Int64, term: UInt64 = 0) {
            self.succeeded = succeeded
            self.reads = reads
            self.revision = revision
            self.term = term
        }
    }
}
