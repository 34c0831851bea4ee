import TaskControl
import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControlFleet

/// The leases and entries that remain in the store after a call of `withLease`.
@Suite(.timeLimit(.minutes(60)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct LeaseLeavingTests {
    private static let timeToLive = Duration.seconds(10)

    @Test func noLeaseIsLeftInTheStore() async throws {
        try await inVirtualTime { sim in
            let (memory, release) = (MemoryStore(), Gate())
            let first = holdLease(in: memory, timeToLive: Self.timeToLive, until: release)
            try await Task.sleep(for: .milliseconds(100))
            let waiter = Task {
                try await withLease("job", in: memory, timeToLive: Self.timeToLive) { _ in }
            }
            try await Task.sleep(for: .milliseconds(100))
            sim.expect(memory.leaseCount == 2, "the holder and the waiter have a lease each")
            waiter.cancel()
            _ = await waiter.result
            sim.expect(memory.leaseCount == 1, "the lease of a waiter that has left is revoked")
            release.open()
            try await first.value
            sim.expect(memory.leaseCount == 0, "the lease of a holder that has left is revoked")
        }
    }

    @Test func aLeaseThatCannotBeRevokedAfterItsEntryWasDeletedIsLeftToExpire() async throws {
        try await inVirtualTime { sim in
            let (memory, name) = (MemoryStore(), "left behind in \(sim.seed)")
            let events = Collector { $0.ownerName == name }
            let observation = TaskDiagnostics.observe(events)
            defer { observation.end() }
            let store = FaultyStore(memory) { $0.isRevocation ? .unavailable : .none }
            let value = try await withLease(name, in: store, timeToLive: Self.timeToLive) { _ in 5 }
            sim.expect(value == 5, "the call does not fail")
            let leaving: Set<TaskEvent.Kind> = [.entryDeleted, .leaseRevoked, .leaseLeftToExpire, .storeCallFailed]
            let kinds = events.events.map(\.kind).filter(leaving.contains)
            sim.expect(kinds == [.entryDeleted, .leaseLeftToExpire], "an event tells that the lease is left")
            sim.expect(store.calls.events.filter(\.isRevocation).count == 1, "it is tried once")
        }
    }

    @Test func anEntryThatWasGoneBeforeIsNotReportedAsDeleted() async throws {
        try await inVirtualTime { sim in
            let (memory, name) = (MemoryStore(), "deleted before in \(sim.seed)")
            let events = Collector { $0.ownerName == name }
            let observation = TaskDiagnostics.observe(events)
            defer { observation.end() }
            let store = FaultyStore(memory) { $0.isWatch ? .stale : .none }
            try await withLease(name, in: store, timeToLive: Self.timeToLive) { _ in
                let key = try await memory.line("lease/\(name)/")[0].key
                _ = try await memory.transact(StoreTransaction(success: [.delete(.key(key))]))
            }
            let leaving: Set<TaskEvent.Kind> = [.entryDeleted, .leaseRevoked, .leaseLeftToExpire]
            let kinds = events.events.map(\.kind).filter(leaving.contains)
            sim.expect(kinds == [.leaseRevoked], "the lease was revoked, and no entry was deleted")
        }
    }

    /// Its sleeps of more than 3 s fail: those until the next renewal, and not those that limit a call.
    private struct ShortClock: Clock {
        var now: ContinuousClock.Instant { ContinuousClock.now }
        var minimumResolution: Duration { .zero }

        func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
            if deadline - now > .seconds(3) { throw MarkedError("clock") }
            try await ContinuousClock().sleep(until: deadline)
        }
    }

    @Test func aWaiterWhoseClockFailsReceivesTheErrorOfTheClock() async throws {
        try await inVirtualTime { sim in
            let (memory, release) = (MemoryStore(), Gate())
            let first = holdLease(in: memory, timeToLive: Self.timeToLive, until: release)
            try await Task.sleep(for: .milliseconds(100))
            let error = await failure {
                try await withLease("job", in: memory, timeToLive: Self.timeToLive, clock: ShortClock()) { _ in }
            }
            sim.expect(error as? MarkedError == MarkedError("clock"), "the error of the clock is thrown")
            release.open()
            try await first.value
        }
    }
}
