import TaskControl
import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControlResilience

@Suite(.timeLimit(.minutes(15)))
struct CircuitBreakerTests {
    private let clock = TestClock()

    private func breaker(
        minimumCalls: Int = 2,
        probes: Int = 1,
        slowCall: Duration? = nil,
        isFailure: @escaping @Sendable (any Error) -> Bool = { _ in true }
    ) -> CircuitBreaker {
        CircuitBreaker(
            name: "search",
            failureThreshold: 0.5,
            window: .seconds(10),
            minimumCalls: minimumCalls,
            openDuration: .seconds(5),
            probes: probes,
            slowCall: slowCall,
            isFailure: isFailure,
            clock: clock
        )
    }

    private func fail(_ breaker: CircuitBreaker, times: Int = 1) async {
        for _ in 0..<times {
            await #expect(throws: MarkedError("down")) { try await withPolicy(breaker) { throw MarkedError("down") } }
        }
    }

    @Test func aBreakerOpensAndRefusesCallsWithTheTimeOfTheNextProbe() async throws {
        let breaker = breaker()
        #expect(try await withPolicy(breaker) { 1 } == 1)
        #expect(breaker.state == .closed)
        await fail(breaker)
        #expect(breaker.state == .open(retryAfter: .seconds(5)))
        await clock.advance(by: .seconds(2))
        let error = await #expect(throws: CallRefusedError.self) {
            try await withPolicy(breaker) { Issue.record("it is not called") }
        }
        #expect(error == CallRefusedError(.circuitOpen, name: "search", retryAfter: .seconds(3)))
        #expect(
            error?.description
                == "the call was refused by search: the circuit is open; a call is admitted in 3.0 seconds"
        )
    }

    @Test(arguments: [CancellationError(), OwnerClosed()] as [any Error])
    func anInterruptionOfACallerThatWasNotCancelledDoesNotCount(_ error: any Error) async throws {
        let breaker = breaker { _ in
            Issue.record("it is not asked")
            return true
        }
        for _ in 0..<10 {
            let received = await #expect(throws: (any Error).self) { try await withPolicy(breaker) { throw error } }
            #expect(received.map { type(of: $0) == type(of: error) } == true, "the error goes through unchanged")
        }
        #expect(breaker.state == .closed)
        // The breaker opens at two calls, so the interrupted ones are not successes either.
        let other = self.breaker()
        await #expect(throws: (any Error).self) { try await withPolicy(other) { throw error } }
        await fail(other)
        #expect(other.state == .closed, "one call counts")
    }

    /// An error of the package that is an interruption.
    struct OwnerClosed: Interruption {}

    @Test func aProbeThatSucceedsClosesTheBreaker() async throws {
        let breaker = breaker()
        await fail(breaker, times: 2)
        await clock.advance(by: .seconds(5))
        #expect(breaker.state == .open(retryAfter: .zero))
        try await withPolicy(breaker) { #expect(breaker.state == .halfOpen) }
        #expect(breaker.state == .closed)
        await fail(breaker)
        #expect(breaker.state == .closed, "the failures from before do not count")
    }

    @Test func aProbeThatFailsOpensTheBreakerAgain() async {
        let breaker = breaker()
        await fail(breaker, times: 2)
        await clock.advance(by: .seconds(5))
        await fail(breaker)
        #expect(breaker.state == .open(retryAfter: .seconds(5)))
    }

    @Test func retryWaitsForTheProbe() async throws {
        let (breaker, clock) = (breaker(), TestClock(advancesAutomatically: true))
        let attempts = OrderRecorder<Int>()
        let value = try await retry(attempts: 10, backoff: .none, clock: clock) { attempt in
            attempts.record(attempt)
            // The two clocks are in step: the breaker's is the one that the test moves.
            if attempt == 4 { await self.clock.advance(by: .seconds(5)) }
            return try await withPolicy(breaker) {
                if attempt < 3 { throw MarkedError() }
                return attempt
            }
        }
        #expect(value == 4 && attempts.events == [1, 2, 3, 4])
        #expect(clock.now.offset == .seconds(5), "the error's hint")
    }

    @Test func aHangingProbeDoesNotKeepOthersOut() async throws {
        let (breaker, hangs, isReleased) = (breaker(), Gate(), Gate())
        await fail(breaker, times: 2)
        await clock.advance(by: .seconds(5))
        let probe = Task {
            try await withPolicy(breaker) {
                hangs.open()
                try await isReleased.wait()
            }
        }
        try await hangs.wait()
        await #expect(throws: CallRefusedError(.circuitOpen, name: "search", retryAfter: .seconds(5))) {
            try await withPolicy(breaker) {}
        }
        await clock.advance(by: .seconds(5))
        #expect(breaker.state == .open(retryAfter: .zero))
        await fail(breaker)
        isReleased.open()
        try await probe.value
        #expect(breaker.state == .open(retryAfter: .seconds(5)), "its success is of an earlier generation")
    }

    @Test func aServiceSlowerThanTheBreakerIsOpenIsUsedAgain() async throws {
        let (breaker, hangs, isReleased) = (breaker(), Gate(), Gate())
        await fail(breaker, times: 2)
        await clock.advance(by: .seconds(5))
        let probe = Task {
            try await withPolicy(breaker) {
                hangs.open()
                try await isReleased.wait()
            }
        }
        try await hangs.wait()
        await clock.advance(by: .seconds(60))
        isReleased.open()
        try await probe.value
        #expect(breaker.state == .closed)
    }

    @Test func callersThatLeaveEarlyDoNotKeepTheBreakerOpen() async throws {
        let breaker = breaker()
        await fail(breaker, times: 2)
        await clock.advance(by: .seconds(5))
        for left in (0..<3).reversed() {
            let isRunning = Gate()
            let caller = Task {
                try await withPolicy(breaker) {
                    isRunning.open()
                    try await Gate().wait()
                }
            }
            try await isRunning.wait()
            #expect(breaker.state == .halfOpen)
            caller.cancel()
            await #expect(throws: CancellationError.self) { try await caller.value }
            #expect(breaker.state == (left == 0 ? .closed : .open(retryAfter: .zero)))
        }
    }

    @Test func anErrorThatIsNoFailureIsAnAnswer() async {
        let breaker = breaker(minimumCalls: 4) { $0 as? MarkedError != MarkedError("not found") }
        for _ in 0..<3 {
            await #expect(throws: MarkedError("not found")) {
                try await withPolicy(breaker) { throw MarkedError("not found") }
            }
        }
        await fail(breaker, times: 2)
        #expect(breaker.state == .closed, "two of five")
        await fail(breaker)
        #expect(breaker.state == .open(retryAfter: .seconds(5)))
        await clock.advance(by: .seconds(5))
        await #expect(throws: MarkedError("not found")) {
            try await withPolicy(breaker) { throw MarkedError("not found") }
        }
        #expect(breaker.state == .closed)
    }

    @Test func aSlowCallIsAFailure() async throws {
        let breaker = breaker(slowCall: .seconds(1))
        for _ in 0..<2 { try await withPolicy(breaker) { await clock.advance(by: .milliseconds(999)) } }
        #expect(breaker.state == .closed)
        for _ in 0..<2 { try await withPolicy(breaker) { await clock.advance(by: .seconds(1)) } }
        #expect(breaker.state == .open(retryAfter: .seconds(5)))
    }

    @Test func aCancelledCallerReceivesCancellationErrorAndDoesNotCount() async throws {
        let breaker = breaker(minimumCalls: 1)
        let caller = Task {
            try await withPolicy(breaker) {
                withUnsafeCurrentTask { $0?.cancel() }
                throw MarkedError()
            }
        }
        await #expect(throws: CancellationError.self) { try await caller.value }
        #expect(breaker.state == .closed)
        let late = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await withPolicy(breaker) { _ = Issue.record("it does not begin") }
        }
        await #expect(throws: CancellationError.self) { try await late.value }
        let value = Task {
            try await withPolicy(breaker) {
                withUnsafeCurrentTask { $0?.cancel() }
                return 1
            }
        }
        #expect(try await value.value == 1)
    }

    @Test func theRefusalOfAnotherBreakerDoesNotCount() async {
        let (outer, inner) = (breaker(minimumCalls: 1), breaker(minimumCalls: 1))
        await fail(inner)
        await #expect(throws: CallRefusedError.self) { try await withPolicy(outer) { try await withPolicy(inner) {} } }
        #expect(outer.state == .closed)
    }

    @Test func theOperationRunsInTheCallersIsolation() async throws {
        @MainActor final class Screen {
            var text = ""
            func load(_ breaker: CircuitBreaker) async throws {
                text = try await withPolicy(breaker) { text + "loaded" }
            }
        }
        let screen = Screen()
        try await screen.load(breaker())
        #expect(await screen.text == "loaded")
    }

    @Test func aBreakerReportsWhatItDoes() async throws {
        let events = try await EventLog.events {
            let breaker = breaker()
            await fail(breaker, times: 2)
            try? await withPolicy(breaker) {}
            await clock.advance(by: .seconds(5))
            try await withPolicy(breaker) {}
        }
        #expect(
            events.filter { $0.primitive == .circuitBreaker }.lines == [
                "CircuitBreaker.created name=search", "CircuitBreaker.circuitOpened name=search",
                "CircuitBreaker.callRefused name=search delay=5.0 seconds", "CircuitBreaker.probing name=search",
                "CircuitBreaker.circuitClosed name=search", "CircuitBreaker.deallocated name=search",
            ]
        )
    }

    /// Wherever `isFailure` is called, the breaker is not locked.
    @Test func isFailureMayUseTheBreaker() async {
        let box = OrderRecorder<CircuitBreaker>()
        let breaker = breaker(minimumCalls: 1) { _ in box.events.first?.state == .closed }
        box.record(breaker)
        await fail(breaker)
        #expect(breaker.state == .open(retryAfter: .seconds(5)))
    }

    @Test func theDefaultsAreThoseOfPolly() async {
        let breaker = CircuitBreaker(clock: clock)
        for _ in 0..<90 { try? await withPolicy(breaker) {} }
        await fail(breaker, times: 9)
        #expect(breaker.state == .closed)
        await fail(breaker)
        #expect(breaker.state == .open(retryAfter: .seconds(5)))
    }

    @Test func absurdDurationsDoNotTrap() async throws {
        let breaker = CircuitBreaker(
            window: .seconds(Int64.max),
            minimumCalls: 1,
            openDuration: .seconds(Int64.max),
            slowCall: .seconds(Int64.max),
            clock: clock
        )
        await fail(breaker)
        #expect(breaker.state != .closed)
        await #expect(throws: CallRefusedError.self) { try await withPolicy(breaker) {} }
    }
}
