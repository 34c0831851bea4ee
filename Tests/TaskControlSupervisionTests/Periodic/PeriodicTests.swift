import TaskControl
import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControlSupervision

@Suite(.timeLimit(.minutes(15)))
struct PeriodicTests {
    private final class Owner: Sendable {
        let log = OrderRecorder<String>()
    }

    private let clock = TestClock()
    private let lifetime = AsyncLifetime(name: "model")
    private let owner = Owner()

    @Test func workIsDoneAfterEachInterval() async throws {
        lifetime.every(.seconds(30), clock: clock) { [clock, owner] in owner.log.record("\(clock.now)") }
        await clock.advance(by: .seconds(95), waking: 3)
        try await owner.log.waitForEvents(count: 3)
        #expect(owner.log.events == ["30.0 seconds", "60.0 seconds", "90.0 seconds"])
        await lifetime.shutdown(grace: .zero)
    }

    @MainActor private final class Screen {
        var log: [String] = []
        private let gone: Gate

        init(gone: Gate = Gate()) { self.gone = gone }

        deinit { gone.open() }
    }

    @MainActor @Test func anOwnerWorksAtEachTickInItsIsolationAndReceivesItsErrors() async throws {
        let (model, clock) = (Screen(), clock)
        let ticked = OrderRecorder<Int>()
        lifetime.every(.seconds(10), backoff: RetryBackoff.none, for: model, clock: clock) { model in
            model.log.append("\(clock.now)")
            ticked.record(model.log.count)
            if model.log.count == 2 { throw MarkedError("tick") }
        } onError: { model, error in
            model.log.append("\(error)")
        }
        for count in 1...3 {
            await clock.advance(by: .seconds(10), waking: 1)
            try await ticked.waitForEvents(count: count)
        }
        await lifetime.shutdown(grace: .zero)
        #expect(model.log == ["10.0 seconds", "20.0 seconds", "\(MarkedError("tick"))", "30.0 seconds"])
    }

    @MainActor @Test func anOwnerThatWorksAtTicksIsNotRetainedBetweenThem() async throws {
        let (gone, ticked) = (Gate(), OrderRecorder<Int>())
        var model: Screen? = Screen(gone: gone)
        let task = lifetime.every(.seconds(10), for: model!, clock: clock) { _ in ticked.record(1) }
        await clock.advance(by: .seconds(10), waking: 1)
        try await ticked.waitForEvents(count: 1)
        try await clock.waitForSleepers(count: 1)
        model = nil
        try await gone.wait()
        await clock.advance(by: .seconds(10), waking: 1)
        await task.value
        #expect(ticked.events == [1])
    }

    @Test func theFirstTickMayBeAtOnce() async throws {
        lifetime.every(.seconds(30), initialDelay: .zero, clock: clock) { [clock, owner] in
            owner.log.record("\(clock.now)")
        }
        try await owner.log.waitForEvents(count: 1)
        #expect(owner.log.events == ["0.0 seconds"])
        await lifetime.shutdown(grace: .zero)
    }

    @Test func workNeverOverlapsItselfAndSkipsWhatItMissed() async throws {
        let running = Locked(0)
        lifetime.every(.seconds(10), clock: clock) { [clock, owner] in
            #expect(
                running.withLock {
                    $0 += 1; return $0
                } == 1
            )
            owner.log.record("\(clock.now)")
            try await clock.sleep(for: .seconds(25))
            running.withLock { $0 -= 1 }
        }
        // 10, 35 (end), 40, 65 (end), 70
        await clock.advance(by: .seconds(70), waking: 5)
        try await owner.log.waitForEvents(count: 3)
        #expect(owner.log.events == ["10.0 seconds", "40.0 seconds", "70.0 seconds"])
        await lifetime.shutdown(grace: .zero)
    }

    @Test func aFixedDelayIsMeasuredFromTheEnd() async throws {
        lifetime.every(.seconds(10), timing: .fixedDelay, clock: clock) { [clock, owner] in
            owner.log.record("\(clock.now)")
            try await clock.sleep(for: .seconds(5))
        }
        await clock.advance(by: .seconds(40), waking: 5)
        try await owner.log.waitForEvents(count: 3)
        #expect(owner.log.events == ["10.0 seconds", "25.0 seconds", "40.0 seconds"])
        await lifetime.shutdown(grace: .zero)
    }

    @Test func jitterMovesATickAndNotTheNextOnes() async throws {
        struct Half: RandomNumberGenerator { mutating func next() -> UInt64 { 1 << 63 } }
        lifetime.every(.seconds(10), jitter: 0.2, clock: clock, using: Half()) { [clock, owner] in
            owner.log.record("\(clock.now)")
        }
        await clock.advance(by: .seconds(35), waking: 3)
        try await owner.log.waitForEvents(count: 3)
        #expect(owner.log.events == ["11.0 seconds", "21.0 seconds", "31.0 seconds"])
        await lifetime.shutdown(grace: .zero)
    }

    @Test(arguments: [-1, .nan, 2, .infinity])
    func anAbsurdJitterIsTheNearestSensibleOne(_ jitter: Double) async throws {
        let clock = TestClock(advancesAutomatically: true)
        lifetime.every(.seconds(10), jitter: jitter, clock: clock) { [owner] in owner.log.record("") }
        try await owner.log.waitForEvents(count: 5)
        await lifetime.shutdown(grace: .zero)
        #expect(clock.now.offset >= .seconds(50))
    }

    // MARK: Failures

    @Test func failuresBackOffAndASuccessEndsThat() async throws {
        let failing = Locked(3)
        lifetime.every(.seconds(10), clock: clock) { [clock, owner] in
            owner.log.record("\(clock.now)")
            if failing.withLock({
                $0 -= 1; return $0 >= 0
            }) {
                throw MarkedError()
            }
        } onError: { [owner] error in
            owner.log.record("\((error as? MarkedError) == MarkedError("failuresBackOffAndASuccessEndsThat()"))")
        }
        // 10, then after 10, 20 and 40 seconds, and after 10 again.
        await clock.advance(by: .seconds(90), waking: 5)
        try await owner.log.waitForEvents(count: 8)
        #expect(
            owner.log.events == [
                "10.0 seconds", "true", "20.0 seconds", "true", "40.0 seconds", "true", "80.0 seconds", "90.0 seconds",
            ]
        )
        await lifetime.shutdown(grace: .zero)
    }

    @Test func aBackoffWithoutADelayEndsTheTask() async throws {
        let task = lifetime.every(
            .seconds(10),
            initialDelay: .zero,
            backoff: .custom { _, _ in nil },
            clock: clock
        ) {
            throw MarkedError()
        } onError: { [owner] _ in
            owner.log.record("")
        }
        await task.value
        #expect(owner.log.count == 1 && lifetime.isEmpty)
    }

    @Test func anErrorThatNothingHandlesIsReported() async throws {
        Diagnostics.keepQuiet()
        let log = Collector {
            $0.primitive == .every && $0.kind == .unhandledError && $0.error?.contains("tick") == true
        }
        let observation = TaskDiagnostics.observe(log)
        defer { observation.end() }
        lifetime.every(.seconds(10), initialDelay: .zero, clock: clock) { throw MarkedError("tick") }
        try await log.wait { $0.count == 1 }
        await lifetime.shutdown(grace: .zero)
    }

    @Test func aClockThatCannotSleepEndsTheTask() async throws {
        struct Broken: Clock {
            var now: ContinuousClock.Instant { ContinuousClock.now }
            var minimumResolution: Duration { .zero }
            func sleep(until deadline: Instant, tolerance: Duration?) async throws { throw MarkedError("clock") }
        }
        Diagnostics.keepQuiet()
        await lifetime.every(.seconds(1), clock: Broken()) { Issue.record("It never sleeps.") }.value
    }

    // MARK: Owners and ends

    @Test func theOwnerIsNotKeptAliveBetweenTicks() async throws {
        var owner: Owner? = Owner()
        weak let weak = owner
        let task = lifetime.every(.seconds(30), for: try #require(owner), clock: clock) {
            Issue.record("The owner was deallocated.")
        } deliver: { _, _ in
            Issue.record("The owner was deallocated.")
        }
        owner = nil
        #expect(weak == nil)
        await clock.advance(by: .seconds(30), waking: 1)
        await task.value
        #expect(lifetime.isEmpty)
    }

    /// An owner with a lifetime of its own, as a model has it.
    private final class Model: Sendable {
        let lifetime = AsyncLifetime(name: "model")
    }

    @Test func theOwnerIsDeallocatedAtOnceWhileItsPollSleepsAndThePollIsCancelled() async throws {
        let (began, cancelled) = (Gate(), Gate())
        var model: Model? = Model()
        weak let weak = model
        let task = try #require(model).lifetime
            .every(.seconds(30), initialDelay: .zero, for: try #require(model), clock: clock) {
                began.open()
                try? await Gate().wait()
                if Task.isCancelled { cancelled.open() }
            } deliver: { _, _ in
                Issue.record("The owner was deallocated.")
            }
        try await began.wait()
        model = nil
        #expect(weak == nil)
        try await cancelled.wait()
        await task.value
    }

    @Test func anOwnerOfAnotherLifetimeIsDeallocatedToo() async throws {
        let (began, proceed) = (Gate(), Gate())
        var owner: Owner? = Owner()
        weak let weak = owner
        let task = lifetime.every(.seconds(30), initialDelay: .zero, for: try #require(owner), clock: clock) {
            began.open()
            try await proceed.wait()
        } deliver: { _, _ in
            Issue.record("The owner was deallocated.")
        } onError: { _, _ in
            Issue.record("There is no error.")
        }
        try await began.wait()
        owner = nil
        #expect(weak == nil)
        proceed.open()
        await task.value
        #expect(lifetime.isEmpty)
    }

    @Test func anErrorThatConcernsOnlyAReleasedOwnerIsNotReportedAndEndsTheTask() async throws {
        let (begun, gate) = (Gate(), Gate())
        let events = try await EventLog.events {
            var owner: Owner? = Owner()
            let task = lifetime.every(.seconds(1), initialDelay: .zero, for: try #require(owner), clock: clock) {
                begun.open()
                await gate.waitIgnoringCancellation()
                throw MarkedError()
            } deliver: { (_: Owner, _: Int) in
            } onError: { _, _ in
                Issue.record("The owner was deallocated.")
            }
            try await begun.wait()
            owner = nil
            gate.open()
            await task.value
        }
        #expect(clock.now == .zero)
        #expect(events.contains { $0.kind == .workFailed })
        #expect(events.filter { $0.kind == .unhandledError }.isEmpty)
    }

    @Test @MainActor func resultsAndErrorsReachTheOwnerInTheCallersIsolation() async throws {
        let count = Locked(0)
        lifetime.every(.seconds(10), for: owner, clock: clock) {
            let number = count.withLock {
                $0 += 1
                return $0
            }
            if number == 2 { throw MarkedError("second") }
            return number
        } deliver: { owner, number in
            MainActor.assertIsolated()
            owner.log.record("\(number)")
        } onError: { owner, error in
            MainActor.assertIsolated()
            owner.log.record((error as? MarkedError)?.mark ?? "\(error)")
        }
        await clock.advance(by: .seconds(30), waking: 3)
        try await owner.log.waitForEvents(count: 3)
        #expect(owner.log.events == ["1", "second", "3"])
        await lifetime.shutdown(grace: .zero)
    }

    @Test func aResultOfCancelledWorkIsNotDelivered() async throws {
        let began = Gate()
        let task = lifetime.every(.seconds(10), initialDelay: .zero, for: owner, clock: clock) {
            began.open()
            try? await Gate().wait()
        } deliver: { _, _ in
            Issue.record("The work was cancelled.")
        }
        try await began.wait()
        task.cancel()
        await task.value
        #expect(lifetime.isEmpty)
    }

    @Test func theEndOfTheLifetimeEndsTheTicks() async throws {
        let task = lifetime.every(.seconds(1), clock: clock) { [owner] in
            owner.log.record("begins")
            try? await Gate().wait()
            owner.log.record(Task.cancellationCause.map { "\($0)" } ?? "not cancelled")
            throw MarkedError()
        } onError: { _ in
            Issue.record("The error is part of the cancellation.")
        }
        await clock.advance(by: .seconds(1), waking: 1)
        try await owner.log.waitForEvents(count: 1)
        await lifetime.shutdown(grace: .zero)
        await task.value
        #expect(owner.log.events == ["begins", "shutdown: model"])
        #expect(clock.sleeperCount == 0)
        // A closed lifetime does nothing.
        #expect(lifetime.every(.seconds(1), initialDelay: .zero, clock: clock) {}.isCancelled)
    }

    @Test func noTickBeginsInTheGraceOfAShutdown() async throws {
        let (begun, end) = (Gate(), Gate())
        lifetime.every(.seconds(1), initialDelay: .zero, clock: clock) { [owner] in
            owner.log.record(Task.isCancelled ? "cancelled" : "begins")
            begun.open()
            try await end.wait()
            owner.log.record("ends")
        }
        // Sleeps for an hour, and ends at once.
        lifetime.every(.seconds(3_600), clock: clock) { Issue.record("No tick is due.") }
        try await begun.wait()
        try await clock.waitForSleepers(count: 1)
        let shutdown = Task { await lifetime.shutdown(grace: .seconds(100), clock: clock) }
        // The sleep of the hour is over, and that of the grace has begun.
        end.open()
        _ = await shutdown.value
        #expect(owner.log.events == ["begins", "ends"])
        #expect(clock.now == .zero)
    }

    @Test func aHintOfTheErrorIsALongerDelay() async throws {
        struct Busy: Error, RetryAdvising { var retryAfter: Duration? { .seconds(1_000) } }
        lifetime.every(.seconds(10), clock: clock) { [clock, owner] in
            owner.log.record("\(clock.now)")
            if owner.log.count == 1 { throw Busy() }
        } onError: { _ in
        }
        // Beyond the cap of 160 s, and then the next time.
        await clock.advance(by: .seconds(1_010), waking: 2)
        try await owner.log.waitForEvents(count: 2)
        #expect(owner.log.events == ["10.0 seconds", "1010.0 seconds"])
        await lifetime.shutdown(grace: .zero)
    }

    @Test @MainActor func workRunsInTheIsolationOfItsCallerAndWithoutItsDeadline() async throws {
        _ = try await withDeadline(in: .seconds(100), clock: clock) {
            lifetime.every(.seconds(1), initialDelay: .zero, clock: clock) { [owner] in
                MainActor.assertIsolated()
                #expect(Task.currentDeadline == nil)
                owner.log.record("")
            }
        }
        try await owner.log.waitForEvents(count: 1)
        await lifetime.shutdown(grace: .zero)
    }

    @Test func manyTicksHaveNoErrorInVirtualTime() async throws {
        let (clock, done) = (TestClock(advancesAutomatically: true), Gate())
        let count = fullSize(1_000_000, inDebug: 5_000)
        let ticks = Locked(0)
        lifetime.every(.milliseconds(7), clock: clock) {
            let tick = ticks.withLock {
                $0 += 1; return $0
            }
            if clock.now.offset != .milliseconds(7) * tick { Issue.record("Tick \(tick) is at \(clock.now).") }
            if tick == count { done.open() }
        }
        try await done.wait()
        await lifetime.shutdown(grace: .zero)
    }

    @Test func eventsTellTheTicks() async throws {
        let events = try await EventLog.events {
            let lifetime = AsyncLifetime()
            lifetime.every(.seconds(1), name: "refresh", clock: clock) { [owner] in
                owner.log.record("")
                if owner.log.count == 1 { throw MarkedError() }
            } onError: { _ in
            }
            await clock.advance(by: .seconds(2), waking: 2)
            try await owner.log.waitForEvents(count: 2)
            try await clock.waitForSleepers(count: 1)
            await lifetime.shutdown(grace: .zero)
        }
        let own = events.filter { $0.primitive == .every && $0.subject != nil }
        #expect(own.map(\.kind.rawValue) == ["started", "ticked", "failed", "waiting", "ticked", "waiting", "stopped"])
        #expect(own.unpaired.isEmpty)
        #expect(own.allSatisfy { $0.ownerName == "refresh" })
    }
}

/// Ticks under many schedules.
@Suite(.timeLimit(.minutes(60)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct PeriodicSimulationTests {
    @Test func aTickAndACancellation() async throws {
        try await race { sim in
            let lifetime = AsyncLifetime()
            let (running, isClosed) = (Locked(0), Locked(false))
            lifetime.every(.milliseconds(10), timing: .fixedRate(missed: .all)) {
                sim.expect(
                    running.withLock {
                        $0 += 1; return $0
                    } == 1,
                    "the work does not overlap itself"
                )
                defer { running.withLock { $0 -= 1 } }
                sim.expect(!Task.isCancelled || !isClosed.withLock(\.self), "no tick begins after the end")
                try await Task.sleep(for: .milliseconds(Int(sim.seed % 3) * 10))
                if sim.seed % 2 == 0 { throw MarkedError() }
            } onError: { _ in
            }
            try await Task.sleep(for: .milliseconds(Int(sim.seed % 5) * 10))
            await lifetime.shutdown(grace: .zero)
            isClosed.withLock { $0 = true }
            sim.expect(running.withLock(\.self) == 0 && lifetime.isEmpty, "nothing runs after the end")
        }
    }

    /// Random intervals, durations and failures: each tick is at one of the planned times.
    @Test func randomTicksAreAtPlannedTimes() async throws {
        try await offThePool {
            try simulate(seeds: Schedules.seeds(100_000, inDebug: 200)) { sim in
                let lifetime = AsyncLifetime()
                var random = sim.random
                let interval = Int.random(in: 1...20, using: &random)
                let missed = MissedTicks.allCases.randomElement(using: &random)!
                let lengths = (0..<8).map { _ in Int.random(in: 0...30, using: &random) }
                let failures = (0..<8).map { _ in Int.random(in: 0...3, using: &random) == 0 }
                let (count, end) = (Locked(0), Locked(0))
                lifetime.every(.milliseconds(interval), timing: .fixedRate(missed: missed)) {
                    let tick = count.withLock {
                        $0 += 1; return $0
                    }
                    let now = Int(sim.now / .milliseconds(1))
                    // In time, or at once after the work that made it late.
                    sim.expect(
                        now % interval == 0 || (missed != .skip && now == end.withLock(\.self)),
                        "at a planned time"
                    )
                    sim.expect(missed != .all || now >= tick * interval, "not early")
                    try await Task.sleep(for: .milliseconds(lengths[tick % 8]))
                    end.withLock { $0 = Int(sim.now / .milliseconds(1)) }
                    if failures[tick % 8] { throw MarkedError() }
                } onError: { _ in
                }
                try await Task.sleep(for: .milliseconds(500))
                await lifetime.shutdown(grace: .zero)
                sim.expect(lifetime.isEmpty, "nothing runs after the end")
                // Each tick takes 30 ms at most, and the time after it 16 intervals at most.
                let longest = 30 + 17 * interval
                sim.expect(count.withLock(\.self) >= 500 / longest, "the ticks go on")
            }
        }
    }
}
