import TaskControl
import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControlSupervision

@Suite(.timeLimit(.minutes(15)))
struct KeepRunningEventTests {
    private let clock = TestClock()
    private let lifetime = AsyncLifetime(name: "model")
    private let fixed = RetryBackoff.fixed(.seconds(1))

    @Test func eventsTellTheLifeOfTheWork() async throws {
        let events = try await EventLog.events {
            let lifetime = AsyncLifetime()
            let work = lifetime.keepRunning("feed", limit: .restarts(1, per: .seconds(9)), backoff: fixed, clock: clock)
            {
                run in
                if run.number == 2 { run.markReady() }
                throw MarkedError("crash")
            }
            let wait = Task { for await _ in work.states {} }
            await clock.advance(by: .seconds(1), waking: 1)
            await wait.value
            try await lifetime.drain()
        }
        let own = events.filter { $0.primitive == .keepRunning && $0.subject != nil }
        #expect(
            own.map(\.kind.rawValue) == ["started", "failed", "waiting", "restarted", "ready", "failed", "gaveUp"]
        )
        #expect(own.map(\.attempt) == [1, 1, 1, 2, 2, 2, 2])
        #expect(own.allSatisfy { $0.taskName == "feed" && $0.ownerName == "feed" })
        #expect(own.compactMap(\.delay) == [.seconds(1)])
        #expect(own.unpaired.isEmpty)
    }

    /// An error in the grace is no part of a cancellation, and no restart follows it.
    @Test func anErrorAfterARequestToStopIsReported() async throws {
        let log = Collector {
            $0.primitive == .keepRunning && $0.kind == .unhandledError && $0.error?.contains("in the end") == true
        }
        let observation = TaskDiagnostics.observe(log)
        defer { observation.end() }
        Diagnostics.keepQuiet()
        for grace in [Duration.zero, .seconds(5)] {
            let work = lifetime.keepRunning("feed", grace: grace, clock: clock) { run in
                run.markReady()
                await run.waitForStop()
                // Without a grace the run is cancelled, and its error is part of that.
                if grace == .zero { try? await Gate().wait() }
                throw MarkedError("in the end, after a grace of \(grace)")
            }
            try await work.waitUntilReady()
            await work.stop()
        }
        try await log.wait { $0.count >= 1 }
        #expect(log.events.map { $0.error?.contains("5.0 seconds") } == [true])
    }

    /// It is the state of the work, and was thrown before the request to stop.
    @Test func anErrorBeforeAStopDuringTheDelayIsNotReported() async throws {
        let log = Collector { $0.primitive == .keepRunning && $0.error?.contains("in vain") == true }
        let observation = TaskDiagnostics.observe(log)
        defer { observation.end() }
        Diagnostics.keepQuiet()
        let work = lifetime.keepRunning("feed", backoff: fixed, clock: clock) { _ in throw MarkedError("in vain") }
        try await clock.waitForSleepers()
        await work.stop()
        try await lifetime.drain()
        #expect(log.events.map(\.kind.rawValue) == ["failed"])
    }

    @Test func aFailureThatNobodyFollowsIsReported() async throws {
        let log = Collector {
            $0.primitive == .keepRunning && $0.kind == .unhandledError && $0.error?.contains("unseen") == true
        }
        let observation = TaskDiagnostics.observe(log)
        defer { observation.end() }
        Diagnostics.keepQuiet()
        lifetime.keepRunning("feed", restart: .never, clock: clock) { _ in throw MarkedError("unseen") }
        try await log.wait { $0.count == 1 }
        try await lifetime.drain()
    }
}
