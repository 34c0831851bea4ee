import Foundation
import TaskControl
import TaskControlFleet
import TaskControlTesting
import Testing

/// A mistake that a client of leases makes, planted between the engine and its store: the engine behaves as if it had the mistake.
struct PlantedLeaseBug: Sendable, CustomTestStringConvertible {
    let name: String
    /// The clocks of the programs in which it is looked for.
    let clocks: FleetProgram.Clocks
    /// The faults that show it soonest.
    let kinds: Set<SimulatedNetwork.InjectedFault>
    var deletions = 0
    var hasSlowReplies = false
    /// Wraps the store of a process.
    let plant: @Sendable (any StoreOperations, SimulatedNetwork.Process) -> any StoreOperations

    var testDescription: String { name }

    static let all = [
        PlantedLeaseBug(name: "validity without a margin", clocks: .bounded, kinds: [.partition, .pause]) {
            store,
            process in
            RelayStore(store, process) { $0.timeToLive = $0.withoutMargin(until: $0.sent + $0.lease.timeToLive) }
        },
        // As the client of etcd in Go. With equal clocks, a validity without a margin from the time of the request is right.
        PlantedLeaseBug(
            name: "validity from the response",
            clocks: .equal,
            kinds: [.pause, .partition],
            hasSlowReplies: true
        ) { store, process in
            RelayStore(store, process) { $0.timeToLive = $0.withoutMargin(until: $0.received + $0.lease.timeToLive) }
        },
        PlantedLeaseBug(name: "a renewal that no transaction proves", clocks: .bounded, kinds: [.partition]) {
            store,
            process in
            RelayStore(store, process, hidesTerms: true)
        },
        // As the lock of etcd before 3.5: when its predecessors are gone, a waiter does not look whether its own entry is there.
        PlantedLeaseBug(
            name: "no look at the own entry after the wait",
            clocks: .bounded,
            kinds: [.pause, .slowLink],
            deletions: 3
        ) { store, process in
            RelayStore(store, process, trustsWatches: true)
        },
    ]

    /// Draws a program in which three processes contend for one lease.
    func program(_ random: inout SeededGenerator) -> FleetProgram {
        var program = FleetProgram(&random, clocks: clocks)
        program.processes = (0..<3)
            .map { _ in
                (0..<2).map { _ in
                    let work = FleetProgram.Step.work(milliseconds: Int.random(in: 20...200, using: &random))
                    return .lease(name: 0, steps: [work, work, work], cancelledAfter: nil)
                }
            }
        (program.kinds, program.faultCount, program.deletions) = (kinds, 6, deletions)
        (program.isSilent, program.hasSlowReplies) = (false, hasSlowReplies)
        return program
    }
}

/// A store that reports the answers of another one with a mistake.
final class RelayStore: StoreOperations {
    /// The renewal of a lease, before it is reported.
    struct Renewal {
        let lease: StoreLease
        let sent: Duration
        let received: Duration
        /// The duration that is reported.
        var timeToLive: Duration

        /// Returns the duration that makes the engine take the lease for valid until a time: the engine subtracts a tenth, and two round trips.
        func withoutMargin(until end: Duration) -> Duration { (end - sent + (received - sent) * 2) / 0.9 }
    }

    fileprivate struct View {
        /// The entries that the watches of a line have not reported as deleted, in the order of their creation.
        var entries: [StoreEntry] = []
        var term: UInt64 = 0
        var revision: Int64 = 0
        /// Only the look after the wait is left out.
        var hasAnswered = false
    }

    private let store: any StoreOperations
    private let process: SimulatedNetwork.Process
    private let hidesTerms: Bool
    private let trustsWatches: Bool
    private let change: @Sendable (inout Renewal) -> Void
    /// By the prefix of the line.
    private let views = Locked<[String: View]>([:])

    init(
        _ store: any StoreOperations,
        _ process: SimulatedNetwork.Process,
        hidesTerms: Bool = false,
        trustsWatches: Bool = false,
        _ change: @escaping @Sendable (inout Renewal) -> Void = { _ in }
    ) {
        (self.store, self.process, self.change) = (store, process, change)
        (self.hidesTerms, self.trustsWatches) = (hidesTerms, trustsWatches)
    }

    func grantLease(timeToLive: Duration) async throws -> StoreLease {
        try await relay { try await self.store.grantLease(timeToLive: timeToLive) }
    }

    func renewLease(_ id: LeaseID) async throws -> StoreLease {
        try await relay { try await self.store.renewLease(id) }
    }

    private func relay(_ operation: () async throws -> StoreLease) async throws -> StoreLease {
        let sent = process.clock.now.offset
        let lease = try await operation()
        var renewal = Renewal(
            lease: lease,
            sent: sent,
            received: process.clock.now.offset,
            timeToLive: lease.timeToLive
        )
        change(&renewal)
        // Each answer has the term of the latest renewal.
        if trustsWatches { views.withLock { for key in $0.keys { $0[key]!.term = lease.term } } }
        return StoreLease(id: lease.id, timeToLive: renewal.timeToLive, term: hidesTerms ? 0 : lease.term)
    }

    func revokeLease(_ id: LeaseID) async throws { try await store.revokeLease(id) }
    func read(_ range: StoreRange) async throws -> StoreSnapshot { try await store.read(range) }

    func transact(_ transaction: StoreTransaction) async throws -> StoreTransaction.Result {
        if trustsWatches, let answer = views.withLock({ $0.answer(to: transaction) }) { return answer }
        let result = try await store.transact(transaction)
        if trustsWatches, case .put(let key, _, _)? = transaction.success.first, let entries = result.reads.first {
            views.withLock { $0[key.line] = View(entries: entries, term: result.term, revision: result.revision) }
        }
        return .init(
            succeeded: result.succeeded,
            reads: result.reads,
            revision: result.revision,
            term: hidesTerms ? 0 : result.term
        )
    }

    func watch(
        _ range: StoreRange,
        after revision: Int64,
        receive: nonisolated(nonsending) (StoreChanges) async throws -> Void
    ) async throws {
        try await store.watch(range, after: revision) { report in
            if case .prefix(let line) = range.keys {
                for case .delete(let key, _) in report.changes {
                    views.withLock { $0[line]?.entries.removeAll { $0.key == key } }
                }
            }
            try await receive(report)
        }
    }
}

extension [String: RelayStore.View] {
    /// Answers the question whether the own entry is the first of the line once, when the watch has reported all older entries as deleted: as if the own
    /// entry were there.
    fileprivate mutating func answer(to transaction: StoreTransaction) -> StoreTransaction.Result? {
        guard case .createRevision(let own, let revision)? = transaction.comparisons.first, let view = self[own.line],
            case .read? = transaction.success.first, transaction.success.count == 1
        else { return nil }
        // While it waits, it looks.
        if view.hasAnswered || view.entries.contains(where: { $0.key != own && $0.createRevision < revision }) {
            return nil
        }
        self[own.line]!.hasAnswered = true
        let entry = StoreEntry(key: own, value: .init(), createRevision: revision, modifyRevision: revision)
        return .init(succeeded: true, reads: [[entry]], revision: view.revision, term: view.term)
    }
}

extension String {
    /// The prefix of the keys of a line, with the slash.
    fileprivate var line: String { String(self[...lastIndex(of: "/")!]) }
}
