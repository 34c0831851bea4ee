import TaskControl
import TaskControlTesting
import TestSupport
import Testing

/// A limit is a time, not an order of events: what ends at the limit or after it is late, also if the task of the limit has not run.
@Suite(.timeLimit(.minutes(15)))
struct LateEndTests {
    /// A clock whose sleepers have no thread: they continue when they are cancelled.
    private struct ThreadlessClock: Clock {
        let time = TestClock()
        let minimumResolution = Duration.zero

        var now: TestClock.Instant { time.now }

        func sleep(until deadline: TestClock.Instant, tolerance: Duration?) async throws { try await Gate().wait() }
    }

    /// The functions that limit a call.
    enum Limit: CaseIterable, Sendable {
        case timeout, deadline, poll, detached

        func run<C: Clock<Duration>>(
            _ limit: Duration,
            _ clock: C,
            _ operation: @escaping @Sendable () async throws -> Int
        ) async throws -> Int {
            switch self {
            case .timeout: try await withTimeout(limit, clock: clock, operation: operation)
            case .deadline: try await withDeadline(in: limit, clock: clock, operation: operation)
            case .poll: try await TaskControl.poll(within: limit, clock: clock, operation: operation) { _ in true }
            case .detached: try await withDetachedTimeout(limit, clock: clock) { try await operation() }
            }
        }

        /// Whether an error is that of the limit.
        func isOwn(_ error: any Error) -> Bool {
            switch self {
            case .timeout, .detached: error is TimeoutError
            case .deadline: error is DeadlineExceededError
            case .poll: error is PollTimeoutError
            }
        }
    }

    @Test(arguments: Limit.allCases) func aValueBeforeTheLimitIsInTime(_ limit: Limit) async throws {
        let clock = ThreadlessClock()
        let value = try await limit.run(.seconds(10), clock) {
            await clock.time.advance(by: .seconds(10) - .nanoseconds(1))
            return 7
        }
        #expect(value == 7)
    }

    @Test(arguments: Limit.allCases, [Duration.seconds(10), .seconds(10) + .nanoseconds(1)])
    func aValueAtTheLimitOrAfterItIsLate(_ limit: Limit, _ end: Duration) async throws {
        let clock = ThreadlessClock()
        let error = await #expect(throws: (any Error).self) {
            try await limit.run(.seconds(10), clock) {
                await clock.time.advance(by: end)
                return 7
            }
        }
        #expect(limit.isOwn(try #require(error)))
    }

    @Test(arguments: Limit.allCases) func anErrorAtTheLimitIsLate(_ limit: Limit) async throws {
        let clock = ThreadlessClock()
        let error = await #expect(throws: (any Error).self) {
            try await limit.run(.seconds(10), clock) {
                await clock.time.advance(by: .seconds(10))
                throw CancellationError()
            }
        }
        #expect(limit.isOwn(try #require(error)))
    }

    @Test(arguments: Limit.allCases) func aCancelledCallerReceivesItsCancellationForALateValue(_ limit: Limit)
        async throws
    {
        let (clock, gate) = (ThreadlessClock(), Gate())
        let caller = Task {
            try await limit.run(.seconds(10), clock) {
                await gate.waitIgnoringCancellation()
                return 7
            }
        }
        try await gate.waitForWaiters()
        await clock.time.advance(by: .seconds(10))
        caller.cancel()
        gate.open()
        await #expect(throws: CancellationError.self) { try await caller.value }
    }

    @Test func detachedWorkThatIsAbandonedAndEndsLateReportsItsOwnError() async throws {
        let (clock, gate, error) = (TestClock(), Gate(), MarkedError())
        let caller = Task {
            try await withDetachedTimeout(.seconds(10), clock: clock) {
                await gate.waitIgnoringCancellation()
                throw error
            }
        }
        try await gate.waitForWaiters()
        try await clock.waitForSleepers()
        await clock.advance(by: .seconds(10))
        await #expect(throws: TimeoutError.self) { try await caller.value }
        gate.open()
        try await Incidents.shared.wait { !$0.abandoned(error).isEmpty }
    }
}

@Suite(.timeLimit(.minutes(60)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct LateEndSimulationTests {
    @Test(arguments: LateEndTests.Limit.allCases)
    func aValueAtTheLimitIsLateInEverySchedule(_ limit: LateEndTests.Limit) throws {
        try simulate(seeds: Schedules.seeds(5_000, inDebug: 100)) { sim in
            do {
                _ = try await limit.run(.seconds(1), ContinuousClock()) {
                    // Deaf, so that the value arrives.
                    await Task { try? await Task.sleep(for: .seconds(1)) }.value
                    return 7
                }
                sim.expect(false, "the value counted")
            } catch {
                sim.expect(limit.isOwn(error), "\(error)")
            }
        }
    }

    @Test(arguments: LateEndTests.Limit.allCases)
    func aValueBeforeTheLimitIsInTimeInEverySchedule(_ limit: LateEndTests.Limit) throws {
        try simulate(seeds: Schedules.seeds(5_000, inDebug: 100)) { sim in
            let value = try? await limit.run(.seconds(1), ContinuousClock()) {
                try await Task.sleep(for: .milliseconds(999))
                return 7
            }
            sim.expect(value == 7)
        }
    }
}
