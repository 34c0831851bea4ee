import TaskControl
import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControlResilience

@Suite(.timeLimit(.minutes(15)))
struct ClientThrottleTests {
    private let clock = TestClock()

    private func throttle(isFailure: @escaping @Sendable (any Error) -> Bool = { _ in true }) -> ClientThrottle {
        ClientThrottle(name: "search", isFailure: isFailure, clock: clock, random: { 0 })
    }

    private func fail(_ throttle: ClientThrottle, times: Int) async {
        for _ in 0..<times { try? await throttle.run { throw MarkedError() } }
    }

    @Test func aThrottleRefusesCallsOfAServiceThatFails() async throws {
        let throttle = throttle()
        #expect(try await throttle.run { 1 } == 1)
        await fail(throttle, times: 1)
        #expect(throttle.refusalProbability == 0, "the service accepts every second call")
        await fail(throttle, times: 7)
        #expect(
            throttle.refusalProbability == 0.7,
            "nine requests, those that were refused included, and one was accepted"
        )
        let error = await #expect(throws: RequestThrottledError.self) {
            try await throttle.run { Issue.record("it is not called") }
        }
        #expect(error == RequestThrottledError(name: "search", retryAfter: .seconds(1)))
        #expect(
            error?.description == "the client throttle search refused the call, since the service refuses most calls"
        )
        await clock.advance(by: .seconds(1))
        #expect(try await throttle.run { 2 } == 2, "one call per second is admitted")
    }

    @Test func afterAnOutageTheHistoryDoesNotCount() async throws {
        let throttle = throttle()
        try await throttle.run {}
        await fail(throttle, times: 1)
        for _ in 0..<60 {
            await clock.advance(by: .seconds(1))
            await fail(throttle, times: 10)
        }
        #expect(throttle.refusalProbability > 0.9)
        await clock.advance(by: .seconds(1))
        try await throttle.run {}
        #expect(throttle.refusalProbability == 0)
    }

    @Test func retriesAreNotPaidForWhileCallsAreRefused() async throws {
        let (throttle, attempts) = (throttle(), OrderRecorder<Int>())
        let budget = throttle.budget
        try? await retry(attempts: 3, backoff: .none, budget: budget) { attempt in
            try await throttle.run {
                attempts.record(attempt)
                throw MarkedError()
            }
        }
        #expect(attempts.events == [1], "the first failure is more than every second call")
        #expect(budget.available == 500)
        await clock.advance(by: .seconds(121))
        for _ in 0..<5 { try await throttle.run {} }
        try? await retry(attempts: 3, backoff: .none, budget: budget) { attempt in
            try await throttle.run {
                attempts.record(attempt)
                throw MarkedError()
            }
        }
        #expect(attempts.events == [1, 1, 2, 3])
        #expect(budget.available == 500 - 2 * 14)
    }

    @Test func theBudgetOutlivesItsThrottle() {
        let budget = throttle().budget
        #expect(budget.capacity == 500 && budget.available == 500)
    }

    @Test func anErrorThatIsNoFailureIsAccepted() async throws {
        let throttle = throttle { $0 as? MarkedError != MarkedError("not found") }
        for _ in 0..<9 { try? await throttle.run { throw MarkedError("not found") } }
        await fail(throttle, times: 9)
        #expect(throttle.refusalProbability == 0)
    }

    @Test func aCancelledCallerReceivesCancellationErrorAndDoesNotCount() async {
        let throttle = throttle()
        let caller = Task {
            try await throttle.run {
                withUnsafeCurrentTask { $0?.cancel() }
                throw MarkedError()
            }
        }
        await #expect(throws: CancellationError.self) { try await caller.value }
        #expect(throttle.refusalProbability == 0)
        let late = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await throttle.run { _ = Issue.record("it does not begin") }
        }
        await #expect(throws: CancellationError.self) { try await late.value }
    }

    @Test func aThrottleReportsWhatItDoes() async throws {
        let events = await EventLog.events {
            let throttle = throttle()
            await fail(throttle, times: 2)
        }
        #expect(
            events.filter { $0.primitive == .clientThrottle }.lines == [
                "ClientThrottle.created name=search", "ClientThrottle.callRefused name=search delay=1.0 seconds",
                "ClientThrottle.deallocated name=search",
            ]
        )
    }
}

#if SUBPROCESSES
@Suite(.timeLimit(.minutes(15)))
struct ClientThrottleTrapTests {
    @Test(.oneProcessAtATime) func aMultiplierThatThrottlesHealthyServices() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = ClientThrottle(multiplier: 0.9)
        }
        #expect(text(result).contains("ClientThrottle(multiplier: 0.9)"))
        #expect(text(result).contains("Give a finite number of 1 or more."))
    }

    @Test(.oneProcessAtATime) func noWindow() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = ClientThrottle(window: .zero)
        }
        #expect(text(result).contains("ClientThrottle(window: 0.0 seconds): no call would count. Give more than zero."))
    }
}
#endif
