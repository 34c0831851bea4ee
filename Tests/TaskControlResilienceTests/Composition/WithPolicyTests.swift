import TaskControl
import TaskControlResilience
import TaskControlTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(15)))
struct WithPolicyTests {
    private let clock = TestClock()

    @Test func withoutPartsTheOperationRunsOnce() async throws {
        #expect(try await withPolicy(ResiliencePolicy()) { 1 } == 1)
        await #expect(throws: MarkedError("once")) {
            try await withPolicy(ResiliencePolicy()) { throw MarkedError("once") }
        }
    }

    @Test func aCancelledCallerDoesNotBegin() async {
        let call = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await withPolicy(ResiliencePolicy()) { () -> Void in Issue.record("The operation begins.") }
        }
        await #expect(throws: CancellationError.self) { try await call.value }
    }

    @Test func aCancelledCallerReceivesOneError() async {
        let call = Task {
            try await withPolicy(ResiliencePolicy()) {
                withUnsafeCurrentTask { $0?.cancel() }
                throw MarkedError()
            }
        }
        await #expect(throws: CancellationError.self) { try await call.value }
    }

    /// The limits wait before the throttle and the breaker are asked, and the token is taken when the permit is there.
    @Test func theLimitsComeFirst() async throws {
        let concurrency = AsyncSemaphore(value: 1)
        let rate = RateLimiter(rate: 1, burst: 2, clock: clock)
        let breaker = CircuitBreaker(failureThreshold: 1, minimumCalls: 1, clock: clock)
        let policy = ResiliencePolicy(concurrency: concurrency, rate: rate, breaker: breaker)
        await #expect(throws: MarkedError.self) { try await withPolicy(policy) { throw MarkedError() } }
        #expect(rate.available == 1)
        await #expect(throws: CircuitOpenError.self) { try await withPolicy(policy) {} }
        #expect(rate.available == 0, "the breaker is asked after the rate")
        try await concurrency.acquire()
        await clock.advance(by: .seconds(1))
        let call = Task { [clock] in
            try await withDeadline(in: .seconds(1), clock: clock) { try await withPolicy(policy) {} }
        }
        await clock.advance(by: .seconds(1), waking: 1)
        await #expect(throws: DeadlineExceededError.self) { try await call.value }
        #expect(rate.available == 2, "the token is taken after the permit")
        concurrency.release()
        #expect(concurrency.available == 1)
    }

    /// A call waits for its token before it takes a permit, and a call that the breaker refuses releases its permit.
    @Test func theAdaptiveLimitComesBetweenTheRateAndTheBreaker() async throws {
        let rate = RateLimiter(rate: 1, burst: 2, clock: clock)
        let limiter = AdaptiveLimiter(initial: 1, clock: clock)
        let breaker = CircuitBreaker(failureThreshold: 1, minimumCalls: 1, clock: clock)
        let policy = ResiliencePolicy(rate: rate, adaptiveLimit: limiter, breaker: breaker)
        await #expect(throws: MarkedError.self) {
            try await withPolicy(policy) {
                #expect(limiter.running == 1)
                throw MarkedError()
            }
        }
        #expect(limiter.running == 0)
        await #expect(throws: CircuitOpenError.self) { try await withPolicy(policy) {} }
        #expect(limiter.running == 0)
        let call = Task { try await withPolicy(policy) {} }
        try await clock.waitForSleepers(count: 1)
        #expect(limiter.running == 0, "the call waits for a token")
        await clock.advance(by: .seconds(1), waking: 1)
        await #expect(throws: CircuitOpenError.self) { try await call.value }
    }

    /// A probability of 2/3: the call is refused before the breaker sees it.
    @Test func theThrottleComesBeforeTheBreaker() async throws {
        let throttle = ClientThrottle(clock: clock, random: { 0 })
        let breaker = CircuitBreaker(failureThreshold: 1, minimumCalls: 3, clock: clock)
        let policy = ResiliencePolicy(throttle: throttle, breaker: breaker)
        await #expect(throws: MarkedError.self) { try await withPolicy(policy) { throw MarkedError() } }
        await #expect(throws: RequestThrottledError.self) { try await withPolicy(policy) {} }
        for _ in 0..<2 {
            await clock.advance(by: .seconds(1))
            await #expect(throws: MarkedError.self) { try await withPolicy(policy) { throw MarkedError() } }
        }
        #expect(breaker.state != .closed, "three calls have failed, and the refused one does not count")
    }

    @Test func aCallThatTheBreakerRefusesSaysNothingToTheThrottle() async throws {
        let throttle = ClientThrottle(clock: clock, random: { 1.0.nextDown })
        let breaker = CircuitBreaker(failureThreshold: 1, minimumCalls: 1, clock: clock)
        let policy = ResiliencePolicy(throttle: throttle, breaker: breaker)
        await #expect(throws: MarkedError.self) { try await withPolicy(policy) { throw MarkedError() } }
        for _ in 0..<3 { await #expect(throws: CircuitOpenError.self) { try await withPolicy(policy) {} } }
        await clock.advance(by: .seconds(60))
        #expect(throttle.refusalProbability == 0.5, "one call, which was not accepted")
    }

    @Test func aCallThatSucceedsAtItsSecondAttemptIsASuccess() async throws {
        let breaker = CircuitBreaker(failureThreshold: 0.01, minimumCalls: 1, clock: clock)
        let policy = ResiliencePolicy(breaker: breaker, retry: RetryPolicy(attempts: 2, backoff: .none))
        let attempts = OrderRecorder<Int>()
        try await withPolicy(policy, clock: clock) {
            attempts.record(1)
            if attempts.events.count == 1 { throw MarkedError() }
        }
        #expect(attempts.events.count == 2 && breaker.state == .closed)
    }

    @Test func eachAttemptHasALimit() async throws {
        let breaker = CircuitBreaker(failureThreshold: 1, minimumCalls: 1, clock: clock)
        let policy = ResiliencePolicy(
            breaker: breaker,
            retry: RetryPolicy(attempts: 2, backoff: .none),
            attemptTimeout: .seconds(1)
        )
        let (attempts, clock) = (OrderRecorder<Duration>(), clock)
        let call = Task {
            try await withPolicy(policy, clock: clock) {
                attempts.record(clock.now.offset)
                try await Gate().wait()
            }
        }
        await clock.advance(by: .seconds(1), waking: 1)
        await clock.advance(by: .seconds(1), waking: 1)
        await #expect(throws: TimeoutError.self) { try await call.value }
        #expect(attempts.events == [.zero, .seconds(1)])
        #expect(breaker.state != .closed, "a call that hangs is a failure")
    }

    @Test func aHedgeHasRetriesOfItsOwn() async throws {
        let budget = RetryBudget(capacity: 100, cost: 20)
        let policy = ResiliencePolicy(
            hedging: ResiliencePolicy.Hedging(after: .fixed(.seconds(1)), budget: budget),
            retry: RetryPolicy(attempts: 2, backoff: .none, budget: nil)
        )
        let (attempts, clock) = (OrderRecorder<Duration>(), clock)
        let call = Task {
            try await withPolicy(policy, clock: clock) {
                attempts.record(clock.now.offset)
                if attempts.events.count == 1 { try await Gate().wait() }
                if attempts.events.count == 2 { throw MarkedError() }
            }
        }
        try await attempts.waitForEvents(count: 1)
        await clock.advance(by: .seconds(1), waking: 1)
        try await call.value
        #expect(attempts.events == [.zero, .seconds(1), .seconds(1)])
        #expect(budget.available == 100 - 20 + 1)
    }

    /// The budgets of the other parts are not used.
    @Test func theThrottlePaysForHedgesAndRetries() async throws {
        let throttle = ClientThrottle(budget: .init(capacity: 100, cost: 20), clock: clock)
        let (other, clock) = (RetryBudget(capacity: 100), clock)
        let policy = ResiliencePolicy(
            throttle: throttle,
            hedging: ResiliencePolicy.Hedging(after: .fixed(.seconds(1)), budget: other),
            retry: RetryPolicy(attempts: 2, backoff: .none, budget: other)
        )
        let attempts = OrderRecorder<Int>()
        let call = Task {
            try await withPolicy(policy, clock: clock) {
                attempts.record(1)
                if attempts.events.count == 1 { throw MarkedError() }
                if attempts.events.count == 2 { try await Gate().wait() }
            }
        }
        try await attempts.waitForEvents(count: 2)
        await clock.advance(by: .seconds(1), waking: 1)
        try await call.value
        // A retry and a hedge. Success returns the cost of a retry to the attempt that made it, which was cancelled, so 1 token per winner and call.
        #expect(throttle.budget.available == 100 - 2 * 20 + 2)
        #expect(other.available == 100)
    }

    @Test func theStandardPolicyLetsCallsPass() async throws {
        let policy = ResiliencePolicy.standard(name: "search", clock: clock)
        #expect(try await withPolicy(policy, clock: clock) { 1 } == 1)
        #expect(policy.throttle?.name == "search" && policy.breaker?.name == "search")
        #expect(policy.attemptTimeout == .seconds(10) && policy.retry?.attempts == 3)
        #expect(clock.sleeperCount == 0)
    }

    @Test func theOperationRunsInTheCallersIsolation() async throws {
        @MainActor func call(_ policy: ResiliencePolicy) async throws {
            try await withPolicy(policy, clock: clock) { MainActor.assertIsolated() }
        }
        try await call(ResiliencePolicy())
        var policy = ResiliencePolicy.standard(clock: clock)
        policy.hedging = ResiliencePolicy.Hedging(after: .fixed(.seconds(60)))
        try await call(policy)
    }
}
