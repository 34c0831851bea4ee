import TaskControl
import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControlSupervision

@Suite(.timeLimit(.minutes(15)))
struct KeepRunningTests {
    private let clock = TestClock()
    private let lifetime = AsyncLifetime(name: "model")
    private let fixed = RetryBackoff.fixed(.seconds(1))

    /// The texts of the states up to one that ends with a text.
    private func states(of work: SupervisedWork, until last: String) async -> [String] {
        var texts: [String] = []
        for await state in work.states {
            texts.append(Self.text(state))
            if texts.last == last { break }
        }
        return texts
    }

    private static func text(_ state: SupervisedWork.State) -> String {
        switch state {
        case .starting: "starting"
        case .running: "running"
        case .waiting(let delay, let error): "waiting \(delay) after \((error as? MarkedError)?.mark ?? "\(error)")"
        case .completed: "completed"
        case .stopped: "stopped"
        case .failed(let causes):
            "failed \(causes.map { "\($0.run) \(($0.error as? MarkedError)?.mark ?? "\($0.error)")" })"
        @unknown default: "unknown"
        }
    }

    @Test func workIsRestartedAfterTheBackoffUntilItCompletes() async throws {
        let started = Gate()
        let work = lifetime.keepRunning(
            "feed",
            restart: .onFailure,
            backoff: .exponential(base: .seconds(1)),
            clock: clock
        ) { run in
            try? await started.wait()
            run.markReady()
            run.markReady()
            if run.number < 3 { throw MarkedError("\(run.number)") }
        }
        let stream = work.states
        let states = Task { await stream.reduce(into: []) { $0.append(Self.text($1)) } }
        started.open()
        await clock.advance(by: .seconds(1), waking: 1)
        await clock.advance(by: .seconds(2), waking: 1)
        let texts = await states.value
        #expect(
            texts == [
                "starting", "running", "waiting 1.0 seconds after 1", "starting", "running",
                "waiting 2.0 seconds after 2", "starting",
                "running", "completed",
            ]
        )
        #expect(work.state.isFinal)
        try await lifetime.drain()
    }

    @Test func theBackoffBeginsAgainAfterAStableRun() async throws {
        let (runs, delays) = (OrderRecorder<Int>(), OrderRecorder<Duration>())
        let work = lifetime.keepRunning(
            "feed",
            backoff: .custom { attempt, _ in
                delays.record(.seconds(attempt))
                return .seconds(attempt)
            },
            stableAfter: .seconds(10),
            clock: clock
        ) { [clock] run in
            run.markReady()
            runs.record(run.number)
            try await clock.sleep(for: .seconds(run.number == 3 ? 10 : 9))
            throw MarkedError()
        }
        // 9 s + 1 s, 9 s + 2 s, 10 s + 1 s.
        for time in [9, 1, 9, 2, 10, 1] {
            try await clock.waitForSleepers(count: 1)
            await clock.advance(by: .seconds(time), waking: 1)
        }
        try await runs.waitForEvents(count: 4)
        #expect(delays.events == [.seconds(1), .seconds(2), .seconds(1)])
        await work.stop()
    }

    @Test func aRestartBeyondTheLimitFailsTheWorkWithAllCauses() async throws {
        let work = lifetime.keepRunning(
            "feed",
            limit: .restarts(2, per: .seconds(60)),
            backoff: fixed,
            clock: clock
        ) { run in throw MarkedError("\(run.number)") }
        let wait = Task { try await work.waitUntilReady() }
        await clock.advance(by: .seconds(1), waking: 1)
        await clock.advance(by: .seconds(1), waking: 1)
        let error = await #expect(throws: SupervisionError.self) { try await wait.value }
        // The wait may have begun only after the failure: the state says the same.
        #expect(error?.reason == .failed && error?.name == "feed")
        #expect(error?.causes.map { ($0.error as? MarkedError)?.mark } == ["1", "2", "3"])
        #expect(await states(of: work, until: "failed") == ["failed [\"1 1\", \"2 2\", \"3 3\"]"])
        #expect("\(try #require(error))".hasPrefix("\"feed\" has failed (feed, run 1: "))
        try await lifetime.drain()
    }

    @Test func aDelayThatLeavesTheWindowIsAllowed() async throws {
        let runs = OrderRecorder<Int>()
        let work = lifetime.keepRunning(
            "feed",
            limit: .restarts(1, per: .seconds(5)),
            backoff: .fixed(.seconds(5)),
            clock: clock
        ) { run in
            runs.record(run.number)
            throw MarkedError()
        }
        for _ in 0..<20 { await clock.advance(by: .seconds(5), waking: 1) }
        try await runs.waitForEvents(count: 21)
        await work.stop()
    }

    @Test func onlyTheLatestCausesAreKept() async throws {
        let work = lifetime.keepRunning(
            "feed",
            limit: .restarts(40, per: .seconds(60)),
            backoff: .none,
            clock: clock
        ) { _ in throw MarkedError() }
        let error = await #expect(throws: SupervisionError.self) { try await work.waitUntilReady() }
        #expect(error?.causes.map(\.run) == Array(10...41))
    }

    @Test(arguments: RestartRule.allCases)
    func theRuleDecidesAboutAReturn(_ rule: RestartRule) async throws {
        let work = lifetime.keepRunning(
            "feed",
            restart: rule,
            limit: .restarts(0, per: .seconds(1)),
            clock: clock
        ) { run in run.markReady() }
        var last: SupervisedWork.State?
        for await state in work.states { last = state }
        switch (rule, last) {
        case (.never, .completed), (.onFailure, .completed): break
        case (.always, .failed(let causes)):
            #expect(causes.map { ($0.error as? SupervisionError)?.reason } == [.completed])
        default: Issue.record("\(rule): \(String(describing: last))")
        }
        let error = await #expect(throws: SupervisionError.self) { try await work.waitUntilReady() }
        #expect(error?.reason == (rule == .always ? .failed : .completed))
    }

    @Test func aReturnIsAFailureByDefaultInEveryForm() async throws {
        let (limit, ended) = (RestartLimit.restarts(0, per: .seconds(1)), AsyncStream<Int> { $0.finish() })
        let supervisor = Supervisor(limit: limit, clock: clock)
        let works = [
            lifetime.keepRunning("work", limit: limit, clock: clock) { run in run.markReady() },
            lifetime.keepRunning("feed", for: lifetime, limit: limit, clock: clock) { (_: Int?) in
                ended
            } deliver: { @MainActor _, _ in
            },
            lifetime.keepRunning("plain feed", for: lifetime, limit: limit, clock: clock) {
                ended
            } deliver: { @MainActor _, _ in
            },
            supervisor.keepRunning("child") { run in run.markReady() },
        ]
        lifetime.addTask { try? await supervisor.run() }
        for work in works {
            for await state in work.states where state.isFinal {
                guard case .failed(let causes) = state else { Issue.record("\(work.name): \(state)"); continue }
                #expect(causes.map { ($0.error as? SupervisionError)?.reason } == [.completed])
            }
        }
    }

    @Test func workThatMustNotBeRestartedFailsWithItsFirstError() async throws {
        let work = lifetime.keepRunning("feed", restart: .never, clock: clock) { _ in throw MarkedError() }
        let error = await #expect(throws: SupervisionError.self) { try await work.waitUntilReady() }
        #expect(error?.causes.count == 1)
    }

    @Test func aBackoffWithoutADelayFailsTheWork() async throws {
        let work = lifetime.keepRunning("feed", backoff: .custom { _, _ in nil }, clock: clock) { _ in
            throw MarkedError()
        }
        let error = await #expect(throws: SupervisionError.self) { try await work.waitUntilReady() }
        #expect(error?.causes.count == 1)
    }

    @Test func aCancellationErrorWithoutACancellationIsAFailure() async throws {
        let work = lifetime.keepRunning("feed", restart: .never, clock: clock) { _ in throw CancellationError() }
        let error = await #expect(throws: SupervisionError.self) { try await work.waitUntilReady() }
        #expect(error?.reason == .failed && error?.causes.first?.error is CancellationError)
    }

    @Test func aHintOfTheErrorIsALongerDelay() async throws {
        struct Busy: Error, RetryAdvising { var retryAfter: Duration? { .seconds(7) } }
        let runs = OrderRecorder<Int>()
        let work = lifetime.keepRunning("feed", backoff: fixed.capped(at: .seconds(2)), clock: clock) { run in
            runs.record(run.number)
            throw Busy()
        }
        // Also beyond the cap.
        await clock.advance(by: .seconds(7), waking: 1)
        try await runs.waitForEvents(count: 2)
        await work.stop()
    }

    // MARK: Waiting

    @Test func aCancelledWaitLeavesAndTheWorkGoesOn() async throws {
        let gate = Gate()
        let work = lifetime.keepRunning("feed", clock: clock) { run in
            try await gate.wait()
            run.markReady()
            try await Gate().wait()
        }
        let wait = Task { try await work.waitUntilReady() }
        wait.cancel()
        await #expect(throws: CancellationError.self) { try await wait.value }
        gate.open()
        try await work.waitUntilReady()
        #expect(Self.text(work.state) == "running")
        await work.stop()
    }

    @Test func aCallerThatWaitsInVainLearnsTheLastFailure() async throws {
        let recovers = Gate()
        let work = lifetime.keepRunning("feed", backoff: fixed, clock: clock) { run in
            if run.number != 2 { throw MarkedError("\(run.number)") }
            // Connects forever: the state says `starting`, and no longer why.
            try await recovers.wait()
            run.markReady()
            try await recovers.wait()
            throw MarkedError("lost")
        }
        #expect(work.lastFailure == nil || work.lastFailure?.run == 1)
        let wait = Task { [clock] in try await work.waitUntilReady(within: .seconds(5), clock: clock) }
        try await clock.waitForSleepers(count: 2)
        await clock.advance(by: .seconds(1))
        try await recovers.waitForWaiters()
        await clock.advance(by: .seconds(4), waking: 1)
        let error = await #expect(throws: SupervisionError.self) { try await wait.value }
        #expect(error?.reason == .notReady && error?.causes.map { ($0.error as? MarkedError)?.mark } == ["1"])
        #expect("\(try #require(error))".hasPrefix("\"feed\" is not ready (feed, run 1: "))
        #expect((work.lastFailure?.error as? MarkedError)?.mark == "1" && Self.text(work.state) == "starting")
        recovers.open()
        // After the loss of the connection, the cause is the loss.
        for await state in work.states where Self.text(state).hasPrefix("waiting") { break }
        #expect((work.lastFailure?.error as? MarkedError)?.mark == "lost" && work.lastFailure?.run == 2)
        await work.stop()
    }

    @Test func workThatIsReadyHasNoFailure() async throws {
        let work = lifetime.keepRunning("feed", backoff: .none, clock: clock) { run in
            if run.number == 1 { throw MarkedError() }
            run.markReady()
            try await Gate().wait()
        }
        try await work.waitUntilReady(within: .seconds(5), clock: clock)
        #expect(work.lastFailure == nil)
        await work.stop()
        let error = await #expect(throws: SupervisionError.self) {
            try await work.waitUntilReady(within: .seconds(5), clock: clock)
        }
        #expect(error?.reason == .stopped)
    }

    @Test func aChildThatIsRestartedWithAnotherOneHasItsFailure() async throws {
        let (supervisor, crash) = (Supervisor(strategy: .all, clock: clock), Gate())
        supervisor.keepRunning("database", backoff: fixed) { run in
            run.markReady()
            try await crash.wait()
            throw MarkedError("refused")
        }
        let cache = supervisor.keepRunning("cache") { run in
            run.markReady()
            try await Gate().wait()
        }
        lifetime.addTask { try? await supervisor.run() }
        try await cache.waitUntilReady()
        crash.open()
        for await state in cache.states where Self.text(state).hasPrefix("waiting") { break }
        #expect(cache.lastFailure?.name == "database" && (cache.lastFailure?.error as? MarkedError)?.mark == "refused")
        lifetime.close()
        try await lifetime.drain()
    }

    @Test func aCancelledCallerOfStopReturnsAndTheWorkIsStopped() async throws {
        let (gate, release) = (Gate(), Gate())
        let work = lifetime.keepRunning("feed", clock: clock) { run in
            run.markReady()
            gate.open()
            await release.waitIgnoringCancellation()
        }
        try await work.waitUntilReady()
        let stop = Task { await work.stop() }
        stop.cancel()
        await stop.value
        release.open()
        for await state in work.states where state.isFinal { #expect(Self.text(state) == "stopped") }
        try await lifetime.drain()
    }

    @Test func theOperationIsReleasedAtTheEnd() async throws {
        final class Captured: Sendable {}
        var captured: Captured? = Captured()
        weak let weak = captured
        let work = lifetime.keepRunning("feed", restart: .onFailure, clock: clock) { [captured] run in
            run.markReady()
            _ = captured
        }
        captured = nil
        for await _ in work.states {}
        await work.stop()
        try await lifetime.drain()
        #expect(weak == nil)
        #expect(work.name == "feed")
    }

    @Test func workRunsInTheIsolationOfItsCallerAndWithoutItsDeadline() async throws {
        try await Self.onTheMainActor(lifetime, clock)
    }

    @MainActor private static func onTheMainActor(_ lifetime: AsyncLifetime, _ clock: TestClock) async throws {
        try await withDeadline(in: .seconds(100), clock: clock) {
            let work = lifetime.keepRunning("feed", clock: clock) { run in
                MainActor.assertIsolated()
                #expect(Task.currentDeadline == nil)
                run.markReady()
                try await Gate().wait()
            }
            try await work.waitUntilReady()
            await work.stop()
        }
    }

    /// A clock rounds what it is given: seed 84423 of the random programs asked a clock for the rest of a nanosecond forever.
    @Test func aSleepThatEndsALittleEarlyIsTheEndOfTheDelay() async throws {
        struct Early: Clock {
            let clock: TestClock
            var now: TestClock.Instant { clock.now }
            var minimumResolution: Duration { .nanoseconds(1) }
            func sleep(until deadline: Instant, tolerance: Duration?) async throws {
                try await clock.sleep(until: deadline.advanced(by: .nanoseconds(-1)))
            }
        }
        let work = lifetime.keepRunning("feed", backoff: fixed, clock: Early(clock: clock)) { run in
            if run.number == 1 { throw MarkedError() }
            run.markReady()
            try await Gate().wait()
        }
        await clock.advance(by: .seconds(1) - .nanoseconds(1), waking: 1)
        try await work.waitUntilReady()
        await work.stop()
    }

    @Test func aClockThatCannotSleepFailsTheWork() async throws {
        struct Broken: Clock {
            var now: ContinuousClock.Instant { ContinuousClock.now }
            var minimumResolution: Duration { .zero }
            func sleep(until deadline: Instant, tolerance: Duration?) async throws { throw MarkedError("clock") }
        }
        let work = lifetime.keepRunning("feed", backoff: .fixed(.seconds(1_000)), clock: Broken()) { _ in
            throw MarkedError("work")
        }
        let error = await #expect(throws: SupervisionError.self) { try await work.waitUntilReady() }
        #expect(error?.causes.map { ($0.error as? MarkedError)?.mark } == ["work", "clock"])
    }
}
