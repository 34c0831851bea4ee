import Foundation
import TaskControl
import TaskControlFleet
import TaskControlTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(15)))
struct MemoryStoreTests {
    @Test(arguments: StoreContract.checks.filter { !$0.waitsForLeases })
    func keepsThePromisesOfAStore(_ check: StoreContract.Check) async throws {
        var contract = contract(MemoryStore())
        // No check waits for the end of a lease, so none may end on a busy machine.
        contract.timeToLive = .seconds(3_600)
        try await check.run(contract)
    }

    private func contract(_ store: MemoryStore) -> StoreContract {
        var contract = StoreContract(store, prefix: "contract/")
        contract.compact = { store.compact() }
        return contract
    }

    @Suite(.timeLimit(.minutes(60)), .enabled(if: Simulation.isSupported), .tags(.schedules))
    struct InSimulation {
        @Test(arguments: StoreContract.checks) func keepsThePromisesOfAStore(_ check: StoreContract.Check) async throws
        {
            try await offThePool {
                try simulate(seeds: Schedules.seeds(200, inDebug: 5)) { _ in
                    try await check.run(MemoryStoreTests().contract(MemoryStore()))
                }
            }
        }

        /// A lease ends while a watch begins, is cancelled, or leaves: the timer is never lost, and never left behind.
        @Test func aLeaseEndsWhileWatchesComeAndGo() async throws {
            try await offThePool {
                try simulate(seeds: Schedules.seeds(1_000, inDebug: 20)) { sim in
                    let store = MemoryStore()
                    let lease = try await store.grantLease(timeToLive: .milliseconds(5))
                    _ = try await store.transact(StoreTransaction(success: [.put("a", Data(), lease: lease.id)]))
                    let ends = OrderRecorder<Int>()
                    let watches = (0..<3).map { number in
                        Task {
                            try await Task.sleep(for: .milliseconds(2 * number))
                            try await store.watch(.prefix(""), after: 2) { report in
                                if case .delete = report.changes.first { ends.record(number) }
                            }
                        }
                    }
                    sim.cancelAtAnyPoint(watches[0])
                    sim.atAnyPoint { Task { _ = try? await store.renewLease(lease.id) } }
                    try await Task.sleep(for: .milliseconds(30))
                    sim.expect(
                        ends.events.filter { $0 != 0 }.sorted() == [1, 2],
                        "each watch sees the end once: \(ends.events)"
                    )
                    for watch in watches { watch.cancel() }
                    for watch in watches { _ = await watch.result }
                }
            }
        }
    }

    // MARK: Time

    @Test func aLeaseEndsAtTheNextCall() async throws {
        let clock = TestClock()
        let store = MemoryStore(clock: clock)
        let lease = try await store.grantLease(timeToLive: .seconds(5))
        _ = try await store.transact(StoreTransaction(success: [.put("a", Data(), lease: lease.id)]))
        await clock.advance(by: .seconds(5) - .nanoseconds(1))
        #expect(try await store.read(.key("a")).entries.count == 1)
        await clock.advance(by: .nanoseconds(1))
        #expect(try await store.read(.key("a")).entries.isEmpty)
        #expect(clock.sleeperCount == 0, "without a watch, no task sleeps")
    }

    @Test func aTimerRunsWhileThereIsAWatch() async throws {
        let clock = TestClock()
        let store = MemoryStore(clock: clock)
        let reports = OrderRecorder<StoreChanges>()
        let watch = Task { try await store.watch(.prefix(""), after: 1) { reports.record($0) } }
        try await reports.waitForEvents(count: 1)
        #expect(clock.sleeperCount == 0, "without a lease, no task sleeps")
        let lease = try await store.grantLease(timeToLive: .seconds(5))
        _ = try await store.transact(StoreTransaction(success: [.put("a", Data(), lease: lease.id)]))
        try await clock.waitForSleepers()
        await clock.advance(by: .seconds(5))
        try await reports.waitForEvents(count: 3)
        #expect(reports.events.last?.changes == [.delete(key: "a", revision: 3)])
        let second = try await store.grantLease(timeToLive: .seconds(5))
        try await clock.waitForSleepers()
        watch.cancel()
        await #expect(throws: CancellationError.self) { try await watch.value }
        #expect(clock.sleeperCount == 0, "the last watch takes the timer along")
        try await store.revokeLease(second.id)
    }

    @Test func aStoreIsDeallocatedWithItsLastUser() async throws {
        try await requireDeallocated {
            let store = MemoryStore()
            let lease = try await store.grantLease(timeToLive: .seconds(1_000))
            let begun = Gate()
            let watch = Task { try await store.watch(.prefix(""), after: 1) { _ in begun.open() } }
            try await begun.wait()
            _ = try await store.renewLease(lease.id)
            watch.cancel()
            _ = await watch.result
            return store
        }
    }

    /// Records the times until which a store sleeps.
    private struct RecordingClock: Clock {
        let begin = ContinuousClock.now
        let sleeps = OrderRecorder<Duration>()
        var now: ContinuousClock.Instant { begin }
        var minimumResolution: Duration { .zero }

        func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
            sleeps.record(deadline - begin)
            try await Gate().wait()
        }
    }

    @Test func theTimerOfALeaseIsRoundedUpToWholeNanoseconds() async throws {
        let (clock, begun) = (RecordingClock(), Gate())
        let store = MemoryStore(clock: clock)
        let watch = Task {
            try await store.watch(.prefix("a"), after: 1) { _ in begun.open() }
        }
        try await begun.wait()
        _ = try await store.grantLease(timeToLive: Duration(secondsComponent: 1, attosecondsComponent: 1))
        try await clock.sleeps.waitForEvents(count: 1)
        #expect(clock.sleeps.events == [.seconds(1) + .nanoseconds(1)])
        watch.cancel()
        _ = await watch.result
    }
}
