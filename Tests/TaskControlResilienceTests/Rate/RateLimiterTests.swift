import TaskControl
import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControlResilience

@Suite(.timeLimit(.minutes(15)))
struct RateLimiterTests {
    private let clock = TestClock()

    private func limiter(rate: Int = 2, burst: Int = 1) -> RateLimiter {
        RateLimiter(name: "mail", rate: rate, burst: burst, clock: clock)
    }

    @Test func aBurstPassesAndTheRestWaits() async throws {
        let limiter = limiter(burst: 3)
        for left in [2, 1, 0] {
            try await limiter.acquire()
            #expect(limiter.available == left)
        }
        #expect(!limiter.tryAcquire())
        let caller = Task { try await limiter.acquire() }
        try await clock.waitForSleepers(count: 1)
        await clock.advance(by: .milliseconds(500), waking: 1)
        try await caller.value
        await clock.advance(by: .seconds(60))
        #expect(limiter.available == 3, "the bucket holds no more")
    }

    @Test func aWaitBeyondTheDeadlineIsRefusedAtOnce() async throws {
        let limiter = limiter()
        try await limiter.acquire()
        // The next token is there in half a second.
        await #expect(throws: CallRefusedError.self) {
            try await withDeadline(in: .milliseconds(499), clock: clock) { try await limiter.acquire() }
        }
        let caller = Task {
            try await withDeadline(in: .milliseconds(501), clock: clock) { try await limiter.acquire() }
        }
        try await clock.waitForSleepers(count: 2)
        await clock.advance(by: .milliseconds(500))
        try await caller.value
    }

    /// Waits until callers wait for a limiter.
    private func waitForCallers(_ count: Int, in events: OrderRecorder<TaskEvent>) async throws {
        try await events.wait { $0.count { $0.name == "RateLimiter.waiting" } == count }
    }

    @Test func callersAreAdmittedInTheOrderOfTheirCalls() async throws {
        try await EventLog.recording { events in
            let (limiter, order) = (limiter(), OrderRecorder<String>())
            try await limiter.acquire()
            var callers: [Task<Void, any Error>] = []
            for number in 1...4 {
                callers.append(
                    Task {
                        try await limiter.acquire()
                        order.record("\(number) at \(clock.now)")
                    }
                )
                try await waitForCallers(number, in: events)
            }
            for caller in callers {
                try await clock.waitForSleepers(count: 1)
                await clock.advance(by: .milliseconds(500), waking: 1)
                try await caller.value
            }
            #expect(order.events == ["1 at 0.5 seconds", "2 at 1.0 seconds", "3 at 1.5 seconds", "4 at 2.0 seconds"])
        }
    }

    @Test func aWaitThatIsTooLongIsRefusedAtOnce() async throws {
        let limiter = limiter()
        try await limiter.acquire(3)
        let error = await #expect(throws: CallRefusedError.self) {
            try await limiter.acquire(within: .milliseconds(1_499))
        }
        #expect(error == CallRefusedError(.rateExceeded, name: "mail", retryAfter: .milliseconds(1_500)))
        #expect(
            error?.description
                == "the call was refused by mail: the wait for the rate limit would be too long; a call is admitted in 1.5 seconds"
        )
        let caller = Task { try await limiter.acquire(within: .milliseconds(1_500)) }
        try await clock.waitForSleepers(count: 1)
        await clock.advance(by: .milliseconds(1_500), waking: 1)
        try await caller.value
    }

    @Test func retryComesBackWhenTheLimiterAdmitsTheCall() async throws {
        let clock = TestClock(advancesAutomatically: true)
        let limiter = RateLimiter(rate: 1, clock: clock)
        try await limiter.acquire()
        try await retry(attempts: 2, backoff: .none, clock: clock) {
            try await limiter.acquire(within: .zero)
        }
        #expect(clock.now.offset == .seconds(1))
    }

    @Test func aCallerThatLeavesTakesNothing() async throws {
        try await EventLog.recording { events in
            let limiter = limiter()
            try await limiter.acquire()
            let first = Task { try await limiter.acquire(100) }
            try await waitForCallers(1, in: events)
            let second = Task { try await limiter.acquire() }
            try await waitForCallers(2, in: events)
            first.cancel()
            await #expect(throws: CancellationError.self) { try await first.value }
            try await clock.waitForSleepers(count: 1)
            await clock.advance(by: .milliseconds(500), waking: 1)
            try await second.value
            #expect(clock.now.offset == .milliseconds(500))
        }
    }

    @Test func aCancelledCallerTakesNothing() async {
        let limiter = limiter()
        let caller = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await limiter.acquire()
        }
        await #expect(throws: CancellationError.self) { try await caller.value }
        #expect(limiter.available == 1)
    }

    @Test func moreThanTheBucketHoldsIsTakenFromAFullBucket() async throws {
        let limiter = limiter(burst: 2)
        try await limiter.acquire(6)
        await #expect(throws: CallRefusedError(.rateExceeded, name: "mail", retryAfter: .milliseconds(2_500))) {
            try await limiter.acquire(within: .zero)
        }
    }

    @Test(arguments: [0, -1, Int.min])
    func nothingIsTakenForNoWeight(weight: Int) async throws {
        let limiter = limiter()
        try await limiter.acquire(weight)
        #expect(limiter.tryAcquire(weight))
        #expect(limiter.available == 1)
    }

    @Test func theBurstIsTheRateByDefault() {
        #expect(RateLimiter(rate: 7).available == 7)
        #expect(RateLimiter(rate: .max, per: .nanoseconds(1)).available > 0)
        #expect(RateLimiter(rate: 1, per: .seconds(Int64.max), burst: .max).available > 0)
    }

    @Test func aLimiterReportsWhatItDoes() async throws {
        let events = try await EventLog.events {
            let limiter = limiter()
            try await limiter.acquire()
            _ = limiter.tryAcquire()
            try? await limiter.acquire(within: .zero)
            let caller = Task { try await limiter.acquire() }
            try await clock.waitForSleepers(count: 1)
            await clock.advance(by: .milliseconds(500), waking: 1)
            try await caller.value
            let leaver = Task { try await limiter.acquire() }
            try await clock.waitForSleepers(count: 1)
            leaver.cancel()
            _ = await leaver.result
        }
        let own = events.filter { $0.primitive == .rateLimiter }
        #expect(
            own.lines == [
                "RateLimiter.created name=mail", "RateLimiter.tokensTaken name=mail count=1",
                "RateLimiter.callRefused name=mail count=1",
                "RateLimiter.callRefused name=mail count=1 delay=0.5 seconds",
                "RateLimiter.waiting name=mail count=1", "RateLimiter.tokensTaken name=mail count=1",
                "RateLimiter.waiting name=mail count=1", "RateLimiter.left name=mail count=1 cancelled=true",
                "RateLimiter.deallocated name=mail",
            ]
        )
        #expect(own.unpaired == [])
    }
}
