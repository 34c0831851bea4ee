internal import Foundation
internal import TaskControl

extension LeaseSession {
    /// An entry that is put into the store when the caller's own entry is deleted: the published result of a ``FleetFlight``.
    struct Publication: Sendable {
        let key: String
        let value: Data
    }

    /// Leaves the line (``FleetLine``): deletes the caller's entry in the store, and revokes the caller's lease. So the
    /// next caller does not wait until the lease has expired. If the lease cannot be revoked, it expires later by
    /// itself. Each call of the store has a time limit.
    ///
    /// - Parameter publication: The result of a ``FleetFlight`` to publish in the same transaction that deletes the
    ///   caller's entry; `nil` for none.
    func leave(_ publication: Publication?) async {
        var step = update { $0.leave() }
        var isDeleted = false
        while step != .nothing {
            let isDone = await perform(step, publication, &isDeleted)
            step = update { $0.left(isDone) }
        }
    }

    private func perform(_ step: Machine.Leaving, _ publication: Publication?, _ isDeleted: inout Bool) async -> Bool {
        do {
            switch step {
            case .delete(let lease, let token):
                isDeleted = try await delete(lease, token, publication)
            case .revoke(let lease):
                try await call { try await self.store.revokeLease(lease) }
                // A lease without an entry delays no other caller.
                if !isDeleted { events?.emit(.leaseRevoked, isInside: false) }
            case .expire: events?.emit(.leaseLeftToExpire, isInside: false)
            case .nothing: break
            }
            return true
        } catch {
            if !isDeleted { events?.emit(.storeCallFailed, error: error, isInside: false) }
            return false
        }
    }

    /// Deletes the caller's entry, which is attached to `lease` and has the fencing token `token`, and publishes a
    /// result (`publication`, if it is not `nil`) in the same transaction. If the store refuses the result, or grants
    /// no lease for it, the entry is deleted without publishing the result.
    ///
    /// - Returns: Whether the entry existed.
    /// - Throws: The error of the store.
    private func delete(_ lease: LeaseID, _ token: FencingToken, _ publication: Publication?) async throws -> Bool {
        let key = line.key(of: lease)
        var operations: [StoreTransaction.Operation] = [.delete(.key(key))]
        if let publication, let lifetime = await leaseOfResult() {
            operations.insert(.put(publication.key, publication.value, lease: lifetime), at: 0)
        }
        let isPublished = operations.count > 1
        do {
            // The condition on the creation revision ensures that the entry of another session is never deleted.
            let transaction = StoreTransaction(
                comparisons: [.createRevision(key, token.rawValue)],
                success: operations
            )
            let result = try await call { try await self.store.transact(transaction) }
            guard result.succeeded else { return false }
            if isPublished { events?.emit(.resultPublished, isInside: false) }
        } catch let error as StoreError where isPublished && error.reason == .refused {
            // For example, the value is too large. The next caller runs the operation itself.
            events?.emit(.storeCallFailed, error: error, isInside: false)
            return try await delete(lease, token, nil)
        }
        events?.emit(.entryDeleted, isInside: false)
        return true
    }

    /// Grants a lease for the published result, and returns its ID; `nil` if the store cannot grant a lease. The store removes the result when this
    /// lease expires. Until then, each waiting caller reads the line (``FleetLine``) at least once.
    private func leaseOfResult() async -> LeaseID? {
        try? await call { try await self.store.grantLease(timeToLive: self.timeToLive) }.id
    }
}
