import TaskControlTesting
import TestSupport
import Testing

@_spi(Observers) @testable import TaskControl
@testable import TaskControlCaching

extension Gate {
    fileprivate static var opened: Gate {
        let gate = Gate()
        gate.open()
        return gate
    }
}

/// The durations of a policy, and the other functions of a cache.
@Suite(.timeLimit(.minutes(15)))
struct CachedFlightPolicyTests {
    private let swr = CachePolicy(timeToLive: .seconds(10), staleWhileRevalidate: .seconds(20))

    // MARK: Early refresh

    /// The share of the values that are refreshed early by a reader at one moment is exp(-x/d), as in the paper.
    @Test func valuesAreRefreshedEarlyWithTheProbabilityOfThePaper() async throws {
        let random = Locked(SeededGenerator(seed: 1))
        var draws: [Double] = []
        for _ in 0..<20_000 { draws.append(exponentialVariate { random.withLock { $0.next() } }) }
        for (bound, share) in [(0.5, 0.6065), (1.0, 0.3679), (2.0, 0.1353), (4.0, 0.0183)] {
            let measured = Double(draws.count { $0 >= bound }) / Double(draws.count)
            #expect(abs(measured - share) < 0.015, "\(measured) is not \(share)")
        }
        #expect(exponentialVariate { 0 } >= 0 && exponentialVariate { .max } >= 0, "a constant generator ends")
    }

    @Test func anEarlyRefreshBeginsBeforeTheValueIsStale() async throws {
        var policy = CachePolicy(timeToLive: .seconds(10), patience: .seconds(5), earlyRefresh: 1)
        // The draw is 0.75: the first number, after one that is larger.
        let numbers = Locked<[UInt64]>([3 << 62, .max])
        let fixture = CacheFixture(policy, random: { numbers.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] } })
        let gate = Gate()
        fixture.plan(1, .wait(gate))
        let first = fixture.reader()
        try await gate.waitForWaiters()
        await fixture.clock.advance(by: .seconds(4))
        gate.open()
        #expect(try await first.value == 1)
        // Three seconds before the end: 4 s × 0.75.
        await fixture.clock.advance(by: .milliseconds(2_900))
        #expect(try await fixture.cache.value(for: "a") == 1)
        #expect(fixture.loadCount == 1)
        await fixture.clock.advance(by: .milliseconds(200))
        #expect(try await fixture.cache.value(for: "a") == 1, "a reader of a fresh value never waits")
        try await fixture.waitForFlights()
        #expect(fixture.loadCount == 2 && fixture.cache.peek("a") == 2)
        policy.earlyRefresh = .nan
        let other = CacheFixture(policy)
        #expect(try await other.cache.value(for: "a") == 1)
    }

    // MARK: Values that decide for themselves

    @Test func eachResultHasItsOwnLifetime() async throws {
        let fixture = CacheFixture(freshnessLifetime: { result in
            switch result {
            case .success(1): .seconds(3)
            case .success(2): .seconds(-1)
            case .success: nil
            case .failure: .seconds(1)
            }
        })
        fixture.plan(4, .fail(MarkedError()))
        #expect(try await fixture.cache.value(for: "a") == 1)
        await fixture.clock.advance(by: .seconds(3))
        #expect(try await fixture.cache.value(for: "a") == 2)
        #expect(try await fixture.cache.value(for: "a") == 3, "less than zero is zero")
        await fixture.clock.advance(by: .seconds(9))
        #expect(try await fixture.cache.value(for: "a") == 3)
        await fixture.clock.advance(by: .seconds(1))
        for _ in 0..<2 { await #expect(throws: MarkedError.self) { try await fixture.cache.value(for: "a") } }
        #expect(fixture.loadCount == 4)
    }

    @Test func absurdDurationsDoNotTrap() async throws {
        let most = Duration.seconds(Int64.max)
        let policy = CachePolicy(
            timeToLive: most,
            staleWhileRevalidate: most,
            staleIfError: most,
            patience: most,
            errorTimeToLive: most,
            earlyRefresh: .infinity,
            refreshRetryDelay: most
        )
        let fixture = CacheFixture(policy)
        #expect(try await fixture.cache.value(for: "a") == 1)
        #expect(try await fixture.cache.value(for: "a") == 1)
        // A load that takes time, and a draw of zero.
        let slow = CacheFixture(policy, random: { 0 })
        let gate = Gate()
        slow.plan(1, .wait(gate))
        let reader = slow.reader()
        try await gate.waitForWaiters()
        await slow.clock.advance(by: .seconds(1))
        gate.open()
        #expect(try await reader.value == 1)
        let none = Duration.seconds(Int64.min)
        let other = CacheFixture(CachePolicy(timeToLive: none, staleIfError: none, refreshRetryDelay: none))
        #expect(try await other.cache.value(for: "a") == 1)
        other.cache.update(5, for: "a")
        other.cache.removeAll(olderThan: most)
        #expect(other.cache.valueCount == 0)
    }

    // MARK: Failures

    /// A clock that a caller reads between the end of its load and the decision about an old value.
    private struct HookedClock: Clock {
        let base = TestClock()
        let hook: @Sendable () -> Void

        var now: TestClock.Instant {
            hook()
            return base.now
        }
        var minimumResolution: Duration { base.minimumResolution }

        func sleep(until deadline: TestClock.Instant, tolerance: Duration?) async throws {
            try await base.sleep(until: deadline, tolerance: tolerance)
        }
    }

    @Test func aCallerThatIsCancelledWhenItsLoadHasFailedGetsACancellationError() async throws {
        let hasFailed = Locked(false)
        // The flight reads the clock as well.
        let clock = HookedClock {
            guard hasFailed.withLock({ $0 }), _Places.heldByCaller.isEmpty else { return }
            withUnsafeCurrentTask { $0?.cancel() }
        }
        let policy = CachePolicy(timeToLive: .seconds(10))
        let cache = CachedFlight<Int, Int>(capacity: 1, policy: policy, clock: clock) { _ in
            hasFailed.withLock { $0 = true }
            throw MarkedError()
        }
        let reader = Task { try await cache.value(for: 1) }
        await #expect(throws: CancellationError.self) { try await reader.value }
    }

    // MARK: A stale value and then a fresh one

    @Test func aSequenceHasAnOldValueIfTheLoadFailsAndThePolicyAllowsIt() async throws {
        let fixture = CacheFixture(CachePolicy(timeToLive: .seconds(10), staleIfError: .seconds(60)))
        fixture.plan(2, .fail(MarkedError()))
        #expect(try await fixture.cache.value(for: "a") == 1)
        await fixture.clock.advance(by: .seconds(10))
        var values: [Int] = []
        for try await value in fixture.cache.values(for: "a") { values.append(value) }
        #expect(values == [1] && fixture.loadCount == 2)
    }

    /// An iteration that waits for the value after the stale one.
    private func second(_ fixture: CacheFixture) -> Task<Int?, any Error> {
        Task {
            var iterator = fixture.cache.values(for: "a").makeAsyncIterator()
            #expect(try await iterator.next() == 1)
            return try await iterator.next()
        }
    }

    @Test func aLoadContinuesWhenTheIterationThatBeganItAfterAFailedRefreshIsCancelled() async throws {
        let fixture = CacheFixture(swr)
        let gate = Gate()
        fixture.plan(2, .fail(MarkedError()))
        fixture.plan(3, .wait(gate))
        #expect(try await fixture.cache.value(for: "a") == 1)
        await fixture.clock.advance(by: .seconds(10))
        #expect(try await fixture.cache.value(for: "a") == 1)
        try await fixture.waitForFlights()
        // Reads do not refresh yet.
        let iteration = second(fixture)
        try await gate.waitForWaiters()
        try await fixture.waitForCallers(1)
        iteration.cancel()
        await #expect(throws: CancellationError.self) { try await iteration.value }
        gate.open()
        try await fixture.waitForFlights()
        #expect(fixture.cache.peek("a") == 3)
    }

    /// The flight of the superseded load was cancelled before, and a newer flight comes after the same load.
    @Test func anInvalidationReleasesTheFlightOfTheSupersededLoadAndNoOther() async throws {
        let fixture = CacheFixture(swr)
        let gate = Gate()
        fixture.plan(2, .hang(gate))
        #expect(try await fixture.cache.value(for: "a") == 1)
        await fixture.clock.advance(by: .seconds(10))
        let fresh = Task { try await fixture.cache.fresh(for: "a") }
        try await gate.waitForWaiters()
        fresh.cancel()
        await #expect(throws: CancellationError.self) { try await fresh.value }
        let iteration = second(fixture)
        try await fixture.waitForCallers(1)
        fixture.cache.invalidate("a")
        iteration.cancel()
        await #expect(throws: CancellationError.self) { try await iteration.value }
        gate.open()
        try await fixture.waitForFlights()
        #expect(fixture.cache.peek("a") == 3, "the load of the iteration continues")
    }

    @Test func aSequenceHasTheStaleValueAndThenTheFreshOne() async throws {
        let fixture = CacheFixture(swr)
        func values() async throws -> [Int] {
            var values: [Int] = []
            for try await value in fixture.cache.values(for: "a") { values.append(value) }
            return values
        }
        #expect(try await values() == [1], "there is only the fresh one")
        #expect(try await values() == [1])
        await fixture.clock.advance(by: .seconds(10))
        #expect(try await values() == [1, 2])
        // The refresh, and the load of the second step if the refresh has failed before it.
        for load in 3...4 { fixture.plan(load, .fail(MarkedError())) }
        await fixture.clock.advance(by: .seconds(10))
        var iterator = fixture.cache.values(for: "a").makeAsyncIterator()
        #expect(try await iterator.next() == 2)
        await #expect(throws: MarkedError.self) { try await iterator.next() }
        #expect(try await iterator.next() == nil)
        try await fixture.waitForFlights()
        for load in 4...5 { fixture.plan(load, .wait(Gate.opened)) }
        let last = try await values()
        #expect(last.first == 2 && last.count == 2 && last[1] > 3, "although reads do not refresh yet")
    }

    // MARK: Calls from inside

    /// A reader inside a turn begins a refresh, for which it does not wait.
    @Test func aRefreshIsNotInTheTurnOfTheReaderThatBeganIt() async throws {
        let (queue, clock, loads) = (FIFOQueue(), TestClock(), OrderRecorder<Int>())
        let cache = CachedFlight<Int, Int>(capacity: 1, policy: swr, clock: clock) { key in
            try await queue.run {
                loads.record(key)
                return loads.count
            }
        }
        #expect(try await cache.value(for: 1) == 1)
        await clock.advance(by: .seconds(11))
        try await queue.run {
            let value = try await cache.value(for: 1)
            #expect(value == 1, "the stale value")
            try await wait(forBooksOf: queue._turns.source.number) { 2 - queue.count }
        }
        try await loads.waitForEvents(count: 2)
        await #expect(throws: ReentrancyError(queueName: nil), "the reader waits for this load") {
            try await queue.run { try await cache.fresh(for: 1) }
        }
    }

    @Test func aLoadAndATurnThatWaitForEachOtherFail() async throws {
        let (queue, loads, holds) = (FIFOQueue(), Gate(), Gate())
        let cache = CachedFlight<Int, Int>(capacity: 1, policy: swr) { key in
            loads.open()
            try await holds.wait()
            return try await queue.run { key }
        }
        let reader = Task { try await cache.value(for: 1) }
        let holder = Task {
            try await queue.run {
                holds.open()
                try await loads.wait()
                return try await cache.value(for: 1)
            }
        }
        let results = await [reader.result, holder.result]
        let errors = results.compactMap { if case .failure(let error) = $0 { error } else { nil } }
        #expect(!errors.isEmpty)
        #expect(errors.allSatisfy { $0 is ReentrancyError })
    }

    /// Two caches whose loads read each other.
    @Test func loadsOfTwoCachesThatWaitForEachOtherFail() async throws {
        let (first, second) = (Gate(), Gate())
        let caches = Locked<[CachedFlight<Int, Int>]>([])
        func cache(_ own: Gate, _ other: Gate, _ index: Int) -> CachedFlight<Int, Int> {
            CachedFlight(capacity: 1, policy: CachePolicy(timeToLive: .seconds(10))) { key in
                if key == 2 { return 2 }
                own.open()
                try await other.wait()
                return try await caches.withLock { $0[index] }.value(for: 1)
            }
        }
        let both = [cache(first, second, 1), cache(second, first, 0)]
        caches.withLock { $0 = both }
        let readers = both.map { cache in Task { try await cache.value(for: 1) } }
        for reader in readers { await #expect(throws: ReentrancyError(key: "1")) { try await reader.value } }
        #expect(try await both[0].value(for: 2) == 2)
        caches.withLock { $0 = [] }
    }

    @Test func aLoadThatAsksForItsOwnKeyFails() async throws {
        let holder = Locked<CachedFlight<Int, Int>?>(nil)
        let cache = CachedFlight<Int, Int>(capacity: 1, policy: CachePolicy(timeToLive: .seconds(10))) { key in
            let cache = holder.withLock { $0 }!
            // The second case asks for what comes after the load itself.
            if key == 2 { cache.invalidate(key) }
            return try await cache.value(for: key)
        }
        holder.withLock { $0 = cache }
        for key in [1, 2] {
            await #expect(throws: ReentrancyError(key: "\(key)")) { try await cache.value(for: key) }
        }
        #expect(cache._storage.loadCount == 0)
        holder.withLock { $0 = nil }
    }

    /// A refresh has no caller, and a load can become the load of a refresh.
    @Test func neitherALoadNorARefreshHasADeadline() async throws {
        let (clock, deadlines) = (TestClock(), OrderRecorder<Bool>())
        let cache = CachedFlight<Int, Int>(capacity: 1, policy: swr, clock: clock) { _ in
            deadlines.record(Task.currentDeadline != nil)
            return 1
        }
        for _ in 0..<2 {
            // A deadline that does not pass, however busy the machine is.
            #expect(try await withDeadline(in: .seconds(1_000_000)) { try await cache.value(for: 1) } == 1)
            await clock.advance(by: .seconds(10))
        }
        try await deadlines.waitForEvents(count: 2)
        #expect(deadlines.events == [false, false])
    }

    @Test func aLoadKnowsWhyItWasCancelled() async throws {
        let (inside, causes) = (Gate(), OrderRecorder<CancellationCause?>())
        let clock = TestClock()
        let cache = CachedFlight<Int, Int>(capacity: 1, policy: swr, clock: clock) { key in
            if key == 1, clock.now == .zero { return 1 }
            do {
                try await inside.wait()
            } catch {
                causes.record(Task.cancellationCause)
                throw error
            }
            return 2
        }
        let reader = Task { try await cache.value(for: 0) }
        try await inside.waitForWaiters()
        reader.cancel()
        try await causes.waitForEvents(count: 1)
        #expect(try await cache.value(for: 1) == 1)
        await clock.advance(by: .seconds(10))
        // Triggers the refresh.
        #expect(try await cache.value(for: 1) == 1)
        try await inside.waitForWaiters()
        cache.invalidate(1)
        try await causes.waitForEvents(count: 2)
        #expect(causes.events == [.lastCallerLeft, .superseded(key: "1")])
    }

    @Test func aCallerThatWasCancelledBeforeGetsAValueThatIsThereAndLoadsNothing() async throws {
        let fixture = CacheFixture()
        #expect(try await fixture.cache.value(for: "a") == 1)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            let value = try await fixture.cache.value(for: "a")
            await #expect(throws: CancellationError.self) { try await fixture.cache.value(for: "b") }
            return value
        }
        #expect(try await task.value == 1 && fixture.loadCount == 1)
    }

    @Test func aCallerThatWasCancelledBeforeDoesNotWaitForARefresh() async throws {
        var policy = swr
        policy.patience = .seconds(5)
        let fixture = CacheFixture(policy)
        let gate = Gate()
        fixture.plan(2, .wait(gate))
        #expect(try await fixture.cache.value(for: "a") == 1)
        await fixture.clock.advance(by: .seconds(10))
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await fixture.cache.value(for: "a")
        }
        #expect(try await task.value == 1)
        gate.open()
        try await fixture.waitForFlights()
        #expect(fixture.cache.peek("a") == 2, "and the refresh is not cancelled")
    }

    // MARK: Events

    @Test func loadsExpiriesAndEvictionsAreEventsAndHitsAreNot() async throws {
        let events = try await EventLog.events {
            let fixture = CacheFixture(capacity: 1)
            for _ in 0..<3 { _ = try await fixture.cache.value(for: "a") }
            await fixture.clock.advance(by: .seconds(10))
            _ = try await fixture.cache.value(for: "a")
            _ = try await fixture.cache.value(for: "b")
            fixture.cache.update(5, for: "b")
            fixture.cache.invalidate("b")
            fixture.cache.removeAll()
        }
        let own = events.filter { $0.primitive == .cachedFlight }
        #expect(!own.contains { $0.kind == .left })
        #expect(events.unpaired.isEmpty)
        let noted = own.filter { $0.subject == nil }.map { "\($0.kind) \($0.key ?? "")" }
        #expect(
            noted.filter { !$0.hasPrefix("deallocated") } == [
                "created ", "expired a", "evicted a", "written b", "invalidated b", "removedAll ",
            ]
        )
        #expect(own.filter { $0.kind == .completed }.map(\.key) == ["a", "a", "b"])
        #expect(own.allSatisfy { $0.ownerName == "articles" })
    }

    /// Otherwise a snapshot would show that the reader waits for the refresh, and perhaps a circle that there is not.
    @Test func theReaderThatTriggersARefreshIsNoCallerOfIt() async throws {
        let events = try await EventLog.events {
            let fixture = CacheFixture(swr)
            _ = try await fixture.cache.value(for: "a")
            await fixture.clock.advance(by: .seconds(10))
            _ = try await fixture.cache.value(for: "a")
            try await fixture.waitForFlights()
        }
        let loads = events.filter { $0.primitive == .cachedFlight }.bySubject
        #expect(loads.map { $0.count { $0.kind == .left } } == [0, 1])
        #expect(loads[1].first?.kind == .started && loads[1].last { $0.kind == .left }?.task == loads[1][0].task)
    }

    /// Otherwise a caller that comes after a later invalidation could join the flight, and receive what was invalidated.
    @Test func aFlightWhoseResultIsVisibleAcceptsNoMoreCallers() async throws {
        let fixture = CacheFixture(capacity: 1)
        let (storage, looks) = (fixture.cache._storage, OrderRecorder<Bool>())
        _ = try await fixture.cache.value(for: "a")
        // The eviction of the other value is reported between the end of the load and the end of its flight.
        _ = try await EventLog.events { event in
            guard event.kind == .evicted, event.owner == storage.source.identity else { return }
            let flight = _ErasedKey(LoadKey(storage.pin(_ErasedKey("b")), after: 0))
            looks.record((try? storage.flights.joinIfPresent(flight, of: _CachedResult.self)) == nil)
            looks.record(storage.flights.liveCount == 1)
        } of: {
            _ = try await fixture.cache.value(for: "b")
        }
        #expect(looks.events == [true, true])
    }
}
