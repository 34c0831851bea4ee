import TaskControl
import TaskControlFleet
import TaskControlTesting

/// A store as one process sees it: with faults between the process and a store in memory.
final class FaultyStore: StoreOperations {
    /// An operation that a process has called.
    enum Call: Sendable {
        case grant, renew, revoke, watch, read
        case transact(StoreTransaction)

        /// Whether it creates the entry of the process.
        var isEntry: Bool {
            guard case .transact(let transaction) = self, case .absent? = transaction.comparisons.first else {
                return false
            }
            return true
        }

        /// Whether it deletes the entry of the process.
        var isDeletion: Bool {
            guard case .transact(let transaction) = self else { return false }
            return transaction.success.contains { if case .delete = $0 { true } else { false } }
        }

        var isTransaction: Bool { if case .transact = self { true } else { false } }
        var isRenewal: Bool { if case .renew = self { true } else { false } }
        var isRevocation: Bool { if case .revoke = self { true } else { false } }
        var isWatch: Bool { if case .watch = self { true } else { false } }
    }

    /// The fate of a call.
    enum Fault: Sendable {
        case none
        /// Not executed.
        case unavailable
        case unauthorized
        /// Executed, and not answered.
        case lostAnswer
        /// Neither executed nor answered.
        case lostRequest
        /// Executed, and answered after a time.
        case slow(Duration)
        /// Answered by a member that is not the leader any more, and not executed. For renewals and watches, which are then silent.
        case stale
        /// Never answered.
        case hang
    }

    private let inner: any StoreOperations
    private let plan: Locked<@Sendable (Call) -> Fault>
    private let renewed = Locked<Duration>(.zero)
    /// The calls.
    let calls = OrderRecorder<Call>()
    /// The term of the transactions. A stale renewal has the term before.
    let term = Locked<UInt64>(7)

    init(_ inner: any StoreOperations, _ plan: @escaping @Sendable (Call) -> Fault = { _ in .none }) {
        self.inner = inner
        self.plan = Locked(plan)
    }

    /// Replaces the faults.
    func fail(_ plan: @escaping @Sendable (Call) -> Fault) { self.plan.withLock { $0 = plan } }

    private func perform<Answer: Sendable>(
        _ call: Call,
        _ operation: nonisolated(nonsending) () async throws -> Answer
    ) async throws -> Answer {
        try Task.checkCancellation()
        calls.record(call)
        switch plan.withLock({ $0 })(call) {
        case .none, .stale: return try await operation()
        case .unavailable: throw StoreError(.unavailable, "a test")
        case .unauthorized: throw StoreError(.unauthorized, "a test")
        case .lostAnswer:
            _ = try await operation()
            throw StoreError(.ambiguous, "a test")
        case .lostRequest: throw StoreError(.ambiguous, "a test")
        case .slow(let duration):
            let answer = try await operation()
            try await Task.sleep(for: duration)
            return answer
        case .hang:
            try await Gate().wait()
            throw CancellationError()
        }
    }

    func grantLease(timeToLive: Duration) async throws -> StoreLease {
        let lease = try await perform(.grant) { try await inner.grantLease(timeToLive: timeToLive) }
        return StoreLease(id: lease.id, timeToLive: lease.timeToLive, term: term.withLock { $0 })
    }

    func renewLease(_ id: LeaseID) async throws -> StoreLease {
        if case .stale = plan.withLock({ $0 })(.renew) {
            calls.record(.renew)
            return StoreLease(id: id, timeToLive: .seconds(10), term: term.withLock { $0 } - 1)
        }
        let lease = try await perform(.renew) { try await inner.renewLease(id) }
        return StoreLease(id: lease.id, timeToLive: lease.timeToLive, term: term.withLock { $0 })
    }

    func revokeLease(_ id: LeaseID) async throws {
        try await perform(.revoke) { try await inner.revokeLease(id) }
    }

    func transact(_ transaction: StoreTransaction) async throws -> StoreTransaction.Result {
        let result = try await perform(.transact(transaction)) { try await inner.transact(transaction) }
        return StoreTransaction.Result(
            succeeded: result.succeeded,
            reads: result.reads,
            revision: result.revision,
            term: term.withLock { $0 }
        )
    }

    func read(_ range: StoreRange) async throws -> StoreSnapshot {
        try await perform(.read) { try await inner.read(range) }
    }

    func watch(
        _ range: StoreRange,
        after revision: Int64,
        receive: nonisolated(nonsending) (StoreChanges) async throws -> Void
    ) async throws {
        calls.record(.watch)
        switch plan.withLock({ $0 })(.watch) {
        case .unavailable: throw StoreError(.unavailable, "a test")
        case .stale, .hang: try await Gate().wait()
        default: try await inner.watch(range, after: revision, receive: receive)
        }
    }
}

extension StoreOperations {
    /// The entries of a line, in their order.
    func line(_ prefix: String = "lease/job/") async throws -> [StoreEntry] {
        try await read(StoreRange(.prefix(prefix), order: .creation)).entries
    }
}
