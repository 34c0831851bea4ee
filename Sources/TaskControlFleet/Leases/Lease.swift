internal import TaskControl

/// The lease under which the body of ``withLease(_:in:timeToLive:holder:clock:body:)`` runs.
///
/// Checking the lease alone does not protect a resource: between the check and the change of the resource, the process
/// can be paused for longer than the lease. A resource that several processes change must therefore refuse a ``token``
/// that is lower than one it has already received. If the resource is in the same store as the lease, change it with
/// ``CoordinationStore/commit(if:put:delete:under:)`` instead.
///
/// Safe to use from any thread and any isolation. After the body has ended, the lease is no longer valid. It can also
/// be lost before, while the body runs: see ``isValid``.
public struct Lease: Sendable {
    /// The session that renews the lease in the store, and knows whether the lease is valid.
    let session: LeaseSession
    /// The fencing token, which is greater than the tokens of all earlier holders of a lease with this name.
    public let token: FencingToken
    /// The key of the holder's entry in the store.
    private let key: String

    init(session: LeaseSession, token: FencingToken) {
        (self.session, self.token) = (session, token)
        key = session.read { $0.lease.map(session.line.key) ?? session.line.prefix }
    }

    /// The name of the lease.
    public var name: String { session.line.name }

    /// Whether the lease is valid now, according to the clock of this process. While the lease is valid, no other process can hold it, as long as all
    /// clocks run at about the same rate.
    ///
    /// - Complexity: O(1). Reads the clock, and does not call the store.
    public var isValid: Bool {
        let now = session.time.now
        return session.read { $0.isValid(at: now) }
    }

    /// The time for which the lease remains valid if it is not renewed. Zero if it is not valid.
    ///
    /// The lease is renewed automatically after each third of its duration.
    public var remaining: Duration {
        let now = session.time.now
        return session.read { $0.isValid(at: now) ? ($0.validUntil ?? now) - now : .zero }
    }

    /// Throws an error if the lease is not valid. Call this before each effect outside the process, such as a request to a server.
    ///
    /// - Throws: ``LeaseLostError`` if the lease is not valid.
    /// - Complexity: O(1). Reads the clock, and does not call the store.
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
        if let reason { throw session.lossError(reason) }
    }

    /// Returns a copy of a transaction with an additional condition: this lease is still held.
    ///
    /// - Parameter transaction: A transaction for the store in which the lease is held.
    package func guarded(_ transaction: StoreTransaction) -> StoreTransaction {
        var transaction = transaction
        transaction.comparisons.append(.createRevision(key, token.rawValue))
        return transaction
    }
}
