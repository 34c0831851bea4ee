package import Foundation

/// An entry of a ``CoordinationStore``: a key with a value, the revisions at which the entry was created and last
/// changed, and its lease.
package struct StoreEntry: Hashable, Sendable {
    /// The key. Keys are compared byte by byte, in UTF-8; so are the keys of two entries by `==`.
    package var key: String { storeKey.text }
    private let storeKey: StoreKey
    /// The value of the entry.
    package let value: Data
    /// The revision at which the entry was created. An entry that is removed and put again has a new creation revision.
    package let createRevision: Int64
    /// The revision at which the entry was created or last replaced.
    package let modifyRevision: Int64
    /// The lease to which the entry is attached: when the lease ends, the store removes the entry. `nil` if the entry has no lease.
    package let lease: LeaseID?

    /// Creates an entry, for the implementation of a store and for tests.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - value: The value.
    ///   - createRevision: The revision at which the entry was created.
    ///   - modifyRevision: The revision at which the entry was created or last replaced.
    ///   - lease: The lease to which the entry is attached; `nil` if there is none.
    package init(key: String, value: Data, createRevision: Int64, modifyRevision: Int64, lease: LeaseID? = nil) {
        storeKey = StoreKey(key)
        self.value = value
        self.createRevision = createRevision
        self.modifyRevision = modifyRevision
        self.lease = lease
    }
}
