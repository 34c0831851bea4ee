internal import TaskControl

/// A lease that is held while the body of ``withLease(_:in:timeToLive:holder:clock:body:)`` runs.
///
/// A valid lease alone does not protect a resource: between a check and its effect, the process can be paused for longer than the lease. A resource that
/// several processes change must compare the ``token``, or be in the same store and change by a ``guarded(_:)`` transaction.
///
/// Safe to use from any thread and any isolation. A lease that is kept after its body has ended is not valid.
public struct Lease: Sendable {
    /// The entry in the line.
    let session: LeaseSession
    /// The fencing token: greater than those of all earlier holders of the name.
    public let token: FencingToken
    /// The key of the own entry.
    private let key: String

    init(session: LeaseSession, token: FencingToken) {
        (self.session, self.token) = (session, token)
        key = session.read { $0.lease.map(session.line.key) ?? session.line.prefix }
    }

    /// The name of the lease.
    public var name: String { session.line.name }

    /// Whether the lease is valid now, according to the clock of this process: no other process can hold it.
    ///
    /// - Complexity: O(1): a reading of the clock, without a call of the store.
    public var isValid: Bool {
        let now = session.time.now
        return session.read { $0.isValid(at: now) }
    }

    /// The time for which the lease is valid without another renewal. Zero if it is not valid.
    ///
    /// The lease is renewed after each third of its duration.
    public var remaining: Duration {
        let now = session.time.now
        return session.read { $0.isValid(at: now) ? ($0.validUntil ?? now) - now : .zero }
    }

    /// Throws if the lease is not valid. Call it before each effect outside the process.
    ///
    /// - Throws: ``LeaseLostError``.
    /// - Complexity: O(1): a reading of the clock, without a call of the store.
    public func check() throws(LeaseLostError) {
        let now = session.time.now
        let reason = session.read { (machine: borrowing LeaseStateMachine) -> LeaseLostError.Reason? in
            if machine.isValid(at: now) { return nil }
            return switch machine.phase {
            case .lost(let reason): reason
            case .holding: .expired
            case .entering, .waiting, .adopted, .failed, .ended: .ended
            }
        }
        if let reason { throw LeaseLostError(name: name, reason: reason) }
    }

    /// Returns a copy of a transaction that succeeds only if this lease is still held: the copy also compares the entry of the holder.
    ///
    /// Use it for values in the same store as the lease. The comparison and the change are one atomic step, so this is safe without a token.
    ///
    /// - Parameter transaction: A transaction for the store of the lease. Its operations for failure are executed if the lease is not held.
    public func guarded(_ transaction: StoreTransaction) -> StoreTransaction {
        var transaction = transaction
        transaction.comparisons.append(.createRevision(key, token.rawValue))
        return transaction
    }
}
