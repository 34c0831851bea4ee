import TaskControl
import TaskControlFleet
import TaskControlTesting

/// The client of a ``SimulatedCluster`` in a process of a simulated network.
///
/// Behaves as a client of etcd: it continues with the next member when one is not the leader or does not answer, and sends no operation again that
/// may have been executed, except renewals and reads.
final class NetworkStore: StoreOperations {
    private let process: SimulatedNetwork.Process
    private let members: [String]
    /// The time in which a member must answer, on the clock of the process.
    private let limit: Duration
    /// The probability that a renewal goes to any member, instead of the one that has answered last.
    private let strayRenewals: Double
    private let random: any RandomNumberGenerator & Sendable
    private let preferred = Locked(0)

    init(
        _ process: SimulatedNetwork.Process,
        _ cluster: SimulatedCluster,
        limit: Duration,
        strayRenewals: Double,
        random: some RandomNumberGenerator & Sendable
    ) {
        (self.process, members, self.limit) = (process, cluster.members, limit)
        (self.strayRenewals, self.random) = (strayRenewals, random)
    }

    func grantLease(timeToLive: Duration) async throws -> StoreLease {
        guard case .lease(let lease) = try await ask(.grant(timeToLive)) else { throw Self.mistake }
        return lease
    }

    func renewLease(_ id: LeaseID) async throws -> StoreLease {
        var random = random
        let isStray = Double.random(in: 0..<1, using: &random) < strayRenewals
        let member = isStray ? Int.random(in: 0..<members.count, using: &random) : nil
        guard case .lease(let lease) = try await ask(.renew(id), at: member, isIdempotent: true) else {
            throw Self.mistake
        }
        return lease
    }

    func revokeLease(_ id: LeaseID) async throws {
        _ = try await ask(.revoke(id), isIdempotent: true)
    }

    func transact(_ transaction: StoreTransaction) async throws -> StoreTransaction.Result {
        guard case .result(let result) = try await ask(.transact(transaction)) else { throw Self.mistake }
        return result
    }

    func read(_ range: StoreRange) async throws -> StoreSnapshot {
        guard case .snapshot(let snapshot) = try await ask(.read(range), isIdempotent: true) else { throw Self.mistake }
        return snapshot
    }

    func watch(
        _ range: StoreRange,
        after revision: Int64,
        receive: nonisolated(nonsending) (StoreChanges) async throws -> Void
    ) async throws {
        var position = revision
        try await receive(StoreChanges([], revision: position))
        while true {
            var report: StoreChanges?
            do {
                // Asks again after a while: the member may have crashed.
                let reply = try await ask(.watch(range, after: position), isIdempotent: true, limit: limit * 8)
                if case .changes(let changes) = reply { report = changes }
            } catch is StoreError {
                try await process.clock.sleep(for: limit)
            }
            guard let report else { continue }
            position = report.revision
            try await receive(report)
        }
    }

    private static let mistake = StoreError(.refused, "the member has sent another answer")

    /// Asks a member, and the next one if that has not executed the operation or the operation may be executed twice.
    private func ask(
        _ operation: StoreRequest.Operation,
        at member: Int? = nil,
        isIdempotent: Bool = false,
        limit: Duration? = nil
    ) async throws -> StoreRequest.Reply {
        var last = StoreError(.unavailable, "there is no member")
        for attempt in 0..<members.count {
            let asked = (member ?? preferred.withLock(\.self)) + (member == nil ? 0 : attempt)
            let name = members[asked % members.count]
            do {
                return try await withTimeout(limit ?? self.limit, clock: process.clock) { [process] in
                    try await process.send(StoreRequest(operation: operation), to: name)
                }
            } catch let error as StoreError {
                if error.reason != .unavailable { throw error }
                last = error
            } catch is TimeoutError {
                last = StoreError(.ambiguous, "no answer")
            } catch is SimulatedNetwork.ConnectionLostError {
                last = StoreError(.ambiguous, "the connection was lost")
            }
            if member == nil { preferred.withLock { if $0 == asked { $0 = (asked + 1) % members.count } } }
            if last.reason == .ambiguous, !isIdempotent { break }
        }
        throw last
    }
}
