import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl
@testable import TaskControlResilience

/// The permits and the time of a call that waits for a part, or for its next attempt.
@Suite(.timeLimit(.minutes(15)))
struct OrderOfPartsTests {
    private let clock = TestClock()

    private func breaker(_ minimumCalls: Int = 1, slowCall: Duration? = nil) -> CircuitBreaker {
        CircuitBreaker(
            failureThreshold: 0.5,
            window: .seconds(1_000),
            minimumCalls: minimumCalls,
            openDuration: .seconds(5),
            slowCall: slowCall,
            clock: clock
        )
    }

    /// Waits until a semaphore has a number of waiters.
    private func wait(for count: Int, at permits: AsyncSemaphore) async throws {
        try await TestSupport.wait(forBooksOf: permits.source.number) { count - permits.waiterCount }
    }

    private func open(_ breaker: CircuitBreaker) async {
        await #expect(throws: MarkedError.self) { try await withPolicy(breaker) { throw MarkedError() } }
        #expect(breaker.state == .open(retryAfter: .seconds(5)))
    }

    @Test func aCallHoldsNoPermitBetweenItsAttempts() async throws {
        let permits = AsyncSemaphore(value: 1)
        let policy = ResiliencePolicy(
            retry: RetryPolicy(attempts: 2, backoff: .fixed(.seconds(10)), budget: nil),
            permits: permits
        )
        let (attempts, clock) = (OrderRecorder<Int>(), clock)
        let call = Task {
            try await withPolicy(policy, clock: clock) {
                #expect(permits.available == 0)
                attempts.record(1)
                if attempts.count == 1 { throw MarkedError() }
            }
        }
        try await clock.waitForSleepers(count: 1)
        #expect(permits.available == 1)
        try await withPolicy(policy, clock: clock) { #expect(permits.available == 0) }
        await clock.advance(by: .seconds(10), waking: 1)
        try await call.value
        #expect(attempts.count == 2 && permits.available == 1)
    }

    @Test func aPartAroundTheCallIsHeldBetweenItsAttempts() async throws {
        let permits = AsyncSemaphore(value: 1)
        let policy = ResiliencePolicy(
            callParts: [permits],
            retry: RetryPolicy(attempts: 2, backoff: .fixed(.seconds(10)), budget: nil)
        )
        let (attempts, clock) = (OrderRecorder<Int>(), clock)
        let call = Task {
            try await withPolicy(policy, clock: clock) {
                attempts.record(1)
                if attempts.count == 1 { throw MarkedError() }
            }
        }
        try await clock.waitForSleepers(count: 1)
        #expect(permits.available == 0)
        await clock.advance(by: .seconds(10), waking: 1)
        try await call.value
        #expect(permits.available == 1)
    }

    @Test func eachHedgeTakesAPermitOfItsOwn() async throws {
        let permits = AsyncSemaphore(value: 2)
        let policy = ResiliencePolicy(
            breaker: breaker(),
            hedging: ResiliencePolicy.Hedging(after: .fixed(.seconds(1))),
            permits: permits
        )
        let (attempts, clock) = (OrderRecorder<Int>(), clock)
        let call = Task {
            try await withPolicy(policy, clock: clock) {
                attempts.record(permits.available)
                if attempts.count == 1 { try await Gate().wait() }
            }
        }
        try await attempts.waitForEvents(count: 1)
        await clock.advance(by: .seconds(1), waking: 1)
        try await call.value
        #expect(attempts.events == [1, 0] && permits.available == 2)
    }

    // MARK: The breaker

    /// With a time limit, which needs a child task, and with hedging, whose attempts run at the same time.
    @Test(arguments: [nil, Duration.seconds(60)], [false, true])
    func anAttemptWhoseWaitEndsWhileTheBreakerRefusesIsNotSent(_ timeout: Duration?, _ isHedged: Bool) async throws {
        let (permits, breaker) = (AsyncSemaphore(value: 1), breaker())
        try await permits.acquire()
        let policy = ResiliencePolicy(
            breaker: breaker,
            hedging: isHedged ? ResiliencePolicy.Hedging(after: .fixed(.seconds(60)), shouldHedge: { _ in true }) : nil,
            retry: RetryPolicy(attempts: 3, backoff: .none, budget: nil, shouldRetry: { _ in true }),
            permits: permits,
            attemptTimeout: timeout
        )
        let call = Task { [clock] in
            try await withPolicy(policy, clock: clock) { Issue.record("The operation begins.") }
        }
        try await wait(for: 1, at: permits)
        await open(breaker)
        permits.release()
        await #expect(throws: CallRefusedError(.circuitOpen, retryAfter: .seconds(5))) { try await call.value }
        #expect(permits.available == 1)
    }

    @Test func aRetryWhoseWaitEndsWhileTheBreakerRefusesIsNotSent() async throws {
        let (permits, breaker) = (AsyncSemaphore(value: 1), breaker())
        let policy = ResiliencePolicy(
            breaker: breaker,
            retry: RetryPolicy(attempts: 5, backoff: .fixed(.seconds(1)), budget: nil, shouldRetry: { _ in true }),
            permits: permits
        )
        let (attempts, clock) = (OrderRecorder<Int>(), clock)
        let call = Task {
            try await withPolicy(policy, clock: clock) {
                attempts.record(1)
                throw MarkedError()
            }
        }
        try await clock.waitForSleepers(count: 1)
        try await permits.acquire()
        await clock.advance(by: .seconds(1), waking: 1)
        try await wait(for: 1, at: permits)
        await open(breaker)
        permits.release()
        await #expect(throws: CallRefusedError.self) { try await call.value }
        #expect(attempts.count == 1)
    }

    @Test func anAttemptThatNeedNotWaitIsSentAlthoughTheBreakerHasOpened() async throws {
        let breaker = breaker()
        let policy = ResiliencePolicy(
            breaker: breaker,
            retry: RetryPolicy(attempts: 2, backoff: .fixed(.seconds(1)), budget: nil),
            permits: AsyncSemaphore(value: 1)
        )
        let (attempts, clock) = (OrderRecorder<Int>(), clock)
        let call = Task {
            try await withPolicy(policy, clock: clock) {
                attempts.record(1)
                if attempts.count == 1 { throw MarkedError() }
            }
        }
        try await clock.waitForSleepers(count: 1)
        await open(breaker)
        await clock.advance(by: .seconds(1), waking: 1)
        try await call.value
        #expect(attempts.count == 2)
    }

    @Test func aCallThatTheBreakerRefusesDoesNotWaitForAPermit() async throws {
        let (permits, breaker) = (AsyncSemaphore(value: 1), breaker())
        try await permits.acquire()
        await open(breaker)
        let policy = ResiliencePolicy(breaker: breaker, permits: permits)
        await #expect(throws: CallRefusedError(.circuitOpen, retryAfter: .seconds(5))) {
            try await withPolicy(policy) { Issue.record("The operation begins.") }
        }
        #expect(permits.available == 0)
    }

    @Test func aProbeTakesItsPermitBeforeItCountsAsRunning() async throws {
        let (permits, breaker) = (AsyncSemaphore(value: 1), breaker())
        await open(breaker)
        await clock.advance(by: .seconds(5))
        try await permits.acquire()
        let policy = ResiliencePolicy(breaker: breaker, permits: permits)
        // More callers than there are probes, and than the number of probes without a verdict that closes a circuit.
        let calls = (0..<4).map { _ in Task { try await withPolicy(policy) {} } }
        try await wait(for: 4, at: permits)
        #expect(breaker.state == .open(retryAfter: .zero))
        for call in calls {
            call.cancel()
            await #expect(throws: CancellationError.self) { try await call.value }
        }
        #expect(breaker.state == .open(retryAfter: .zero), "who left without a permit was no probe")
        permits.release()
        try await withPolicy(policy) { #expect(breaker.state == .halfOpen) }
        #expect(breaker.state == .closed)
    }

    @Test func aProbeAndItsHedgeAreOneCall() async throws {
        let breaker = breaker()
        await open(breaker)
        await clock.advance(by: .seconds(5))
        let policy = ResiliencePolicy(breaker: breaker, hedging: ResiliencePolicy.Hedging(after: .fixed(.seconds(1))))
        let (attempts, clock) = (OrderRecorder<Int>(), clock)
        let call = Task {
            try await withPolicy(policy, clock: clock) {
                attempts.record(1)
                if attempts.count == 1 { try await Gate().wait() }
            }
        }
        try await attempts.waitForEvents(count: 1)
        await clock.advance(by: .seconds(1), waking: 1)
        try await call.value
        #expect(attempts.count == 2 && breaker.state == .closed)
    }

    @Test func aProbeThatWaitedLongerForItsTokenThanItsTimeIsAskedAgain() async throws {
        let breaker = breaker()
        let rate = RateLimiter(rate: 1, per: .seconds(10), burst: 1, clock: clock)
        await open(breaker)
        await clock.advance(by: .seconds(5))
        #expect(rate.tryAcquire())
        let policy = ResiliencePolicy(breaker: breaker, rate: rate)
        let call = Task { try await withPolicy(policy) { Issue.record("The operation begins.") } }
        try await clock.waitForSleepers(count: 1)
        #expect(breaker.state == .halfOpen)
        await clock.advance(by: .seconds(6))
        let gate = Gate()
        let probe = Task { try await withPolicy(breaker) { try await gate.wait() } }
        try await gate.waitForWaiters()
        await clock.advance(by: .seconds(4), waking: 1)
        await #expect(throws: CallRefusedError.self) { try await call.value }
        gate.open()
        try await probe.value
        #expect(breaker.state == .closed)
    }

    /// As many as close a circuit if they end without a verdict.
    @Test func aProbeThatMadeNoAttemptSaysNothing() async throws {
        let breaker = breaker()
        let rate = RateLimiter(rate: 1, per: .seconds(100), burst: 1, clock: clock)
        await open(breaker)
        await clock.advance(by: .seconds(5))
        #expect(rate.tryAcquire())
        let policy = ResiliencePolicy(breaker: breaker, rate: rate)
        for _ in 0..<4 {
            await #expect(throws: CallRefusedError(.rateExceeded, retryAfter: .seconds(100))) {
                try await withDeadline(in: .seconds(5), clock: clock) { try await withPolicy(policy) {} }
            }
        }
        #expect(breaker.state == .open(retryAfter: .zero))
    }

    @Test func aProbeWhoseRetryIsRefusedIsCountedByTheAttemptThatItMade() async throws {
        let (permits, breaker) = (AsyncSemaphore(value: 1), breaker())
        await open(breaker)
        await clock.advance(by: .seconds(5))
        let policy = ResiliencePolicy(
            breaker: breaker,
            retry: RetryPolicy(attempts: 2, backoff: .fixed(.seconds(6)), budget: nil),
            permits: permits
        )
        let call = Task { [clock] in try await withPolicy(policy, clock: clock) { throw MarkedError() } }
        try await clock.waitForSleepers(count: 1)
        try await permits.acquire()
        await clock.advance(by: .seconds(6), waking: 1)
        try await wait(for: 1, at: permits)
        let gate = Gate()
        let probe = Task { try await withPolicy(breaker) { try await gate.wait() } }
        try await gate.waitForWaiters()
        permits.release()
        await #expect(throws: CallRefusedError.self) { try await call.value }
        gate.open()
        try await probe.value
    }

    // MARK: The time of the service

    @Test func aWaitForAPartAroundTheCallIsNoTimeOfTheService() async throws {
        let (turns, breaker) = (AsyncSemaphore(value: 1), breaker(1, slowCall: .seconds(2)))
        let policy = ResiliencePolicy(callParts: [turns], breaker: breaker)
        try await turns.acquire()
        let call = Task { [clock] in try await withPolicy(policy) { await clock.advance(by: .seconds(1)) } }
        try await wait(for: 1, at: turns)
        await clock.advance(by: .seconds(10))
        turns.release()
        try await call.value
        #expect(breaker.state == .closed)
    }

    @Test func waitsAndDelaysAreNotTimeOfTheService() async throws {
        let (permits, breaker) = (AsyncSemaphore(value: 1), breaker(4, slowCall: .seconds(2)))
        let policy = ResiliencePolicy(
            breaker: breaker,
            retry: RetryPolicy(attempts: 2, backoff: .fixed(.seconds(10)), budget: nil),
            permits: permits
        )
        let clock = clock
        for isSlow in [false, false, true, true] {
            try await permits.acquire()
            let attempts = OrderRecorder<Int>()
            let call = Task {
                try await withPolicy(policy, clock: clock) {
                    attempts.record(1)
                    await clock.advance(by: isSlow ? .seconds(1) : .milliseconds(999))
                    if attempts.count == 1 { throw MarkedError() }
                }
            }
            try await wait(for: 1, at: permits)
            await clock.advance(by: .seconds(10))
            permits.release()
            try await attempts.waitForEvents(count: 1)
            try await clock.waitForSleepers(count: 1)
            await clock.advance(by: .seconds(10))
            try await call.value
            if !isSlow { #expect(breaker.state == .closed) }
        }
        #expect(breaker.state != .closed, "two attempts of a second each")
    }
}

/// Calls that end before the service answers.
@Suite(.timeLimit(.minutes(15)), .enabled(if: Simulation.isSupported))
struct UnansweredCallTests {
    private static let calls = 300

    /// The parts around the operation, and the number of calls after which it is certain that the service hangs.
    private static func policies() -> [(ResiliencePolicy, minimumCalls: Int)] {
        var limited = ResiliencePolicy.standard()
        limited.permits = AsyncSemaphore(value: 1_000)
        var hedged = ResiliencePolicy.standard()
        hedged.hedging = ResiliencePolicy.Hedging(after: .fixed(.milliseconds(100)))
        let alone = ResiliencePolicy(breaker: CircuitBreaker(failureThreshold: 0.5, minimumCalls: 20))
        return [(.standard(), 100), (limited, 100), (hedged, 100), (alone, 20)]
    }

    @Test(arguments: [true, false])
    func aBreakerOpensAgainstCallsThatHangUntilALimitAroundIt(_ isDeadline: Bool) async throws {
        try await offThePool {
            try simulate(seeds: 0..<2) { sim in
                for (policy, minimumCalls) in Self.policies() {
                    await withTaskGroup { group in
                        for _ in 0..<minimumCalls - 1 { group.addTask { await Self.hang(policy, isDeadline) } }
                    }
                    sim.expect(policy.breaker?.state == .closed)
                    await Self.hang(policy, isDeadline)
                    guard case .open? = policy.breaker?.state else { return sim.expect(false) }
                }
            }
        }
    }

    /// In a task of `async let`, whose cause of cancellation is not known, and in the task of `withDetachedTimeout`.
    @Test(arguments: [true, false])
    func aBreakerOpensAlsoInAnotherTaskThanThatOfTheLimit(_ isDeadline: Bool) async throws {
        try await offThePool {
            try simulate(seeds: 0..<2) { sim in
                let policy = ResiliencePolicy(breaker: CircuitBreaker(failureThreshold: 0.5, minimumCalls: 10))
                for _ in 0..<10 {
                    sim.expect(policy.breaker?.state == .closed)
                    if isDeadline {
                        try? await withDeadline(in: .seconds(2)) {
                            async let value: Void = withPolicy(policy) { try await Self.hang() }
                            try await value
                        }
                    } else {
                        try? await withDetachedTimeout(.seconds(2)) {
                            try await withPolicy(policy) { try await Self.hang() }
                        }
                        // The work is no longer awaited.
                        try await Task.sleep(for: .milliseconds(1))
                    }
                }
                sim.expect(policy.breaker?.state != .closed)
            }
        }
    }

    /// A task that waits for another permit does not speak for those that hang.
    @Test func aBreakerAloneOpensAgainstCallsThatHangBesideOneThatWaits() async throws {
        try await offThePool {
            try simulate(seeds: 0..<2) { sim in
                let breaker = CircuitBreaker(failureThreshold: 0.5, minimumCalls: 4)
                let permits = AsyncSemaphore(value: 1)
                try await permits.acquire()
                try? await withDeadline(in: .seconds(2)) {
                    try await withHedging(after: .fixed(.milliseconds(100)), maxHedges: 1, budget: RetryBudget()) {
                        if permits.waiterCount == 0 { return try await permits.acquire() }
                        for _ in 0..<4 {
                            try? await withTimeout(.milliseconds(300)) {
                                try await withPolicy(breaker) { try await Self.hang() }
                            }
                        }
                        try await Self.hang()
                    }
                }
                sim.expect(breaker.state != .closed)
            }
        }
    }

    @Test func aBreakerAloneOpensAgainstThem() async throws {
        try await offThePool {
            try simulate(seeds: 0..<2) { _ in
                let breaker = CircuitBreaker(failureThreshold: 0.5, minimumCalls: 10)
                for _ in 0..<10 {
                    await #expect(throws: DeadlineExceededError.self) {
                        try await withDeadline(in: .seconds(2)) {
                            try await withPolicy(breaker) { try await Self.hang() }
                        }
                    }
                }
                #expect(breaker.state != .closed)
            }
        }
    }

    @Test(arguments: [nil, Duration.milliseconds(1)])
    func callsThatTheirCallersCancelSayNothing(_ slowCall: Duration?) async throws {
        try await offThePool {
            try simulate(seeds: 0..<2) { _ in
                for retry in [nil, RetryPolicy(budget: nil)] {
                    let breaker = CircuitBreaker(failureThreshold: 0.01, minimumCalls: 1, slowCall: slowCall)
                    let policy = ResiliencePolicy(breaker: breaker, retry: retry)
                    for _ in 0..<Self.calls {
                        let call = Task {
                            try await withDeadline(in: .seconds(2)) {
                                try await withPolicy(policy) { try await Self.hang() }
                            }
                        }
                        try await Task.sleep(for: .seconds(1))
                        call.cancel()
                        await #expect(throws: CancellationError.self) { try await call.value }
                    }
                    #expect(breaker.state == .closed)
                }
            }
        }
    }

    @Test(arguments: [nil, Duration.seconds(10)])
    func callsThatOnlyWaitedForAPermitSayNothing(_ timeout: Duration?) async throws {
        try await offThePool {
            try simulate(seeds: 0..<2) { _ in
                let breaker = CircuitBreaker(failureThreshold: 0.01, minimumCalls: 1, slowCall: .seconds(1))
                let permits = AsyncSemaphore(value: 1)
                let policy = ResiliencePolicy(
                    breaker: breaker,
                    retry: RetryPolicy(budget: nil),
                    permits: permits,
                    attemptTimeout: timeout
                )
                try await permits.acquire()
                for _ in 0..<Self.calls {
                    await #expect(throws: DeadlineExceededError.self) {
                        try await withDeadline(in: .seconds(2)) { try await withPolicy(policy) {} }
                    }
                }
                #expect(breaker.state == .closed)
            }
        }
    }

    /// The parts are put together by hand, so that the breaker does not know of the waits.
    @Test func callsThatOnlyWaitedForAPermitInTheirOperationSayNothing() async throws {
        try await offThePool {
            try simulate(seeds: 0..<2) { _ in
                let breaker = CircuitBreaker(failureThreshold: 0.01, minimumCalls: 1)
                let (permits, rate) = (AsyncSemaphore(value: 1), RateLimiter(rate: 1, per: .seconds(3_600)))
                try await permits.acquire()
                #expect(rate.tryAcquire())
                for number in 0..<Self.calls {
                    _ = try? await withDeadline(in: .seconds(2)) {
                        try await withPolicy(breaker) {
                            try await retry(attempts: 3) {
                                try await withTimeout(.seconds(10)) {
                                    if number.isMultiple(of: 2) {
                                        try await permits.acquire()
                                    } else {
                                        try await withoutDeadline { try await rate.acquire() }
                                    }
                                }
                            }
                        }
                    }
                    #expect(breaker.state == .closed)
                }
            }
        }
    }

    /// The service gets less than half of the time of a call that waited for its permit.
    @Test(arguments: [(Duration.milliseconds(1_001), false), (.milliseconds(999), true)])
    func aCallCountsIfTheServiceHadHalfOfItsTime(_ wait: Duration, _ counts: Bool) async throws {
        try await offThePool {
            try simulate(seeds: 0..<2) { _ in
                let breaker = CircuitBreaker(failureThreshold: 0.01, minimumCalls: 1)
                let permits = AsyncSemaphore(value: 1)
                let policy = ResiliencePolicy(breaker: breaker, permits: permits)
                try await permits.acquire()
                async let release: Void = {
                    try await Task.sleep(for: wait)
                    permits.release()
                }()
                await #expect(throws: DeadlineExceededError.self) {
                    try await withDeadline(in: .seconds(2)) { try await withPolicy(policy) { try await Self.hang() } }
                }
                try await release
                #expect((breaker.state != .closed) == counts)
            }
        }
    }

    private static func hang(_ policy: ResiliencePolicy, _ isDeadline: Bool) async {
        do {
            if isDeadline {
                try await withDeadline(in: .seconds(2)) { try await withPolicy(policy) { try await hang() } }
            } else {
                try await withTimeout(.seconds(2)) { try await withPolicy(policy) { try await hang() } }
            }
            Issue.record("The call succeeds.")
        } catch {
            #expect(error is DeadlineExceededError || error is TimeoutError)
        }
    }

    private static func hang() async throws { try await Task.sleep(for: .seconds(3_600)) }
}
