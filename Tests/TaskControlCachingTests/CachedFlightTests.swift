import TaskControl
import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControlCaching

/// The eight rules of a cache, each of which a known cache breaks.
@Suite(.timeLimit(.minutes(15)))
struct CachedFlightTests {
    private let swr = CachePolicy(timeToLive: .seconds(10), staleWhileRevalidate: .seconds(20))

    // MARK: 1. One load

    @Test func aValueIsLoadedOnceAndReturnedUntilItIsTooOld() async throws {
        let fixture = CacheFixture()
        #expect(try await fixture.cache.value(for: "a") == 1)
        await fixture.clock.advance(by: .seconds(9))
        #expect(try await fixture.cache.value(for: "a") == 1)
        #expect(try await fixture.cache.value(for: "b") == 2, "keys are apart")
        await fixture.clock.advance(by: .seconds(1))
        #expect(try await fixture.cache.value(for: "a") == 3)
        #expect(fixture.loads.events == ["a", "b", "a"] && fixture.cache.valueCount == 2)
    }

    @Test(.tags(.large)) func thousandsOfReadersAtTheMomentOfExpiryCauseOneLoad() async throws {
        let fixture = CacheFixture()
        #expect(try await fixture.cache.value(for: "a") == 1)
        await fixture.clock.advance(by: .seconds(10))
        let readers = (0..<fullSize(10_000, inDebug: 2_000)).map { _ in fixture.reader() }
        for reader in readers { #expect(try await reader.value == 2) }
        #expect(fixture.loadCount == 2)
    }

    @Test(.tags(.large)) func thousandsOfReadersOfAStaleValueCauseOneRefresh() async throws {
        let fixture = CacheFixture(swr)
        #expect(try await fixture.cache.value(for: "a") == 1)
        await fixture.clock.advance(by: .seconds(10))
        let readers = (0..<fullSize(10_000, inDebug: 2_000)).map { _ in fixture.reader() }
        for reader in readers { #expect([1, 2].contains(try await reader.value)) }
        try await fixture.waitForFlights()
        #expect(fixture.loadCount == 2)
        #expect(try await fixture.cache.value(for: "a") == 2)
    }

    @Test func aNewerResultWaitsForTheEndOfTheLoadThatRuns() async throws {
        let fixture = CacheFixture()
        let gate = Gate()
        fixture.plan(1, .wait(gate))
        let old = fixture.reader()
        try await gate.waitForWaiters()
        let fresh = (0..<3).map { _ in Task { try await fixture.cache.fresh(for: "a") } }
        try await fixture.waitForCallers(4)
        #expect(fixture.loadCount == 1, "it waits")
        gate.open()
        #expect(try await old.value == 1, "the load that runs is not superseded")
        for fresh in fresh { #expect(try await fresh.value == 2, "the next load is shared") }
        #expect(fixture.mostAtOnce == 1)
        #expect(try await fixture.cache.value(for: "a") == 2)
    }

    @Test func aLoadThatIsCancelledAndGoesOnIsWaitedFor() async throws {
        let fixture = CacheFixture()
        let gate = Gate()
        fixture.plan(1, .hang(gate))
        let first = fixture.reader()
        try await gate.waitForWaiters()
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        let second = fixture.reader()
        try await fixture.waitForCallers(1)
        #expect(fixture.loadCount == 1)
        gate.open()
        #expect(try await second.value == 1, "the value of the cancelled load is used")
        #expect(fixture.mostAtOnce == 1 && fixture.loadCount == 1)
    }

    // MARK: 2. A write or an invalidation wins

    @Test func aWriteDuringALoadWins() async throws {
        let fixture = CacheFixture()
        let gate = Gate()
        fixture.plan(1, .wait(gate))
        let reader = fixture.reader()
        try await gate.waitForWaiters()
        fixture.cache.update(42, for: "a")
        #expect(try await fixture.cache.value(for: "a") == 42)
        gate.open()
        #expect(try await reader.value == 1, "a caller that waited for the load receives its result")
        try await fixture.waitForFlights()
        #expect(try await fixture.cache.value(for: "a") == 42)
    }

    @Test func anInvalidationDuringALoadWins() async throws {
        let fixture = CacheFixture()
        let gate = Gate()
        fixture.plan(1, .wait(gate))
        let before = fixture.reader()
        try await gate.waitForWaiters()
        fixture.cache.invalidate("a")
        let after = fixture.reader()
        try await fixture.waitForCallers(2)
        #expect(fixture.loadCount == 1, "the next load waits for the end of this one")
        gate.open()
        #expect(try await before.value == 1)
        #expect(try await after.value == 2)
        #expect(try await fixture.cache.value(for: "a") == 2 && fixture.mostAtOnce == 1)
    }

    /// After a failed load, a value that may be returned without a load is better than the error.
    @Test func theCallersOfASupersededLoadThatFailsReceiveTheNewerValueIfThereIsOne() async throws {
        for isWrite in [true, false] {
            let gate = Gate()
            let cache = CachedFlight<String, Int>(capacity: 1, policy: CachePolicy(timeToLive: .seconds(10))) { _ in
                await gate.waitIgnoringCancellation()
                throw MarkedError()
            }
            let reader = Task { try await cache.value(for: "a") }
            try await gate.waitForWaiters()
            if isWrite { cache.update(2, for: "a") } else { cache.invalidate("a") }
            gate.open()
            if isWrite {
                #expect(try await reader.value == 2)
            } else {
                await #expect(throws: MarkedError.self) { try await reader.value }
            }
        }
    }

    @Test(arguments: [true, false]) func aRefreshThatIsSupersededIsCancelled(isWrite: Bool) async throws {
        let fixture = CacheFixture(swr)
        let gate = Gate()
        fixture.plan(2, .wait(gate))
        #expect(try await fixture.cache.value(for: "a") == 1)
        await fixture.clock.advance(by: .seconds(10))
        #expect(try await fixture.cache.value(for: "a") == 1)
        try await gate.waitForWaiters()
        if isWrite { fixture.cache.update(42, for: "a") } else { fixture.cache.removeAll() }
        try await fixture.waitForFlights()
        #expect(fixture.cache.peek("a") == (isWrite ? 42 : nil))
        #expect(try await fixture.cache.value(for: "a") == (isWrite ? 42 : 3))
    }

    // MARK: 3. A refresh belongs to the cache

    @Test func theReaderThatTriggersARefreshCanBeCancelled() async throws {
        var policy = swr
        policy.patience = .seconds(5)
        let fixture = CacheFixture(policy)
        let gate = Gate()
        fixture.plan(2, .wait(gate))
        #expect(try await fixture.cache.value(for: "a") == 1)
        await fixture.clock.advance(by: .seconds(10))
        let reader = fixture.reader()
        try await gate.waitForWaiters()
        try await fixture.waitForCallers(1)
        reader.cancel()
        await #expect(throws: CancellationError.self) { try await reader.value }
        #expect(fixture.cache._storage.flights.count == 1, "the refresh goes on")
        gate.open()
        try await fixture.waitForFlights()
        #expect(fixture.cache.peek("a") == 2)
    }

    @Test func theEndOfTheCacheCancelsARefresh() async throws {
        let (clock, inside) = (TestClock(), Gate())
        let causes = OrderRecorder<CancellationCause?>()
        var cache: CachedFlight<Int, Int>? = CachedFlight(name: "c", capacity: 1, policy: swr, clock: clock) { _ in
            if clock.now == .zero { return 1 }
            do {
                try await inside.wait()
                return 2
            } catch {
                causes.record(Task.cancellationCause)
                throw error
            }
        }
        _ = try await cache?.value(for: 1)
        await clock.advance(by: .seconds(10))
        #expect(try await cache?.value(for: 1) == 1)
        try await inside.waitForWaiters()
        cache = nil
        try await causes.waitForEvents(count: 1)
        #expect(causes.events == [.ownerDeallocated(name: "c")])
    }

    @Test func theLastCallerOfALoadTakesItAlong() async throws {
        let fixture = CacheFixture()
        let gate = Gate()
        fixture.plan(1, .wait(gate))
        let readers = [fixture.reader(), fixture.reader()]
        try await fixture.waitForCallers(2)
        readers[0].cancel()
        await #expect(throws: CancellationError.self) { try await readers[0].value }
        #expect(fixture.cache._storage.flights.count == 1)
        readers[1].cancel()
        await #expect(throws: CancellationError.self) { try await readers[1].value }
        try await fixture.waitForFlights()
        #expect(fixture.cache._storage.loadCount == 0)
        #expect(try await fixture.cache.value(for: "a") == 2, "a cancelled load is no failure")
    }

    // MARK: 4. A failed refresh is tried again

    @Test func aFailedRefreshIsTriedAgainAfterABackoff() async throws {
        let fixture = CacheFixture(swr)
        fixture.plan(2, .fail(MarkedError()))
        fixture.plan(3, .fail(MarkedError()))
        #expect(try await fixture.cache.value(for: "a") == 1)
        await fixture.clock.advance(by: .seconds(10))
        // At 10, 15 (after 5 s) and 25 (after 10 s).
        for (second, count) in [(10, 2), (14, 2), (15, 3), (24, 3), (25, 4)] {
            await fixture.clock.advance(to: .init(offset: .seconds(second)))
            #expect(try await fixture.cache.value(for: "a") == 1)
            try await fixture.waitForFlights()
            #expect(fixture.loadCount == count, "at \(second) s")
        }
        #expect(try await fixture.cache.value(for: "a") == 4)
    }

    // MARK: 5. The age counts from the start of the load

    @Test func aSlowLoadDoesNotMakeAValueYounger() async throws {
        let fixture = CacheFixture()
        let gate = Gate()
        fixture.plan(1, .wait(gate))
        let reader = fixture.reader()
        try await gate.waitForWaiters()
        await fixture.clock.advance(by: .seconds(8))
        gate.open()
        #expect(try await reader.value == 1)
        await fixture.clock.advance(by: .seconds(1))
        #expect(try await fixture.cache.value(for: "a") == 1)
        await fixture.clock.advance(by: .seconds(1))
        #expect(try await fixture.cache.value(for: "a") == 2)
    }

    @Test func aLoadThatTakesLongerThanTheTimeToLiveIsReturnedAndNotFresh() async throws {
        let fixture = CacheFixture()
        let gate = Gate()
        fixture.plan(1, .wait(gate))
        let reader = fixture.reader()
        try await gate.waitForWaiters()
        await fixture.clock.advance(by: .seconds(10))
        gate.open()
        #expect(try await reader.value == 1)
        #expect(try await fixture.cache.value(for: "a") == 2)
    }

    // MARK: 6. Hard expiry

    @Test func anExpiredValueIsNotReturnedWhileItsRefreshHangs() async throws {
        let fixture = CacheFixture(swr)
        let gate = Gate()
        fixture.plan(2, .hang(gate))
        #expect(try await fixture.cache.value(for: "a") == 1)
        await fixture.clock.advance(by: .seconds(29))
        #expect(try await fixture.cache.value(for: "a") == 1)
        try await gate.waitForWaiters()
        await fixture.clock.advance(by: .seconds(1))
        #expect(fixture.cache.peek("a") == nil)
        let reader = fixture.reader()
        try await fixture.waitForCallers(1)
        #expect(fixture.cache.valueCount == 0 && fixture.loadCount == 2)
        gate.open()
        #expect(try await reader.value == 2)
    }

    // MARK: 7. Errors are cached on request

    @Test func errorsAreNotCached() async throws {
        let fixture = CacheFixture()
        let error = MarkedError()
        fixture.plan(1, .fail(error))
        await #expect(throws: error) { try await fixture.cache.value(for: "a") }
        #expect(fixture.cache.valueCount == 0)
        #expect(try await fixture.cache.value(for: "a") == 2)
    }

    @Test func errorsAreCachedForTheirOwnTime() async throws {
        let fixture = CacheFixture(CachePolicy(timeToLive: .seconds(10), errorTimeToLive: .seconds(3)))
        let error = MarkedError()
        fixture.plan(1, .fail(error))
        for second in [0, 2] {
            await fixture.clock.advance(to: .init(offset: .seconds(second)))
            await #expect(throws: error) { try await fixture.cache.value(for: "a") }
        }
        #expect(fixture.loadCount == 1 && fixture.cache.peek("a") == nil)
        await fixture.clock.advance(by: .seconds(1))
        #expect(try await fixture.cache.value(for: "a") == 2)
    }

    @Test(arguments: [CancellationError(), OwnerClosed()] as [any Error])
    func anInterruptionIsNotCachedAndGoesUnchangedToTheCallersOfTheLoad(_ error: any Error) async throws {
        let lifetimes = OrderRecorder<Bool>()
        let fixture = CacheFixture(CachePolicy(timeToLive: .seconds(10), errorTimeToLive: .seconds(50))) { result in
            if case .failure = result { lifetimes.record(true) }
            return nil
        }
        fixture.plan(1, .fail(error))
        let received = await #expect(throws: (any Error).self) { try await fixture.cache.value(for: "a") }
        #expect(received.map { type(of: $0) == type(of: error) } == true)
        #expect(fixture.cache.valueCount == 0 && lifetimes.events.isEmpty)
        #expect(try await fixture.cache.value(for: "a") == 2)
    }

    @Test func aRefreshThatIsInterruptedIsTriedAgainAtTheNextRead() async throws {
        let fixture = CacheFixture(
            CachePolicy(
                timeToLive: .seconds(10),
                staleWhileRevalidate: .seconds(60),
                patience: .zero,
                refreshRetryDelay: .seconds(30)
            )
        )
        fixture.plan(2, .fail(CancellationError()))
        #expect(try await fixture.cache.value(for: "a") == 1)
        await fixture.clock.advance(by: .seconds(10))
        #expect(try await fixture.cache.value(for: "a") == 1)
        try await fixture.waitForFlights()
        #expect(try await fixture.cache.value(for: "a") == 1)
        try await fixture.waitForFlights()
        #expect(try await fixture.cache.value(for: "a") == 3)
    }

    /// An error of the package that is an interruption.
    struct OwnerClosed: Interruption {}

    @Test func anErrorDoesNotReplaceAValueToFallBackTo() async throws {
        let fixture = CacheFixture(
            CachePolicy(timeToLive: .seconds(10), staleIfError: .seconds(60), errorTimeToLive: .seconds(100))
        )
        fixture.plan(2, .fail(MarkedError()))
        #expect(try await fixture.cache.value(for: "a") == 1)
        await fixture.clock.advance(by: .seconds(10))
        #expect(try await fixture.cache.value(for: "a") == 1, "the load has failed")
        #expect(fixture.loadCount == 2)
        #expect(try await fixture.cache.value(for: "a") == 1)
        #expect(fixture.loadCount == 2, "not a moment after a failure")
        await fixture.clock.advance(by: .seconds(5))
        #expect(try await fixture.cache.value(for: "a") == 3)
    }

    @Test func aValueTooOldToFallBackToIsNotReturned() async throws {
        let fixture = CacheFixture(CachePolicy(timeToLive: .seconds(10), staleIfError: .seconds(5)))
        let error = MarkedError()
        fixture.plan(2, .fail(error))
        #expect(try await fixture.cache.value(for: "a") == 1)
        await fixture.clock.advance(by: .seconds(15))
        await #expect(throws: error) { try await fixture.cache.value(for: "a") }
        #expect(fixture.cache.valueCount == 0)
    }

    // MARK: 8. Memory

    @Test func aValueThatWasNotUsedIsEvictedFirst() async throws {
        let fixture = CacheFixture(capacity: 2)
        #expect(try await fixture.cache.value(for: "a") == 1)
        #expect(try await fixture.cache.value(for: "b") == 2)
        #expect(try await fixture.cache.value(for: "a") == 1)
        #expect(fixture.cache.peek("b") == 2, "a look is not a use")
        #expect(try await fixture.cache.value(for: "c") == 3)
        #expect(fixture.cache.peek("b") == nil && fixture.cache.peek("a") == 1 && fixture.cache.valueCount == 2)
    }

    @Test func theOldestValueIsEvictedIfAllWereUsedAndNeverTheNewOne() async throws {
        let fixture = CacheFixture(capacity: 2)
        for key in ["a", "b", "a", "b"] { _ = try await fixture.cache.value(for: key) }
        #expect(try await fixture.cache.value(for: "c") == 3)
        #expect(fixture.cache.peek("a") == nil && fixture.cache.peek("b") == 2 && fixture.cache.peek("c") == 3)
        #expect(try await fixture.cache.value(for: "d") == 4)
        #expect(fixture.cache.peek("b") == nil && fixture.cache.peek("c") == 3 && fixture.cache.peek("d") == 4)
    }

    @Test func withoutCapacityNothingIsKept() async throws {
        let fixture = CacheFixture(capacity: -1)
        #expect(try await fixture.cache.value(for: "a") == 1)
        #expect(try await fixture.cache.value(for: "a") == 2)
        fixture.cache.update(5, for: "a")
        #expect(fixture.cache.valueCount == 0 && fixture.cache._storage.memory < 1_000)
    }

    @Test func valuesOfAnAgeAreRemoved() async throws {
        let fixture = CacheFixture()
        #expect(try await fixture.cache.value(for: "a") == 1)
        await fixture.clock.advance(by: .seconds(3))
        #expect(try await fixture.cache.value(for: "b") == 2)
        fixture.cache.removeAll(olderThan: .seconds(3))
        #expect(fixture.cache.valueCount == 2)
        fixture.cache.removeAll(olderThan: .seconds(2))
        #expect(fixture.cache.peek("a") == nil && fixture.cache.peek("b") == 2)
    }

    /// A value whose `deinit` calls the cache, which it could not if a lock were held.
    @Test func valuesAndKeysAreReleasedOutsideTheLock() async throws {
        final class Caller: Sendable {
            let action: @Sendable () -> Void
            init(_ action: @escaping @Sendable () -> Void) { self.action = action }
            deinit { action() }
        }
        let (clock, released) = (TestClock(), OrderRecorder<Int>())
        let holder = Locked<CachedFlight<Int, Caller>?>(nil)
        let make: @Sendable () -> Caller = {
            Caller {
                released.record(holder.withLock { $0 }?.count ?? 0)
            }
        }
        let cache = CachedFlight<Int, Caller>(
            capacity: 1,
            policy: CachePolicy(timeToLive: .seconds(10)),
            clock: clock
        ) { _ in make() }
        holder.withLock { $0 = cache }
        for key in 0..<2 { _ = try await cache.value(for: key) }
        await clock.advance(by: .seconds(10))
        _ = try await cache.value(for: 1)
        cache.update(make(), for: 1)
        cache.invalidate(1)
        _ = try await cache.value(for: 2)
        cache.removeAll()
        _ = try await cache.value(for: 2)
        cache.removeAll(olderThan: .seconds(-1))
        try await released.waitForEvents(count: 6)
        #expect(cache.valueCount == 0)
        holder.withLock { $0 = nil }
    }
}
