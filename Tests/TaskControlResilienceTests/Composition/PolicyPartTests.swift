import TaskControl
import TaskControlResilience
import TaskControlTesting
import TestSupport
import Testing

/// How calls and attempts go through the parts of a policy.
@Suite(.timeLimit(.minutes(15)))
struct PolicyPartTests {
    /// Records who enters and leaves it.
    private struct Recording: PolicyPart {
        let name: String
        let log: OrderRecorder<String>
        var error: (any Error)?
        var gate: Gate?

        func enter(at time: inout PolicyTime) throws -> String? {
            if let error { throw error }
            return gate == nil ? entered() : nil
        }

        func waitToEnter() async throws -> String {
            try await gate?.wait()
            return entered()
        }

        private func entered() -> String {
            log.record("\(name) in")
            return name
        }

        func leave(_ pass: String, with outcome: PolicyOutcome, at time: inout PolicyTime) {
            let text =
                switch outcome {
                case .healthy: "healthy"
                case .failed(let error): "failed \(error)"
                case .unknown: "unknown"
                }
            log.record("\(pass) \(text)")
        }
    }

    private let log = OrderRecorder<String>()

    private func part(_ name: String, error: (any Error)? = nil, gate: Gate? = nil) -> Recording {
        Recording(name: name, log: log, error: error, gate: gate)
    }

    @Test func aCallEntersItsPartsOnceAndEachAttemptItsOwn() async throws {
        let policy = ResiliencePolicy(
            callParts: [part("a"), part("b")],
            retry: RetryPolicy(attempts: 2, backoff: .none),
            attemptParts: [part("x"), part("y")]
        )
        try await withPolicy(policy) {
            log.record("run")
            if log.events.filter({ $0 == "run" }).count == 1 { throw MarkedError("one") }
        }
        let failed = "failed MarkedError(mark: \"one\")"
        #expect(
            log.events == [
                "a in", "b in", "x in", "y in", "run", "y \(failed)", "x \(failed)", "x in", "y in", "run",
                "y healthy", "x healthy", "b healthy", "a healthy",
            ]
        )
    }

    /// With a time limit, which needs a child task, the parts are the same.
    @Test(arguments: [nil, Duration.seconds(60)])
    func aCallThatALaterPartRefusesLeavesTheEarlierOnesWithoutAnOutcome(_ timeout: Duration?) async throws {
        let refusal = CallRefusedError(.init("not today"), name: "b")
        var policy = ResiliencePolicy(callParts: [part("a"), part("b", error: refusal)], attemptTimeout: timeout)
        await #expect(throws: refusal) { try await withPolicy(policy) { log.record("run") } }
        #expect(log.events == ["a in", "a unknown"])
        policy.callParts = [part("c")]
        policy.attemptParts = [part("x"), part("y", error: refusal)]
        await #expect(throws: refusal) { try await withPolicy(policy) { log.record("run") } }
        #expect(log.events.dropFirst(2) == ["c in", "x in", "x unknown", "c unknown"])
    }

    @Test(arguments: [nil, Duration.seconds(60)])
    func aCallThatWaitsHoldsWhatItHasEntered(_ timeout: Duration?) async throws {
        let (first, second, semaphore) = (Gate(), Gate(), AsyncSemaphore(value: 1))
        let policy = ResiliencePolicy(
            callParts: [part("a"), part("b", gate: first), part("c")],
            permits: semaphore,
            attemptParts: [part("x"), part("y", gate: second), part("z")],
            attemptTimeout: timeout
        )
        let call = Task { [log] in try await withPolicy(policy) { log.record("run") } }
        try await first.waitForWaiters()
        #expect(log.events == ["a in"] && semaphore.available == 1)
        first.open()
        try await second.waitForWaiters()
        #expect(log.events == ["a in", "b in", "c in", "x in"] && semaphore.available == 0)
        second.open()
        try await call.value
        #expect(
            log.events.dropFirst(4) == [
                "y in", "z in", "run", "z healthy", "y healthy", "x healthy", "c healthy", "b healthy", "a healthy",
            ]
        )
        #expect(semaphore.available == 1)
    }

    @Test func aCallerThatLeavesWhileItWaitsSaysNothing() async throws {
        let gate = Gate()
        let policy = ResiliencePolicy(callParts: [part("a")], attemptParts: [part("x"), part("y", gate: gate)])
        let call = Task { [log] in try await withPolicy(policy) { log.record("run") } }
        try await gate.waitForWaiters()
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(log.events == ["a in", "x in", "x unknown", "a unknown"])
    }

    @Test func theBuiltInPartsCanStandInAnyOrder() async throws {
        let breaker = CircuitBreaker(failureThreshold: 1, minimumCalls: 3)
        let (slots, rate) = (AsyncSemaphore(value: 1), RateLimiter(rate: 10, clock: TestClock()))
        let policy = ResiliencePolicy(
            callParts: [rate],
            retry: RetryPolicy(attempts: 5, backoff: .none, shouldRetry: { $0 is MarkedError }),
            attemptParts: [slots, breaker]
        )
        await #expect(throws: CallRefusedError.self) {
            try await withPolicy(policy) {
                #expect(slots.available == 0)
                throw MarkedError()
            }
        }
        #expect(breaker.state != .closed, "three attempts have failed")
        #expect(rate.available == 9 && slots.available == 1)
    }

    @Test func onePartIsAPolicyToo() async throws {
        let (slots, rate) = (AsyncSemaphore(value: 1), RateLimiter(rate: 10, clock: TestClock()))
        #expect(try await withPolicy(slots) { slots.available } == 0)
        #expect(try await withPolicy(rate) { rate.available } == 9)
        #expect(slots.available == 1)
    }

    @Test func aPartThatLetsNoCallWaitRefusesOneThatWouldHaveTo() async throws {
        struct Closed: PolicyPart {
            func enter(at time: inout PolicyTime) -> Void? { nil }
            func leave(_ pass: Void, with outcome: PolicyOutcome, at time: inout PolicyTime) {}
        }
        await #expect(throws: CallRefusedError(.full)) { try await withPolicy(Closed()) {} }
    }

    @Test func aCallerThatIsCancelledWhileAPartRefusesItReceivesCancellationError() async throws {
        struct Refusing: PolicyPart {
            let waits: Bool

            func enter(at time: inout PolicyTime) throws -> Void? {
                if !waits { try refuse() }
                return nil
            }

            func waitToEnter() async throws { try refuse() }

            private func refuse() throws {
                withUnsafeCurrentTask { $0?.cancel() }
                throw CallRefusedError(.full)
            }

            func leave(_ pass: Void, with outcome: PolicyOutcome, at time: inout PolicyTime) {}
        }
        for part in [Refusing(waits: true), Refusing(waits: false)] {
            let alone = Task { try await withPolicy(part) {} }
            await #expect(throws: CancellationError.self) { try await alone.value }
            let policy = ResiliencePolicy(callParts: [part])
            let inside = Task { try await withPolicy(policy) {} }
            await #expect(throws: CancellationError.self) { try await inside.value }
        }
    }

    @Test func allPartsOfACallShareOneTime() async throws {
        struct Timed: PolicyPart {
            let times: OrderRecorder<Duration>

            func enter(at time: inout PolicyTime) -> Void? {
                times.record(time.now)
                return ()
            }

            func leave(_ pass: Void, with outcome: PolicyOutcome, at time: inout PolicyTime) { times.record(time.now) }
        }
        let times = OrderRecorder<Duration>()
        let policy = ResiliencePolicy(
            callParts: [Timed(times: times), Timed(times: times)],
            attemptParts: [Timed(times: times)]
        )
        try await withPolicy(policy) { while PolicyTime.later(than: times.events[0]) == false {} }
        #expect(Set(times.events).count == 2 && times.events == times.events.sorted(), "one to enter, one to leave")
    }
}

extension PolicyTime {
    fileprivate static func later(than earlier: Duration) -> Bool {
        var time = PolicyTime()
        return time.now > earlier
    }
}
