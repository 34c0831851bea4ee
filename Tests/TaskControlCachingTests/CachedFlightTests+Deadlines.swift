import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl
@testable import TaskControlCaching

/// A reader with a deadline, and an old value that it receives before its deadline.
@Suite(.timeLimit(.minutes(15)))
struct CachedFlightDeadlineTests {
    private let policy = CachePolicy(timeToLive: .milliseconds(100), staleIfError: .seconds(60))

    /// A cache whose value is too old, and whose second load waits.
    private func fixture(_ plan: CacheFixture.Plan) async throws -> CacheFixture {
        let fixture = CacheFixture(policy)
        fixture.plan(2, plan)
        #expect(try await fixture.cache.value(for: "a") == 1)
        await fixture.clock.advance(by: .milliseconds(100))
        return fixture
    }

    /// The row *does not answer* of the table in the article *Servers*.
    @Test func aReaderWithADeadlineReceivesTheOldValueBeforeIt() async throws {
        let gate = Gate()
        let fixture = try await fixture(.limited(gate, .milliseconds(800)))
        let reader = fixture.reader(within: .milliseconds(300))
        // The limit of the load, the deadline, and the end of the wait, 30 ms before the deadline.
        try await fixture.clock.waitForSleepers(count: 3)
        await fixture.clock.advance(by: .milliseconds(270))
        #expect(try await reader.value == 1)
        #expect(fixture.cache.count == 1, "the load was not cancelled")
        fixture.expectNoCallers()
        gate.open()
        try await fixture.waitForFlights()
        fixture.plan(3, .fail(MarkedError()))
        #expect(try await fixture.cache.value(for: "a") == 2, "the value of the load that went on")
    }

    /// The wait ends a tenth of the remaining time before the deadline, and at most 50 ms.
    @Test(arguments: [(30_000, 50), (300, 30), (10, 1)])
    func theMarginIsATenthOfTheTimeAndAtMost50Milliseconds(time: Int, margin: Int) async throws {
        let gate = Gate()
        let fixture = try await fixture(.wait(gate))
        let reader = fixture.reader(within: .milliseconds(time))
        try await fixture.clock.waitForSleepers(count: 2)
        await fixture.clock.advance(by: .milliseconds(time - margin) - .nanoseconds(1))
        #expect(fixture.clock.sleeperCount == 2)
        await fixture.clock.advance(by: .nanoseconds(1))
        #expect(try await reader.value == 1)
        gate.open()
        try await fixture.waitForFlights()
    }

    @Test func aLoadThatEndsBeforeTheDeadlineIsReturned() async throws {
        let gate = Gate()
        let fixture = try await fixture(.wait(gate))
        let reader = fixture.reader(within: .milliseconds(300))
        try await fixture.clock.waitForSleepers(count: 2)
        await fixture.clock.advance(by: .milliseconds(269))
        gate.open()
        #expect(try await reader.value == 2)
        #expect(fixture.clock.sleeperCount == 0)
    }

    @Test func theLoadGoesOnForAReaderWithoutADeadline() async throws {
        let gate = Gate()
        let fixture = try await fixture(.wait(gate))
        let readers = [fixture.reader(within: .milliseconds(300)), fixture.reader()]
        try await fixture.waitForCallers(2)
        try await fixture.clock.waitForSleepers(count: 2)
        await fixture.clock.advance(by: .milliseconds(270))
        #expect(try await readers[0].value == 1)
        gate.open()
        #expect(try await readers[1].value == 2)
        #expect(fixture.loadCount == 2)
    }

    @Test func aReaderWithoutAnOldValueWaitsUntilItsDeadline() async throws {
        let fixture = CacheFixture(policy)
        let gate = Gate()
        fixture.plan(1, .wait(gate))
        let reader = fixture.reader(within: .milliseconds(300))
        try await gate.waitForWaiters()
        #expect(fixture.clock.sleeperCount == 1)
        await fixture.clock.advance(by: .milliseconds(300))
        await #expect(throws: DeadlineExceededError.self) { try await reader.value }
        try await fixture.waitForFlights()
        #expect(fixture.cache.valueCount == 0, "the load of the last reader was cancelled")
    }

    /// The old value is gone when the wait would end, so the reader waits until its deadline.
    @Test(arguments: [true, false])
    func anOldValueThatIsNoLongerAllowedIsNotReturned(isInvalidated: Bool) async throws {
        let gate = Gate()
        let fixture = try await fixture(.wait(gate))
        // The old value expires at 60.1 s.
        if !isInvalidated { await fixture.clock.advance(by: .milliseconds(59_800)) }
        let reader = fixture.reader(within: .milliseconds(400))
        try await fixture.clock.waitForSleepers(count: 2)
        try await fixture.waitForCallers(1)
        if isInvalidated { fixture.cache.invalidate("a") }
        await fixture.clock.advance(by: .milliseconds(399))
        #expect(fixture.cache._storage.flights.callerCount == 1, "it waits for the load")
        await fixture.clock.advance(by: .milliseconds(1))
        await #expect(throws: DeadlineExceededError.self) { try await reader.value }
        try await fixture.waitForFlights()
        fixture.expectNoCallers()
    }

    @Test func aCancelledReaderWithADeadlineCancelsTheLoadThatItWaitsForAlone() async throws {
        let gate = Gate()
        let fixture = try await fixture(.wait(gate))
        let reader = fixture.reader(within: .milliseconds(300))
        try await fixture.clock.waitForSleepers(count: 2)
        try await gate.waitForWaiters()
        reader.cancel()
        await #expect(throws: CancellationError.self) { try await reader.value }
        try await fixture.waitForFlights()
        #expect(fixture.clock.sleeperCount == 0 && fixture.cache._storage.loadCount == 0)
    }

    @Test func theFirstValueOfASequenceIsTheOldOneShortlyBeforeTheDeadline() async throws {
        let gate = Gate()
        let fixture = try await fixture(.wait(gate))
        let reader = Task {
            try await withDeadline(in: .milliseconds(300), clock: fixture.clock) {
                var iterator = fixture.cache.values(for: "a").makeAsyncIterator()
                return try await iterator.next()
            }
        }
        try await fixture.clock.waitForSleepers(count: 2)
        await fixture.clock.advance(by: .milliseconds(270))
        #expect(try await reader.value == 1)
        gate.open()
        try await fixture.waitForFlights()
    }

    /// Inside a flight whose deadline becomes later, the wait ends before the later deadline.
    @Test func aDeadlineThatBecomesLaterIsWaitedFor() async throws {
        let gate = Gate()
        let fixture = try await fixture(.wait(gate))
        let outer = SingleFlight<Int, Int>()
        let callers = [300, 3_000].map { time in
            Task {
                try await withDeadline(in: .milliseconds(time), clock: fixture.clock) {
                    try await outer.value(for: 0) { try await fixture.cache.value(for: "a") }
                }
            }
        }
        // Two deadlines, and the end of the wait of the reader.
        try await fixture.clock.waitForSleepers(count: 3)
        await fixture.clock.advance(by: .milliseconds(300))
        await #expect(throws: DeadlineExceededError.self) { try await callers[0].value }
        #expect(fixture.cache._storage.flights.callerCount == 1, "it waits for the load")
        try await fixture.clock.waitForSleepers(count: 2)
        gate.open()
        #expect(try await callers[1].value == 2)
    }

    @Test func aPatientReaderWithADeadlineReceivesTheStaleValueBeforeIt() async throws {
        var policy = CachePolicy(timeToLive: .seconds(10), staleWhileRevalidate: .seconds(20))
        policy.patience = .seconds(5)
        let fixture = CacheFixture(policy)
        let gate = Gate()
        fixture.plan(2, .wait(gate))
        #expect(try await fixture.cache.value(for: "a") == 1)
        await fixture.clock.advance(by: .seconds(10))
        let reader = fixture.reader(within: .seconds(1))
        // The patience, the deadline, and the end of the wait.
        try await fixture.clock.waitForSleepers(count: 3)
        await fixture.clock.advance(by: .milliseconds(950))
        #expect(try await reader.value == 1)
        gate.open()
        try await fixture.waitForFlights()
    }
}
