import Foundation
import TaskControl
import TaskControlHTTP
import TaskControlResilience
import TaskControlTesting
import Testing

/// A policy that is written outside of this package: at most a number of calls, or of attempts, may have failed. This
/// target has no package access, so the public API suffices for it.
final class FailureAllowance: PolicyPart {
    struct Pass: Sendable {}

    private let left: Mutex
    private let waiting: AsyncSemaphore?
    private let name: String

    /// Creates an allowance.
    ///
    /// - Parameter waiting: Has a permit when the allowance may be used; `nil`: at once.
    init(_ count: Int, name: String, waiting: AsyncSemaphore? = nil) {
        left = Mutex(count)
        self.name = name
        self.waiting = waiting
    }

    var available: Int { left.value }

    func enter(at time: inout PolicyTime) throws -> Pass? {
        if let waiting, !waiting.tryAcquire() { return nil }
        return try admit()
    }

    func waitToEnter() async throws -> Pass {
        try await waiting?.acquire()
        return try admit()
    }

    private func admit() throws -> Pass {
        if left.value > 0 { return Pass() }
        throw CallRefusedError(.init("the allowance is used"), name: name, retryAfter: .seconds(60))
    }

    func leave(_ pass: Pass, with outcome: PolicyOutcome, at time: inout PolicyTime) {
        waiting?.release()
        if case .failed = outcome { left.decrement() }
    }
}

final class Mutex: @unchecked Sendable {
    private let lock = NSLock()
    private var number: Int

    init(_ number: Int) { self.number = number }

    var value: Int { lock.withLock { number } }

    func decrement() { lock.withLock { number -= 1 } }
}

/// A part with a line of its own: `enter` gives the call a place in the line, and `waitToEnter` waits at the place that was
/// given last. A place at which no call waits stops the line.
final class Line: PolicyPart {
    private struct State {
        var places: [Gate] = []
        var isTaken = false
        var given: Gate?
    }

    private let state = Protected(State())

    func enter(at time: inout PolicyTime) -> Void? {
        state.change {
            if !$0.isTaken && $0.places.isEmpty {
                $0.isTaken = true
                return ()
            }
            let place = Gate()
            $0.places.append(place)
            $0.given = place
            return nil
        }
    }

    func waitToEnter() async throws {
        let place = state.change { state in
            defer { state.given = nil }
            return state.given
        }
        guard let place else { throw CallRefusedError(.init("the call has no place in the line")) }
        try await place.wait()
    }

    func leave(_ pass: Void, with outcome: PolicyOutcome, at time: inout PolicyTime) {
        let next = state.change { state in
            state.isTaken = !state.places.isEmpty
            return state.isTaken ? state.places.removeFirst() : nil
        }
        next?.open()
    }
}

final class Protected<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    init(_ value: Value) { self.value = value }

    func change<Result>(_ body: (inout Value) -> Result) -> Result { lock.withLock { body(&value) } }
}

private struct Failure: Error {}

/// Policies that other packages write.
@Suite(.timeLimit(.minutes(15)))
struct PolicyExtensionTests {
    private let refusal = CallRefusedError(.init("the allowance is used"), name: "calls", retryAfter: .seconds(60))

    @Test func withPolicyTakesAPartAroundItsCalls() async throws {
        let part = FailureAllowance(2, name: "calls")
        let policy = ResiliencePolicy(callParts: [part], retry: RetryPolicy(attempts: 3, backoff: .none))
        for _ in 0..<2 { await #expect(throws: Failure.self) { try await withPolicy(policy) { throw Failure() } } }
        await #expect(throws: refusal) { try await withPolicy(policy) { Issue.record("The operation begins.") } }
    }

    @Test func withPolicyTakesAPartAroundItsAttempts() async throws {
        let part = FailureAllowance(2, name: "attempts")
        let policy = ResiliencePolicy(
            retry: RetryPolicy(attempts: 5, backoff: .none, shouldRetry: { $0 is Failure }),
            attemptParts: [part]
        )
        let attempts = Mutex(0)
        let error = await #expect(throws: CallRefusedError.self) {
            try await withPolicy(policy) {
                attempts.decrement()
                throw Failure()
            }
        }
        #expect(error?.name == "attempts" && attempts.value == -2)
    }

    @Test func aPartCanLetACallWait() async throws {
        let turn = AsyncSemaphore(value: 1)
        try await turn.acquire()
        let part = FailureAllowance(1, name: "calls", waiting: turn)
        async let available = withPolicy(ResiliencePolicy(callParts: [part])) { turn.available }
        turn.release()
        #expect(try await available == 0)
        #expect(turn.available == 1)
    }

    /// The place of the line in a policy.
    enum Place: CaseIterable {
        case alone, aroundCalls, aroundCallsBehindAnother, aroundAttempts, aroundAttemptsBehindARate
    }

    /// Two of the three calls wait in the line, and behind a part that lets them wait as well.
    @Test(arguments: Place.allCases, [nil, Duration.seconds(60)])
    func aPartIsAskedOnceAndThenWaitedFor(_ place: Place, _ timeout: Duration?) async throws {
        let (line, open, running) = (Line(), Gate(), OrderRecorder<Int>())
        let other = FailureAllowance(1_000, name: "other", waiting: AsyncSemaphore(value: 3))
        var policy = ResiliencePolicy(breaker: CircuitBreaker(), attemptTimeout: timeout)
        switch place {
        case .alone: break
        case .aroundCalls: policy.callParts = [line]
        case .aroundCallsBehindAnother: policy.callParts = [other, line, other]
        case .aroundAttempts: policy.attemptParts = [line]
        case .aroundAttemptsBehindARate:
            policy.rate = RateLimiter(rate: 10_000, burst: 1)
            policy.attemptParts = [other, line, other]
        }
        let protected = policy
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<3 {
                group.addTask {
                    @Sendable func work() async throws {
                        running.record(number)
                        try await open.wait()
                    }
                    if place == .alone {
                        try await withPolicy(line) { try await work() }
                    } else {
                        try await withPolicy(protected) { try await work() }
                    }
                }
            }
            try await running.waitForEvents(count: 1)
            open.open()
            try await group.waitForAll()
        }
        #expect(running.count == 3)
    }

    @Test func theClientTakesThem() async throws {
        let (calls, attempts) = (FailureAllowance(1, name: "calls"), FailureAllowance(10, name: "attempts"))
        let requests = Mutex(0)
        let client = EndpointClient(
            baseURL: "https://books.example",
            transport: MockTransport { _ in
                requests.decrement()
                return (503, Data())
            },
            policies: ClientPolicies(
                retry: HTTPRetryPolicy(attempts: 3, backoff: .none),
                resilience: .shared(HostPolicy(callParts: [calls], attemptParts: [attempts]))
            )
        )
        await #expect(throws: EndpointError.self) { try await client.get("books", as: String.self) }
        #expect(requests.value == -3 && attempts.available == 7 && calls.available == 0)
        await #expect(throws: refusal) { try await client.get("books", as: String.self) }
        #expect(requests.value == -3)
    }
}
