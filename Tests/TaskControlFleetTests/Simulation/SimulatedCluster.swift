import Foundation
import TaskControl
import TaskControlTesting
import TestSupport

@testable import TaskControlFleet

/// A request of a ``NetworkStore`` to a member of a ``SimulatedCluster``.
struct StoreRequest: SimulatedNetwork.Request {
    enum Operation: Sendable {
        case grant(Duration)
        case renew(LeaseID)
        case revoke(LeaseID)
        case transact(StoreTransaction)
        case read(StoreRange)
        case watch(StoreRange, after: Int64)
    }

    enum Reply: Sendable {
        case lease(StoreLease)
        case done
        case result(StoreTransaction.Result)
        case snapshot(StoreSnapshot)
        case changes(StoreChanges)
    }

    let operation: Operation
}

/// A store of several members on nodes of a simulated network, of which one at a time is the leader.
///
/// The members share one ``MemoryStoreStateMachine``, as those of a cluster share a log: only the leader changes it, at the time of its own clock, and
/// it survives crashes. Leases are renewed outside the log, as in etcd: a member that was the leader before still answers renewals, with its old term and
/// without extending anything.
final class SimulatedCluster: Sendable {
    private typealias Machine = MemoryStoreStateMachine

    /// A watch that waits for changes.
    private final class PendingChanges: Sendable {
        let gate = Gate()
        let changes = Locked<StoreChanges?>(nil)

        func arrive(_ report: StoreChanges) {
            changes.withLock { $0 = report }
            gate.open()
        }
    }

    private struct State {
        /// The watches that wait, by the numbers of their words.
        var pending: [Int: PendingChanges] = [:]
        var nextPending = 0
        var machine = Machine(historyLimit: 100)
        var leader = 0
        var term: UInt64 = 1
        /// The leases that a member knew when it was the leader last, and its term.
        var memories: [Int: (term: UInt64, leases: [LeaseID: Duration])] = [:]
        var leases: [LeaseID: Duration] = [:]
        /// The time of the machine when the clock of the leader shows zero.
        var base = Duration.zero
        /// The latest time of the machine.
        var time = Duration.zero
        /// The timer that the machine has asked for last, and whether the leader must start it again.
        var timer: UInt64 = 0
        var needsTimer = false
    }

    let members: [String]
    /// Whether requests of watches are never answered.
    private let isSilent: Bool
    private let state = Locked(State())

    init(members: Int, isSilent: Bool) {
        self.members = (1...members).map { "member \($0)" }
        self.isSilent = isSilent
    }

    /// Reads all entries, as a client that no partition concerns. Leases that have expired end before.
    func read(from network: SimulatedNetwork) async throws -> [StoreEntry] {
        let leader = members[state.withLock(\.leader)]
        let request = StoreRequest(operation: .read(.prefix("")))
        while true {
            // Answers may be lost.
            let reply = try? await withTimeout(.seconds(1)) { try await network.send(request, to: leader) }
            if case .snapshot(let snapshot)? = reply { return snapshot.entries }
        }
    }

    var term: UInt64 { state.withLock(\.term) }

    func addNodes(to network: SimulatedNetwork) {
        for (index, name) in members.enumerated() {
            network.addNode(name) { [self] process in
                if process.incarnation > 1 { restarted(index, process) }
                process.handle(StoreRequest.self) { try await self.handle($0.operation, index, process) }
            }
        }
    }

    // MARK: Leaders

    /// Makes a member the leader of the next term. As in etcd, all leases begin again.
    func elect(_ member: Int, clock: SimulatedNetwork.NodeClock) {
        let now = clock.now.offset
        state.withLock { state in
            state.memories[state.leader] = (state.term, state.leases)
            state.leader = member
            state.term += 1
            state.base = state.time - now
            state.needsTimer = true
            for id in state.leases.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
                _ = state.machine.renew(id, now: state.time)
            }
        }
    }

    private func restarted(_ member: Int, _ process: SimulatedNetwork.Process) {
        let isLeader = state.withLock { state in
            state.memories[member] = nil
            return state.leader == member
        }
        if isLeader { elect(member, clock: process.clock) }
    }

    /// Deletes the entry of a waiter, as an operator does by mistake.
    ///
    /// - Parameter draw: Draws a number below the number of waiters.
    /// - Returns: The key; `nil`: there is no waiter.
    func deleteWaiter(_ draw: (Int) -> Int) -> String? {
        let (key, deliveries) = state.withLock { state -> (String?, [Machine.Delivery]) in
            let entries = state.machine.read(StoreRange(.prefix("lease/"), order: .creation), now: state.time).answer
                .entries
            var lines: Set<Substring> = []
            // The first entry of a line is the holder's.
            let waiters = entries.map(\.key).filter { !lines.insert($0[..<$0.lastIndex(of: "/")!]).inserted }
            if waiters.isEmpty { return (nil, []) }
            let key = waiters[draw(waiters.count)]
            let step = state.machine.transact(StoreTransaction(success: [.delete(.key(key))]), now: state.time)
            return (key, step.deliveries)
        }
        deliver(deliveries)
        return key
    }

    // MARK: Requests

    private func handle(
        _ operation: StoreRequest.Operation,
        _ member: Int,
        _ process: SimulatedNetwork.Process
    ) async throws -> StoreRequest.Reply {
        if case .renew(let id) = operation, let stale = try staleRenewal(of: id, at: member) { return .lease(stale) }
        if case .watch(let range, let revision) = operation {
            return .changes(try await watch(range, after: revision, member, process))
        }
        let (answer, term) = try perform(member, process) { machine, now, leases -> Machine.Step<Answer> in
            switch operation {
            case .grant(let timeToLive):
                let step = machine.grant(timeToLive, now: now)
                leases[step.answer.id] = step.answer.timeToLive
                return step.map { .success(.lease($0)) }
            case .renew(let id): return machine.renew(id, now: now).map { $0.map { .lease($0) } }
            case .revoke(let id): return machine.revoke(id, now: now).map { .success(.done) }
            case .transact(let transaction):
                return machine.transact(transaction, now: now).map { $0.map { .result($0) } }
            case .read(let range): return machine.read(range, now: now).map { .success(.snapshot($0)) }
            case .watch: preconditionFailure("Watches wait.")
            }
        }
        return try answer.get().with(term: term)
    }

    private typealias Answer = Result<StoreRequest.Reply, StoreError>

    /// - Returns: `nil`: the member is the leader.
    private func staleRenewal(of id: LeaseID, at member: Int) throws -> StoreLease? {
        try state.withLock { state -> Result<StoreLease?, StoreError> in
            if state.leader == member { return .success(nil) }
            guard let memory = state.memories[member] else { return .failure(Self.noLeader) }
            guard let timeToLive = memory.leases[id] else {
                return .failure(StoreError(.leaseNotFound, "no such lease"))
            }
            return .success(StoreLease(id: id, timeToLive: timeToLive, term: memory.term))
        }
        .get()
    }

    private static let noLeader = StoreError(.unavailable, "the member is not the leader")

    private func watch(
        _ range: StoreRange,
        after revision: Int64,
        _ member: Int,
        _ process: SimulatedNetwork.Process
    ) async throws -> StoreChanges {
        let id = try perform(member, process) { machine, now, _ in machine.beginWatch(range, after: revision, now: now)
        }.0
        defer { end(id) }
        if isSilent { try await Gate().wait() }
        let pending = PendingChanges()
        let waiter = state.withLock { state in
            defer { state.nextPending += 1 }
            state.pending[state.nextPending] = pending
            return Word(state.nextPending)
        }
        defer { state.withLock { $0.pending[waiter.number] = nil } }
        while true {
            let action = try perform(member, process) { machine, now, _ in machine.next(id, waiter, now: now) }.0
            switch action {
            case .report(let report):
                if !report.isComplete || !report.changes.isEmpty { return report }
            case .left: throw CancellationError()
            case .wait:
                try await pending.gate.wait()
                return pending.changes.withLock(\.self)!
            }
        }
    }

    /// Ends a watch whose request is over, whether or not the member is the leader still.
    private func end(_ id: Machine.WatchID) {
        state.withLock { state in
            _ = state.machine.leave(id)
            _ = state.machine.endWatch(id, now: state.time)
        }
    }

    private func deliver(_ deliveries: [Machine.Delivery]) {
        for delivery in deliveries {
            state.withLock { $0.pending[delivery.waiter.number] }?.arrive(delivery.changes)
        }
    }

    /// Asks the machine as the leader, at the time of its clock.
    private func perform<Answer>(
        _ member: Int,
        _ process: SimulatedNetwork.Process,
        _ event: (inout Machine, Duration, inout [LeaseID: Duration]) -> Machine.Step<Answer>
    ) throws -> (Answer, term: UInt64) {
        let clock = process.clock
        let offset = clock.now.offset
        let result = state.withLock {
            state -> (step: Machine.Step<Answer>, timer: Machine.TimerAction, base: Duration, UInt64)? in
            guard state.leader == member else { return nil }
            state.time = max(state.time, offset + state.base)
            let step = event(&state.machine, state.time, &state.leases)
            var timer = step.timer
            if case .start(let number, _) = timer { state.timer = number }
            if state.needsTimer, timer == .keep {
                // The timer of the leader before is lost.
                timer = state.machine.timerEnded(state.timer, now: state.time).timer
                if case .start(let number, _) = timer { state.timer = number }
            }
            state.needsTimer = false
            return (step, timer, state.base, state.term)
        }
        guard let (step, timer, base, term) = result else { throw Self.noLeader }
        deliver(step.deliveries)
        if case .start(let number, let end) = timer {
            process.addTask(name: "end of a lease") { [self] in
                do {
                    try await clock.sleep(until: .init(offset: end - base))
                    _ = try perform(member, process) { machine, now, _ in machine.timerEnded(number, now: now) }
                } catch {
                    // Not the leader any more, or crashed. The next request finds the lease.
                }
            }
        }
        return (step.answer, term)
    }
}

extension MemoryStoreStateMachine.Step {
    fileprivate func map<Other>(_ transform: (Answer) -> Other) -> MemoryStoreStateMachine.Step<Other> {
        .init(answer: transform(answer), deliveries: deliveries, timer: timer)
    }
}

extension StoreRequest.Reply {
    /// The same with the term of the leader that has answered.
    fileprivate func with(term: UInt64) -> Self {
        switch self {
        case .lease(let lease): .lease(StoreLease(id: lease.id, timeToLive: lease.timeToLive, term: term))
        case .result(let result):
            .result(.init(succeeded: result.succeeded, reads: result.reads, revision: result.revision, term: term))
        case .snapshot(let snapshot):
            .snapshot(.init(entries: snapshot.entries, revision: snapshot.revision, term: term))
        case .done, .changes: self
        }
    }
}
