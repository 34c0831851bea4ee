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

    @Test func anAttemptTakesItsTokenWhenItHasItsPermitAndIsNotRefused() async throws {
        let concurrency = AsyncSemaphore(value: 1)
        let rate = RateLimiter(rate: 1, burst: 2, clock: clock)
        let breaker = CircuitBreaker(failureThreshold: 1, minimumCalls: 1, openDuration: .seconds(2), clock: clock)
        let policy = ResiliencePolicy(breaker: breaker, permits: concurrency, rate: rate)
        await #expect(throws: MarkedError.self) { try await withPolicy(policy) { throw MarkedError() } }
        #expect(rate.available == 1)
        await #expect(throws: CallRefusedError.self) { try await withPolicy(policy) {} }
        #expect(rate.available == 1, "a call that the breaker refuses takes no token")
        try await concurrency.acquire()
        await clock.advance(by: .seconds(2))
        let call = Task { [clock] in
            try await withDeadline(in: .seconds(1), clock: clock) { try await withPolicy(policy) {} }
        }
        await clock.advance(by: .seconds(1), waking: 1)
        await #expect(throws: DeadlineExceededError.self) { try await call.value }
        #expect(rate.available == 2, "the token is taken after the permit")
        concurrency.release()
        #expect(concurrency.available == 1)
    }

    // MARK: Attempts

    @Test func eachAttemptTakesAToken() async throws {
        let rate = RateLimiter(rate: 3, burst: 3, clock: clock)
        let policy = ResiliencePolicy(retry: RetryPolicy(attempts: 5, backoff: .none, budget: nil), rate: rate)
        let (sent, clock) = (OrderRecorder<Duration>(), clock)
        let call = Task {
            try await withPolicy(policy, clock: clock) {
                sent.record(clock.now.offset)
                throw MarkedError()
            }
        }
        try await sent.waitForEvents(count: 3)
        for _ in 0..<2 { await clock.advance(by: .seconds(1) / 3, waking: 1) }
        await #expect(throws: MarkedError.self) { try await call.value }
        let third = Duration.seconds(1) / 3
        let times: [Duration] = [.zero, .zero, .zero, third, third * 2]
        #expect(sent.events == times)
    }

    @Test func eachHedgeTakesAToken() async throws {
        let rate = RateLimiter(rate: 1, per: .seconds(10), burst: 1, clock: clock)
        let budget = RetryBudget()
        let policy = ResiliencePolicy(
            hedging: ResiliencePolicy.Hedging(after: .fixed(.seconds(1)), budget: budget),
            rate: rate
        )
        let (sent, clock) = (OrderRecorder<Duration>(), clock)
        let call = Task {
            try await withPolicy(policy, clock: clock) {
                sent.record(clock.now.offset)
                if sent.events.count == 1 { try await Gate().wait() }
            }
        }
        try await sent.waitForEvents(count: 1)
        await clock.advance(by: .seconds(1), waking: 1)
        await clock.advance(by: .seconds(9), waking: 1)
        try await call.value
        #expect(sent.events == [.zero, .seconds(10)])
    }

    @Test func theWaitForATokenIsNoPartOfTheTimeOfAnAttempt() async throws {
        let rate = RateLimiter(rate: 1, per: .seconds(10), burst: 1, clock: clock)
        let breaker = CircuitBreaker(failureThreshold: 1, minimumCalls: 1, clock: clock)
        let policy = ResiliencePolicy(breaker: breaker, rate: rate, attemptTimeout: .seconds(1))
        #expect(rate.tryAcquire())
        let call = Task { [clock] in try await withPolicy(policy, clock: clock) { clock.now.offset } }
        await clock.advance(by: .seconds(10), waking: 1)
        #expect(try await call.value == .seconds(10))
        #expect(breaker.state == .closed)
    }

    @Test(arguments: [nil, Duration.seconds(1)])
    func anAttemptWithoutATokenInTimeSaysNothingAboutTheService(_ timeout: Duration?) async throws {
        let rate = RateLimiter(name: "mail", rate: 1, per: .seconds(10), burst: 1, clock: clock)
        let breaker = CircuitBreaker(failureThreshold: 1, minimumCalls: 1, clock: clock)
        let policy = ResiliencePolicy(
            breaker: breaker,
            retry: RetryPolicy(attempts: 3, backoff: .none),
            rate: rate,
            attemptTimeout: timeout
        )
        #expect(rate.tryAcquire())
        await #expect(throws: CallRefusedError(.rateExceeded, name: "mail", retryAfter: .seconds(10))) {
            try await withDeadline(in: .seconds(5), clock: clock) { try await withPolicy(policy, clock: clock) {} }
        }
        await #expect(throws: MarkedError.self) { try await withPolicy(breaker) { throw MarkedError() } }
        #expect(breaker.state != .closed, "the call before does not count as a success")
    }

    /// The hedge would be made after the deadline, and the primary continues.
    @Test func aHedgeThatIsRefusedDoesNotEndTheCall() async throws {
        let rate = RateLimiter(rate: 1, per: .seconds(100), burst: 1, clock: clock)
        let policy = ResiliencePolicy(
            hedging: ResiliencePolicy.Hedging(after: .fixed(.seconds(1)), shouldHedge: { _ in false }),
            rate: rate
        )
        let (gate, clock) = (Gate(), clock)
        let call = Task {
            try await withDeadline(in: .seconds(50), clock: clock) {
                try await withPolicy(policy, clock: clock) { try await gate.wait() }
            }
        }
        try await gate.waitForWaiters()
        try await clock.waitForSleepers(count: 2)
        await clock.advance(by: .seconds(1), waking: 1)
        gate.open()
        try await call.value
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

    @Test func theStandardPolicyLetsCallsPass() async throws {
        let policy = ResiliencePolicy.standard(name: "search", clock: clock)
        #expect(try await withPolicy(policy, clock: clock) { 1 } == 1)
        #expect(policy.breaker?.name == "search")
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
