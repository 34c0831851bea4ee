import TaskControl
import TaskControlFleet
import TaskControlTesting
import TestSupport
import Testing

/// The rules of `withLease`, each of which a known client breaks.
@Suite(.timeLimit(.minutes(60)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct LeaseRuleTests {
    private static let timeToLive = Duration.seconds(10)

    /// Waits until the task is cancelled, and records when and why.
    private static func waitForCancellation() async -> CancellationCause? {
        try? await Gate().wait()
        return Task.cancellationCause
    }

    private static func isAbout(_ time: Duration, _ expected: Duration) -> Bool {
        abs((time - expected) / .milliseconds(1)) < 10
    }

    /// Returns the way in which a lease that is never released is lost, and the time of the loss.
    private static func loss(_ sim: Simulation, _ store: FaultyStore) async throws -> (LeaseLostError?, Duration) {
        let time = Locked(Duration.zero)
        do {
            try await withLease("job", in: store, timeToLive: timeToLive) { lease in
                _ = await waitForCancellation()
                sim.expect(!lease.isValid, "a lease that is lost is not valid")
                time.withLock { $0 = sim.now }
            }
            return (nil, sim.now)
        } catch let error as LeaseLostError {
            return (error, time.withLock(\.self))
        }
    }

    /// Rule 1. etcd's Go client measures from the receipt of the answer, and can report a lost lease a second after it was lost (client/v3/lease.go); Curator's
    /// LOST was counted from the suspension of the connection (CURATOR-460).
    @Test func aLeaseIsValidFromTheTimeAtWhichItsRenewalWasSent() async throws {
        try await inVirtualTime { sim in
            let store = FaultyStore(MemoryStore()) { $0.isRenewal ? .slow(.seconds(2)) : .none }
            let failing = Task {
                try await Task.sleep(for: .seconds(6))
                store.fail { _ in .hang }
            }
            let (error, time) = try await Self.loss(sim, store)
            sim.expect(error?.reason == .expired, "the lease is lost")
            // Sent after a third of the duration, answered 2 s later. Counted from the answer it would be 11 s.
            sim.expect(Self.isAbout(time, .seconds(9)), "the validity begins when the renewal is sent")
            try await failing.value
        }
    }

    /// Rule 2. Renewals are no part of the log of etcd: a leader whose disk hangs renews leases without effect (tikv/pd#10671), and clients that trust the answer believe it.
    @Test func aRenewalByAStaleLeaderDoesNotExtendTheLease() async throws {
        try await inVirtualTime { sim in
            let memory = MemoryStore()
            let store = FaultyStore(memory) { $0.isRenewal ? .stale : .none }
            let time = Locked(Duration.zero)
            let error = await failure {
                try await withLease("job", in: store, timeToLive: Self.timeToLive) { lease in
                    _ = await Self.waitForCancellation()
                    time.withLock { $0 = sim.now }
                    let entries = try await Task { try await memory.line() }.value
                    sim.expect(entries.count == 1, "the holder learns of it before its entry is gone")
                }
            }
            sim.expect(error is LeaseLostError, "the lease is lost")
            sim.expect(store.calls.events.filter(\.isRenewal).count > 2, "the renewals are repeated")
            sim.expect(Self.isAbout(time.withLock(\.self), .seconds(9)), "only the grant is proven")
        }
    }

    /// Rule 3. `Lock` of etcd's client returned without a look at its own entry (Jepsen 2020, etcd#11456; never fixed in 3.4), and `Campaign` does still (etcd#19597).
    @Test func aWaiterWhoseEntryWasDeletedDoesNotHoldWhenThePredecessorLeaves() async throws {
        try await inVirtualTime { sim in
            let (memory, holders, release) = (MemoryStore(), Holders(sim), Gate())
            // A watch that reports nothing cannot warn the waiter.
            let store = FaultyStore(memory) { $0.isWatch ? .stale : .none }
            let first = Task {
                try await withLease("job", in: store, timeToLive: Self.timeToLive) { lease in
                    holders.begin(lease)
                    try await release.wait()
                    holders.end(lease)
                }
            }
            try await Task.sleep(for: .milliseconds(100))
            let second = Task {
                try await withLease("job", in: store, timeToLive: Self.timeToLive) { lease in
                    holders.begin(lease)
                    defer { holders.end(lease) }
                    let line = try await memory.line()
                    sim.expect(line.first?.createRevision == lease.token.rawValue, "the holder has an entry")
                    return lease.token
                }
            }
            try await Task.sleep(for: .milliseconds(100))
            let line = try await memory.line()
            sim.expect(line.count == 2, "both are in the line")
            let deletion = try await memory.transact(StoreTransaction(success: [.delete(.key(line[1].key))]))
            release.open()
            try await first.value
            let token = try await second.value
            sim.expect(token.rawValue > deletion.revision, "the waiter has entered the line again")
            sim.expect(try await memory.line().isEmpty, "the line is empty")
        }
    }

    /// Rule 4. `tryAcquire` of etcd's client returns the error, and leaves the entry under a living session: all others wait until that is closed.
    @Test(arguments: [false, true]) func anEntryThatWasNotAnsweredIsAdopted(isExecuted: Bool) async throws {
        try await inVirtualTime { sim in
            let (memory, entries) = (MemoryStore(), Locked(0))
            let store = FaultyStore(memory) { call in
                guard call.isEntry else { return .none }
                let number = entries.withLock { entries in
                    entries += 1
                    return entries
                }
                return number == 1 ? isExecuted ? .lostAnswer : .lostRequest : .none
            }
            try await withLease("job", in: store, timeToLive: Self.timeToLive) { lease in
                let line = try await memory.line()
                sim.expect(line.map(\.createRevision) == [lease.token.rawValue], "there is one entry, and it is known")
            }
            sim.expect(try await memory.line().isEmpty, "the line is empty")
            sim.expect(
                store.calls.events.contains(where: \.isRevocation),
                "an entry that arrives later would live as long as the lease"
            )
        }
    }

    /// Rule 4, without an answer for as long as the caller is patient.
    @Test func anEntryThatIsNeverAnsweredIsRevoked() async throws {
        try await inVirtualTime { sim in
            let memory = MemoryStore()
            let store = FaultyStore(memory) { $0.isEntry ? .lostAnswer : .none }
            let error = await failure {
                try await withLease("job", in: store, timeToLive: Self.timeToLive) { _ in
                    sim.expect(false, "the body does not run")
                }
            }
            sim.expect((error as? StoreError)?.reason == .ambiguous, "the error of the store is thrown")
            sim.expect(try await memory.line().isEmpty, "no entry stays behind a living lease")
        }
    }

    enum Leaving: String, CaseIterable {
        case entryDeleted, leaseRevoked, leaseLeftToExpire
    }

    /// Rule 5. `Unlock` after a wait that was cancelled uses the cancelled context of the client (etcd), or has no limit.
    @Test(arguments: Leaving.allCases) func aCancelledWaiterLeavesTheLine(_ leaving: Leaving) async throws {
        try await inVirtualTime { sim in
            let (memory, release, name) = (MemoryStore(), Gate(), "leaving: \(leaving) in \(sim.seed)")
            let prefix = "lease/\(name)/"
            let events = Collector { $0.ownerName == name }
            let observation = TaskDiagnostics.observe(events)
            defer { observation.end() }
            let store = FaultyStore(memory) { call in
                if call.isDeletion, leaving != .entryDeleted { return .hang }
                return call.isRevocation && leaving == .leaseLeftToExpire ? .hang : .none
            }
            let first = Task {
                try await withLease(name, in: memory, timeToLive: Self.timeToLive) { _ in try await release.wait() }
            }
            try await Task.sleep(for: .milliseconds(100))
            let second = Task {
                try await withLease(name, in: store, timeToLive: Self.timeToLive) { _ in
                    sim.expect(false, "the body does not run")
                }
            }
            try await Task.sleep(for: .milliseconds(100))
            sim.expect(try await memory.line(prefix).count == 2, "both are in the line")
            let begin = sim.now
            second.cancel()
            if case .failure(let error) = await second.result {
                sim.expect(error is CancellationError, "the caller learns of its cancellation")
            }
            sim.expect(sim.now - begin <= .seconds(6), "the wait is limited")
            let kinds = events.events.map(\.kind.rawValue).filter { Leaving(rawValue: $0) != nil }
            sim.expect(kinds == [leaving.rawValue], "an event tells how it has left")
            if leaving == .leaseLeftToExpire { try await Task.sleep(for: Self.timeToLive) }
            sim.expect(try await memory.line(prefix).count == 1, "only the holder is in the line")
            release.open()
            try await first.value
        }
    }

    enum Watch: CaseIterable {
        case usual, silent, unavailable, incomplete
    }

    /// Rule 6. Watches of etcd 3.4 lost events after a compaction, and starved behind TLS (fixed 3.4.25 to 3.4.36).
    @Test(arguments: Watch.allCases) func aWatchThatFailsOnlyDelaysAWaiter(_ watch: Watch) async throws {
        try await inVirtualTime { sim in
            let memory = MemoryStore(historyLimit: watch == .incomplete ? 0 : 1_000)
            let (release, holders) = (Gate(), Holders(sim))
            let store = FaultyStore(memory) { call in
                guard call.isWatch else { return .none }
                return watch == .silent ? .stale : watch == .unavailable ? .unavailable : .none
            }
            let first = Task {
                try await withLease("job", in: store, timeToLive: Self.timeToLive) { lease in
                    holders.begin(lease)
                    try await release.wait()
                    holders.end(lease)
                }
            }
            try await Task.sleep(for: .milliseconds(100))
            let second = Task {
                try await withLease("job", in: store, timeToLive: Self.timeToLive) { lease in
                    holders.begin(lease)
                    holders.end(lease)
                    return sim.now
                }
            }
            try await Task.sleep(for: .seconds(1))
            let time = sim.now
            release.open()
            try await first.value
            let delay = try await second.value - time
            let most: Duration =
                watch == .silent || watch == .unavailable ? Self.timeToLive / 3 : .milliseconds(10)
            sim.expect(delay <= most, "a waiter looks at least each third of the duration")
        }
    }

    /// Rule 7. A client of ZooKeeper that waits for the end of its session learns of it when another client has the lock already.
    @Test func aHolderWithoutContactIsCancelledBeforeTheNextOneBegins() async throws {
        try await inVirtualTime { sim in
            let (memory, holders) = (MemoryStore(), Holders(sim))
            let store = FaultyStore(memory)
            let (lost, begun) = (Locked(Duration.zero), Locked(Duration.zero))
            let first = Task {
                try await withLease("job", in: store, timeToLive: Self.timeToLive) { lease in
                    holders.begin(lease)
                    let cause = await Self.waitForCancellation()
                    lost.withLock { $0 = sim.now }
                    sim.expect(cause == .leaseLost(name: "job"), "the cause is that of the lease")
                }
            }
            try await Task.sleep(for: .milliseconds(100))
            let second = Task {
                try await withLease("job", in: memory, timeToLive: Self.timeToLive) { lease in
                    begun.withLock { $0 = sim.now }
                    holders.begin(lease)
                }
            }
            try await Task.sleep(for: .seconds(Int(sim.seed % 20)))
            let time = sim.now
            store.fail { _ in .hang }
            try await second.value
            let error = await failure { try await first.value }
            sim.expect((error as? LeaseLostError)?.reason == .expired, "the lease has expired")
            let (end, beginning) = (lost.withLock(\.self), begun.withLock(\.self))
            sim.expect(end < beginning, "the holder is cancelled before the next one begins")
            sim.expect(beginning <= time + Self.timeToLive + .seconds(1), "a dead holder is replaced in time")
        }
    }

    /// And the order of the callers, with the tokens in the same order.
    @Test func callersHoldInTheOrderOfTheirEntries() async throws {
        try await inVirtualTime { sim in
            let (memory, holders, order) = (MemoryStore(), Holders(sim), OrderRecorder<Int>())
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<6 {
                    group.addTask {
                        try await Task.sleep(for: .milliseconds(50 * number))
                        try await withLease("job", in: memory, timeToLive: Self.timeToLive) { lease in
                            holders.begin(lease)
                            order.record(number)
                            try await Task.sleep(for: .seconds(7))
                            holders.end(lease)
                        }
                    }
                }
                try await group.waitForAll()
            }
            sim.expect(order.events == Array(0..<6), "first come, first served")
            sim.expect(try await memory.line().isEmpty, "the line is empty")
        }
    }
}
