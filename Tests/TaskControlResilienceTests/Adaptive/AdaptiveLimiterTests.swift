import TaskControl
import TaskControlResilience
import TaskControlTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(15)))
struct AdaptiveLimiterTests {
    private let clock = TestClock()

    private func limiter(_ limit: Int, _ random: @escaping @Sendable () -> Double = { 0.9 }) -> AdaptiveLimiter {
        AdaptiveLimiter(name: "search", maximum: max(limit, 20), initial: limit, clock: clock, random: random)
    }

    /// Begins calls that run until the gate opens.
    private func begin(_ count: Int, _ limiter: AdaptiveLimiter, _ gate: Gate) async throws -> [Task<Void, any Error>] {
        let started = OrderRecorder<Int>()
        let calls = (0..<count).map { number in
            Task {
                try await limiter.run {
                    started.record(number)
                    try await gate.wait()
                }
            }
        }
        try await started.waitForEvents(count: count)
        return calls
    }

    @Test func theDefaultsAreThoseOfFailsafe() {
        let limiter = AdaptiveLimiter()
        #expect(limiter.limit == 20 && limiter.running == 0 && limiter.waiterCount == 0 && limiter.name == nil)
        #expect(AdaptiveLimiter(maximum: 5).limit == 5)
        #expect(AdaptiveLimiter(minimum: 30).limit == 30)
    }

    @Test func theValueOrTheErrorOfTheOperationIsPassedOn() async throws {
        let limiter = limiter(1)
        #expect(try await limiter.run { 1 } == 1)
        await #expect(throws: MarkedError("once")) { try await limiter.run { throw MarkedError("once") } }
        #expect(limiter.running == 0)
    }

    @Test func aCallBeyondTheLimitWaits() async throws {
        try await EventLog.recording { events in
            let (limiter, gate, order) = (limiter(2), Gate(), OrderRecorder<Int>())
            let calls = try await begin(2, limiter, gate)
            #expect(limiter.running == 2)
            var waiters: [Task<Void, any Error>] = []
            for number in 1...3 {
                waiters.append(Task { try await limiter.run { order.record(number) } })
                try await events.wait { $0.count { $0.name == "AdaptiveLimiter.waiting" } == number }
            }
            #expect(limiter.waiterCount == 3)
            gate.open()
            for call in calls + waiters { try await call.value }
            #expect(order.events.sorted() == [1, 2, 3])
            #expect(limiter.running == 0 && limiter.waiterCount == 0)
        }
    }

    @Test func aCancelledCallerLeavesTheLine() async throws {
        try await EventLog.recording { events in
            let (limiter, gate) = (limiter(1), Gate())
            let calls = try await begin(1, limiter, gate)
            let waiter = Task { try await limiter.run { () -> Void in Issue.record("it has left") } }
            try await events.wait { $0.contains { $0.name == "AdaptiveLimiter.waiting" } }
            waiter.cancel()
            await #expect(throws: CancellationError.self) { try await waiter.value }
            #expect(limiter.waiterCount == 0)
            gate.open()
            for call in calls { try await call.value }
        }
    }

    @Test func aCancelledCallerDoesNotBegin() async {
        let limiter = limiter(1)
        let call = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await limiter.run { () -> Void in Issue.record("The operation begins.") }
        }
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(limiter.running == 0)
    }

    @Test func aCancelledCallerReceivesOneError() async {
        let limiter = limiter(1)
        let call = Task {
            try await limiter.run {
                withUnsafeCurrentTask { $0?.cancel() }
                throw MarkedError()
            }
        }
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(limiter.running == 0)
    }

    /// The line is twice as long as the limit: the next callers are refused by chance.
    @Test func aLongLineRefusesCalls() async throws {
        try await EventLog.recording { events in
            let (draw, gate) = (Locked(0.9), Gate())
            let limiter = limiter(1) { draw.withLock { $0 } }
            let calls = try await begin(1, limiter, gate)
            var waiters: [Task<Void, any Error>] = []
            for number in 1...3 {
                waiters.append(Task { try await limiter.run {} })
                try await events.wait { $0.count { $0.name == "AdaptiveLimiter.waiting" } == number }
            }
            await #expect(throws: ConcurrencyLimitError(name: "search")) { try await limiter.run {} }
            gate.open()
            for call in calls + waiters { try await call.value }
        }
    }

    @Test func aCallerWithoutTimeIsRefusedAtOnce() async throws {
        let (limiter, gate) = (limiter(2), Gate())
        for _ in 0..<20 { _ = try await limiter.run { await clock.advance(by: .seconds(1)) } }
        let calls = try await begin(2, limiter, gate)
        let error = await #expect(throws: ConcurrencyLimitError.self) {
            try await withDeadline(in: .milliseconds(300), clock: clock) { try await limiter.run {} }
        }
        // One of two calls of a second ends in half a second.
        #expect((0.4...0.6).contains((error?.retryAfter ?? .zero) / .seconds(1)))
        #expect(limiter.waiterCount == 0)
        gate.open()
        for call in calls { try await call.value }
    }

    /// Timeouts are drops: half of the limit after a window.
    @Test func callsThatTimeOutLowerTheLimit() async {
        let limiter = limiter(16)
        for _ in 0..<10 {
            try? await limiter.run {
                await clock.advance(by: .seconds(1))
                throw TimeoutError(duration: .seconds(1))
            }
        }
        #expect(limiter.limit == 8)
    }

    @Test func otherErrorsDoNotCount() async {
        let limiter = limiter(16)
        for _ in 0..<100 {
            try? await limiter.run {
                await clock.advance(by: .seconds(1))
                throw MarkedError()
            }
        }
        #expect(limiter.limit == 16)
    }

    @Test func aLimiterReportsWhatItDoes() async throws {
        try await EventLog.recording { events in
            try await waitAndLeave(events)
            let own = events.events.filter { $0.primitive == .adaptiveLimiter }
            #expect(
                own.lines == [
                    "AdaptiveLimiter.created name=search count=1",
                    "AdaptiveLimiter.waiting name=search", "AdaptiveLimiter.left name=search cancelled=true",
                    "AdaptiveLimiter.waiting name=search", "AdaptiveLimiter.waiting name=search",
                    "AdaptiveLimiter.waiting name=search", "AdaptiveLimiter.callRefused name=search",
                    "AdaptiveLimiter.acquired name=search", "AdaptiveLimiter.acquired name=search",
                    "AdaptiveLimiter.acquired name=search", "AdaptiveLimiter.deallocated name=search",
                ]
            )
            #expect(own.unpaired == [])
        }
    }

    private func waitAndLeave(_ events: OrderRecorder<TaskEvent>) async throws {
        let (limiter, gate) = (limiter(1), Gate())
        let calls = try await begin(1, limiter, gate)
        var waiters: [Task<Void, any Error>] = []
        for number in 1...4 {
            waiters.append(Task { try await limiter.run {} })
            try await events.wait { $0.count { $0.name == "AdaptiveLimiter.waiting" } == number }
            guard number == 1 else { continue }
            let leaver = waiters.removeLast()
            leaver.cancel()
            _ = await leaver.result
        }
        try? await limiter.run {}
        gate.open()
        for call in calls + waiters { try await call.value }
    }

    @Test func aChangeOfTheLimitIsAnEvent() async {
        let events = await EventLog.events {
            let limiter = limiter(16)
            for _ in 0..<10 {
                try? await limiter.run {
                    await clock.advance(by: .seconds(1))
                    throw TimeoutError(duration: .seconds(1))
                }
            }
        }
        #expect(events.lines.contains("AdaptiveLimiter.limitChanged name=search count=8"))
    }

    @Test func theErrorSaysWhatHappened() {
        #expect(
            ConcurrencyLimitError(name: "search", retryAfter: .seconds(1)).description
                == "too many calls wait for the adaptive limiter search, for about 1.0 seconds"
        )
        #expect(ConcurrencyLimitError().description == "too many calls wait for the adaptive limiter")
    }
}

#if SUBPROCESSES
@Suite(.timeLimit(.minutes(15)))
struct AdaptiveLimiterTrapTests {
    @Test(.oneProcessAtATime) func noMinimum() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = AdaptiveLimiter(minimum: 0)
        }
        #expect(text(result).contains("AdaptiveLimiter(minimum: 0): no call would ever be made. Give 1 or more."))
    }

    @Test(.oneProcessAtATime) func aMaximumBelowTheMinimum() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = AdaptiveLimiter(minimum: 5, maximum: 4)
        }
        #expect(text(result).contains("AdaptiveLimiter(maximum: 4)"))
    }

    @Test(.oneProcessAtATime) func anInitialLimitOutsideTheRange() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = AdaptiveLimiter(maximum: 10, initial: 11)
        }
        #expect(text(result).contains("AdaptiveLimiter(initial: 11): the limit is from 1 to 10."))
    }
}
#endif
