import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl
@testable import TaskControlCaching

/// A cache as an owner: its loads are drained, cancelled and refused like the tasks of every other owner.
@Suite(.timeLimit(.minutes(15)))
struct CacheOwnerTests {
    private let fixture = CacheFixture()
    private let gate = Gate()

    private func startLoad() async throws -> Task<Int, any Error> {
        fixture.plan(1, .hang(gate))
        let caller = Task { [cache = fixture.cache] in try await cache.value(for: "a") }
        try await gate.waitForWaiters()
        return caller
    }

    @Test func aDrainWaitsForLoads() async throws {
        let owner: any TaskOwner = fixture.cache
        try await owner.drain()
        let caller = try await startLoad()
        #expect(owner.count == 1)
        owner.cancelAll(because: "signed out")
        await #expect(throws: CancellationCause.requested(reason: "signed out")) { try await caller.value }
        #expect(owner.isEmpty && fixture.cache.valueCount == 0)
        let drained = OrderRecorder<String>()
        let drain = Task {
            try await owner.drain()
            drained.record("drained")
        }
        #expect(drained.events.isEmpty)
        gate.open()
        try await drain.value
        #expect(try await fixture.cache.value(for: "b") == 2)
    }

    @Test func aClosedCacheReturnsItsValuesAndLoadsNone() async throws {
        #expect(try await fixture.cache.value(for: "a") == 1)
        fixture.cache.close()
        #expect(try await fixture.cache.value(for: "a") == 1)
        let error = CancellationCause.shutdown(name: "articles")
        await #expect(throws: error) { try await fixture.cache.value(for: "b") }
        await #expect(throws: error) { try await fixture.cache.fresh(for: "a") }
        #expect(fixture.loads.events == ["a"])
        await fixture.cache.shutdown(grace: .seconds(1))
    }

    @Test func aShutdownWaitsForALoadInItsGracePeriod() async throws {
        let caller = try await startLoad()
        let clock = TestClock()
        let shutdown = Task { [cache = fixture.cache] in await cache.shutdown(grace: .seconds(5), clock: clock) }
        try await clock.waitForSleepers()
        gate.open()
        _ = await shutdown.value
        #expect(try await caller.value == 1)
    }
}
