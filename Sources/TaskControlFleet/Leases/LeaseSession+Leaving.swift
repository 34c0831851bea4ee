internal import Foundation
internal import TaskControl

extension LeaseSession {
    /// A value that is published when the own entry leaves the line.
    struct Publication: Sendable {
        let key: String
        let value: Data
    }

    /// Leaves the line, so that the next waiter does not wait until the lease has expired: deletes the own entry, and revokes the lease, or else lets it expire.
    /// Each attempt has a time limit.
    ///
    /// - Parameter publication: The value to publish in the transaction that deletes the entry.
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

    /// - Returns: Whether the entry was there until now.
    private func delete(_ lease: LeaseID, _ token: FencingToken, _ publication: Publication?) async throws -> Bool {
        let key = line.key(of: lease)
        var operations: [StoreTransaction.Operation] = [.delete(.key(key))]
        if let publication, let lifetime = await leaseOfResult() {
            operations.insert(.put(publication.key, publication.value, lease: lifetime), at: 0)
        }
        let isPublished = operations.count > 1
        do {
            // Guarded by the revision of its creation: the entry of another session is never deleted.
            let transaction = StoreTransaction(
                comparisons: [.createRevision(key, token.rawValue)],
                success: operations
            )
            let result = try await call { try await self.store.transact(transaction) }
            guard result.succeeded else { return false }
            if isPublished { events?.emit(.resultPublished, isInside: false) }
        } catch let error as StoreError where isPublished && error.reason == .refused {
            // The value is too large, for example. The next waiter runs the operation itself.
            events?.emit(.storeCallFailed, error: error, isInside: false)
            return try await delete(lease, token, nil)
        }
        events?.emit(.entryDeleted, isInside: false)
        return true
    }

    /// Returns a lease with which a result ends. Each waiter that keeps its place looks at the line in the meantime.
    private func leaseOfResult() async -> LeaseID? {
        try? await call { try await self.store.grantLease(timeToLive: self.timeToLive) }.id
    }
}
