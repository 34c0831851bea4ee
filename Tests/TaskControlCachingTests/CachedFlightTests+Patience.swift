import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl
@testable import TaskControlCaching

/// The time for which the reader of a stale value waits for its refresh.
@Suite(.timeLimit(.minutes(15)))
struct CachedFlightPatienceTests {
    private let swr = CachePolicy(timeToLive: .seconds(10), staleWhileRevalidate: .seconds(20))

    private var patient: CachePolicy {
        var policy = swr
        policy.patience = .seconds(5)
        return policy
    }

    @Test(arguments: [true, false]) func aReaderWaitsForAFreshValueForAWhile(comesInTime: Bool) async throws {
        var policy = swr
        policy.patience = .seconds(5)
        let fixture = CacheFixture(policy)
        let gate = Gate()
        fixture.plan(2, .wait(gate))
        #expect(try await fixture.cache.value(for: "a") == 1)
        await fixture.clock.advance(by: .seconds(10))
        let reader = fixture.reader()
        try await fixture.clock.waitForSleepers()
        try await fixture.waitForCallers(1)
        if comesInTime { gate.open() } else { await fixture.clock.advance(by: .seconds(5)) }
        #expect(try await reader.value == (comesInTime ? 2 : 1))
        gate.open()
        try await fixture.waitForFlights()
        #expect(fixture.cache.peek("a") == 2, "the refresh goes on in any case")
    }

    @Test func aPatientReaderGetsTheStaleValueIfTheRefreshFails() async throws {
        var policy = swr
        policy.patience = .seconds(5)
        let fixture = CacheFixture(policy)
        fixture.plan(2, .fail(MarkedError()))
        #expect(try await fixture.cache.value(for: "a") == 1)
        await fixture.clock.advance(by: .seconds(10))
        #expect(try await fixture.cache.value(for: "a") == 1)
    }

    // MARK: The end of the wait

    /// The wait ends at the hard expiry, and not when the patience does.
    @Test func aPatientReaderNeverGetsAnExpiredValue() async throws {
        let fixture = CacheFixture(patient)
        let gate = Gate()
        fixture.plan(2, .hang(gate))
        #expect(try await fixture.cache.value(for: "a") == 1)
        await fixture.clock.advance(by: .seconds(29))
        let reader = fixture.reader()
        try await gate.waitForWaiters()
        try await fixture.clock.waitForSleepers()
        // The value expires at 30 s, and the patience ends at 34 s.
        await fixture.clock.advance(by: .seconds(5))
        // The reader asks again, which removes the expired value.
        try await wait(forBooksOf: fixture.cache._storage.source.number) { fixture.cache.valueCount }
        gate.open()
        #expect(try await reader.value == 2)
        #expect(fixture.loadCount == 2)
        try await fixture.waitForFlights()
        fixture.expectNoCallers()
    }

    @Test func aValueThatIsWrittenDuringTheWaitIsReturned() async throws {
        let fixture = CacheFixture(patient)
        let gate = Gate()
        fixture.plan(2, .hang(gate))
        #expect(try await fixture.cache.value(for: "a") == 1)
        await fixture.clock.advance(by: .seconds(10))
        let reader = fixture.reader()
        try await fixture.clock.waitForSleepers()
        try await fixture.waitForCallers(1)
        fixture.cache.update(42, for: "a")
        await fixture.clock.advance(by: .seconds(5))
        #expect(try await reader.value == 42)
        gate.open()
        try await fixture.waitForFlights()
        fixture.expectNoCallers()
    }

    @Test func aValueThatIsInvalidatedDuringTheWaitIsNotReturned() async throws {
        let fixture = CacheFixture(patient)
        let gate = Gate()
        fixture.plan(2, .hang(gate))
        #expect(try await fixture.cache.value(for: "a") == 1)
        await fixture.clock.advance(by: .seconds(10))
        let reader = fixture.reader()
        try await fixture.clock.waitForSleepers()
        try await fixture.waitForCallers(1)
        fixture.cache.invalidate("a")
        await fixture.clock.advance(by: .seconds(5))
        // The reader asks again, and begins the flight after the superseded one.
        let flights = fixture.cache._storage.flights
        try await wait(forBooksOf: flights.source.number) { 2 - flights.liveCount }
        gate.open()
        #expect(try await reader.value == 3, "the result of a load that begins after the invalidation")
        try await fixture.waitForFlights()
        fixture.expectNoCallers()
    }

    // MARK: The callers of a refresh

    /// The first reader has undertaken the refresh, and has not begun its flight yet.
    @Test func aPatientReaderBeginsTheRefreshThatAnotherReaderIsAboutToBegin() async throws {
        let fixture = CacheFixture(patient)
        let gate = Gate()
        fixture.plan(2, .wait(gate))
        #expect(try await fixture.cache.value(for: "a") == 1)
        await fixture.clock.advance(by: .seconds(10))
        let answer = fixture.cache._storage.state.withLock { $0.read(_ErasedKey("a"), at: .seconds(10)) }
        guard case .refresh = answer else { return #expect(Bool(false), "the first reader refreshes") }
        let reader = fixture.reader()
        try await fixture.waitForCallers(1)
        gate.open()
        #expect(try await reader.value == 2)
        #expect(fixture.loadCount == 2)
    }
}
