public import Foundation

/// An entry of a ``CoordinationStore``: a key with a value, and the revisions at which it was changed.
public struct StoreEntry: Hashable, Sendable {
    /// The key. Keys are compared as UTF-8.
    public let key: String
    /// The value of the entry.
    public let value: Data
    /// The revision at which the entry was created. An entry that is removed and put again has a new creation revision.
    public let createRevision: Int64
    /// The revision at which the entry was last put.
    public let modifyRevision: Int64
    /// The lease to which the entry is attached: when the lease ends, the store removes the entry. `nil` if the entry has no lease.
    public let lease: LeaseID?

    /// Creates an entry. Called by implementations of a store, and by tests.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - value: The value.
    ///   - createRevision: The revision at which the entry was created.
    ///   - modifyRevision: The revision at which the entry was last put.
    ///   - lease: The lease to which the entry is attached; `nil` if there is none.
    public init(key: String, value: Data, createRevision: Int64, modifyRevision: Int64, lease: LeaseID? = nil) {
        self.key = key
        self.value = value
        self.createRevision = createRevision
        self.modifyRevision = modifyRevision
        self.lease = lease
    }
}
