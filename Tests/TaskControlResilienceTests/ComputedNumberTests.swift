import TaskControl
import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControlResilience

private struct Mishap: Error {}

/// Numbers that a program computes, such as a limit from a configuration: none of them ends the process.
@Suite(.timeLimit(.minutes(15)))
struct ComputedNumberTests {
    @Test(arguments: [0, -1, Int.min]) func aLimiterRefillsAtLeastOneTokenIntoAtLeastOnePlace(_ number: Int)
        async throws
    {
        let clock = TestClock()
        let limiter = RateLimiter(rate: number, burst: number, clock: clock)
        #expect(limiter.available == 1)
        #expect(limiter.tryAcquire() && !limiter.tryAcquire())
        await clock.advance(by: .seconds(1))
        #expect(limiter.tryAcquire())
    }

    @Test(arguments: [Duration.zero, .seconds(-1), .seconds(Int64.min)])
    func aPeriodThatIsNotPositiveIsANanosecond(_ period: Duration) async throws {
        let clock = TestClock()
        let limiter = RateLimiter(rate: 1, per: period, clock: clock)
        #expect(limiter.tryAcquire() && !limiter.tryAcquire())
        await clock.advance(by: .nanoseconds(1))
        #expect(limiter.tryAcquire())
    }

    @Test(
        arguments: [(0, 1), (-1, 1), (-.infinity, 1), (1.001, 2), (.infinity, 2), (.nan, 1)] as [(Double, Int)]
    )
    func aThresholdIsAShareOfTheCalls(_ threshold: Double, _ failures: Int) async {
        let breaker = CircuitBreaker(failureThreshold: threshold, minimumCalls: 2, clock: TestClock())
        for call in 0..<2 {
            try? await withPolicy(ResiliencePolicy(breaker: breaker)) { if call >= 2 - failures { throw Mishap() } }
        }
        #expect(breaker.state != .closed)
    }

    @Test func aThresholdAboveAllCallsIsAllCalls() async {
        let breaker = CircuitBreaker(failureThreshold: 7, minimumCalls: 2, clock: TestClock())
        try? await withPolicy(ResiliencePolicy(breaker: breaker)) { throw Mishap() }
        try? await withPolicy(ResiliencePolicy(breaker: breaker)) {}
        #expect(breaker.state == .closed)
    }

    @Test(arguments: [0, -1, Int.min]) func aBreakerNeedsAtLeastOneCallAndOneProbe(_ number: Int) async {
        let clock = TestClock()
        let breaker = CircuitBreaker(minimumCalls: number, openDuration: .seconds(1), probes: number, clock: clock)
        try? await withPolicy(ResiliencePolicy(breaker: breaker)) { throw Mishap() }
        #expect(breaker.state == .open(retryAfter: .seconds(1)))
        await clock.advance(by: .seconds(1))
        try? await withPolicy(ResiliencePolicy(breaker: breaker)) {}
        #expect(breaker.state == .closed)
    }

    @Test(arguments: [Duration.zero, .seconds(-1), .seconds(Int64.min)])
    func aTimeOfABreakerThatIsNotPositiveIsANanosecond(_ time: Duration) async {
        let clock = TestClock()
        let breaker = CircuitBreaker(
            window: time,
            minimumCalls: 1,
            openDuration: time,
            slowCall: time,
            clock: clock
        )
        try? await withPolicy(ResiliencePolicy(breaker: breaker)) { await clock.advance(by: .nanoseconds(1)) }
        #expect(breaker.state == .open(retryAfter: .nanoseconds(1)))
        await clock.advance(by: .nanoseconds(1))
        #expect(breaker.state == .open(retryAfter: .zero))
    }

    @Test(arguments: [0, -1, Int.min]) func aHistoryHasRoomForItsMinimum(_ number: Int) {
        let history = DurationHistory(quantile: .nan, capacity: number, minimumSamples: number)
        #expect(history.estimate == nil)
        history.record(.seconds(1), isCensored: false)
        #expect(history.estimate == .seconds(1))
        history.record(.seconds(2), isCensored: false)
        #expect(history.estimate == .seconds(2))
    }

    @Test(arguments: [-Double.infinity, 0, 1, 2, .infinity, .nan]) func aQuantileIsAShareOfTheCalls(_ quantile: Double)
    {
        let history = DurationHistory(quantile: quantile, capacity: 100, minimumSamples: 100)
        for second in 1...100 { history.record(.seconds(second), isCensored: false) }
        let expected = quantile.isNaN ? 95 : quantile <= 0 ? 1 : 100
        #expect(history.estimate == .seconds(expected))
    }

    @Test(arguments: [0, -1, Int.min]) func noHedgeIsOneAttempt(_ number: Int) async throws {
        let attempts = OrderRecorder<Int>()
        try await withHedging(after: .fixed(.zero), maxHedges: number, budget: RetryBudget()) { attempts.record($0) }
        #expect(attempts.events.count == 1)
    }
}
