internal import Foundation
internal import TaskControl

extension LeaseSession {
    /// An entry that is put into the store when the caller leaves the line: the published result of a flight.
    struct Publication: Sendable {
        let key: String
        let value: Data
    }

    /// Leaves the line, so that the next waiter does not wait until the lease has expired: deletes the caller's entry, and revokes the lease. If the
    /// lease cannot be revoked, it expires. Each call of the store has a time limit.
    ///
    /// - Parameter publication: The result to publish in the same transaction that deletes the caller's entry; `nil` for none.
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

    /// Deletes the caller's entry, and publishes a result in the same transaction.
    ///
    /// - Returns: Whether the entry existed.
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

    /// Grants a lease for the published result: the store removes the result when this lease expires. In this time, each waiter reads the line at
    /// least once.
    private func leaseOfResult() async -> LeaseID? {
        try? await call { try await self.store.grantLease(timeToLive: self.timeToLive) }.id
    }
}
