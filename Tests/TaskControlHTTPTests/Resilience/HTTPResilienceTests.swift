import Foundation
import TaskControl
import TaskControlHTTP
import TaskControlResilience
import TaskControlTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(15)))
struct HTTPResilienceTests {
    private let clock = TestClock()

    private func client(
        _ transport: any HTTPTransport,
        _ policy: HostPolicy,
        _ adjust: (inout ClientPolicies) -> Void = { _ in }
    ) -> EndpointClient {
        var policies = ClientPolicies(resilience: .shared(policy), clock: clock)
        adjust(&policies)
        return EndpointClient(transport, policies: policies)
    }

    // MARK: Hosts

    @Test func eachHostHasAPolicyOfItsOwn() async throws {
        let made = OrderRecorder<String>()
        let transport = ScriptedTransport { $0.url.lowercased().contains("//down") ? .status(503) : .ok("there") }
        let client = EndpointClient(
            requestAdapter: AnyHost(),
            transport: transport,
            policies: ClientPolicies(
                resilience: .perHost { host in
                    made.record(host)
                    return HostPolicy(
                        breaker: CircuitBreaker(
                            name: host,
                            failureThreshold: 1,
                            minimumCalls: 1,
                            openDuration: .seconds(86_400)
                        )
                    )
                }
            )
        )
        for path in ["http://down/1", "http://up/1", "http://up:8080/2"] {
            _ = try await client.request(Text(path: path))
        }
        let error = await #expect(throws: CallRefusedError.self) {
            try await client.request(Text(path: "http://DOWN/2"))
        }
        #expect(error?.name == "down")
        #expect(try await client.request(Text(path: "http://up/3")) == "there")
        #expect(made.events == ["down", "up"])
        #expect(transport.sent.count == 4)
    }

    @Test func theRateOfEachHostHoldsForAnyNumberOfHosts() async throws {
        let (clock, transport) = (clock, ScriptedTransport(.ok("there")))
        let client = EndpointClient(
            requestAdapter: AnyHost(),
            transport: transport,
            policies: ClientPolicies(
                resilience: .perHost { _ in
                    HostPolicy(rate: RateLimiter(rate: 1, per: .seconds(60), burst: 1, clock: clock))
                }
            )
        )
        let hosts = (0..<100).map { "http://host\($0)/" }
        for host in hosts { #expect(try await client.request(Text(path: host)) == "there") }
        for host in hosts {
            await #expect(throws: CallRefusedError.self) {
                try await withDeadline(in: .seconds(1), clock: clock) { try await client.request(Text(path: host)) }
            }
        }
        #expect(transport.sent.count == hosts.count)
    }

    /// The example of the documentation.
    @Test func theStandardPolicyOfEachHostLetsRequestsPass() async throws {
        let client = EndpointClient(
            baseURL: "https://books.example/v1",
            transport: MockTransport { _ in (200, Data("there".utf8)) },
            policies: ClientPolicies(resilience: .perHost { host in .standard(name: host) })
        )
        for _ in 0..<100 { #expect(try await client.get("books", as: String.self) == "there") }
    }

    @Test func aSharedPolicyIsThatOfAllHosts() async throws {
        let judge = Judge()
        let client = EndpointClient(
            requestAdapter: AnyHost(),
            transport: ScriptedTransport(.status(503)),
            policies: ClientPolicies(resilience: .shared(judge.policy))
        )
        _ = try await client.request(Text(path: "http://a/1"))
        await #expect(throws: CallRefusedError.self) { try await client.request(Text(path: "http://b/1")) }
        await #expect(throws: CallRefusedError.self) { try await withPolicy(judge.breaker) {} }
    }

    // MARK: Refusals

    @Test func aRefusedCallSendsNothingAndIsNotRetried() async throws {
        let (judge, observed) = (Judge(), OrderRecorder<Int>())
        let transport = ScriptedTransport(.status(503, "busy"))
        let client = EndpointClient(
            transport,
            policies: ClientPolicies(retry: HTTPRetryPolicy(attempts: 1), resilience: .shared(judge.policy)),
            observer: { _, response, _, _ in observed.record(response?.statusCode ?? 0) }
        )
        await #expect(throws: EndpointError.self) { try await client.request(Text()) }
        await #expect(throws: CallRefusedError.self) { try await client.request(Text()) }
        #expect(transport.sent.count == 1 && observed.events == [503])
    }

    @Test func aStreamHoldsItsPermitUntilItIsRead() async throws {
        let semaphore = AsyncSemaphore(value: 1)
        let client = client(ScriptedTransport(.ok("there")), HostPolicy(permits: semaphore))
        try await client.withResponse(to: Text()) { response in
            for try await _ in response.body { #expect(semaphore.available == 0) }
        }
        #expect(semaphore.available == 1)
    }

    @Test func anEndpointUsesThePolicyThatTheClientKeeps() async throws {
        let (judge, transport) = (Judge(), ScriptedTransport(.status(503)))
        let client = EndpointClient(
            transport,
            policies: ClientPolicies(resilience: .perHost { _ in judge.policy })
        )
        _ = try await client.request(Text())
        await #expect(throws: CallRefusedError.self) { try await client.request(Own()) }
        #expect(transport.sent.count == 1)
    }

    private struct Own: Endpoint {
        typealias Content = String

        func makeRequest() throws -> URLRequest { get("text") }

        func adjust(_ policies: inout ClientPolicies) { policies.resilience = .perHost { _ in HostPolicy() } }
    }

    @Test func callsWaitInTheLinesOfTheLimits() async throws {
        let gate = Gate()
        let transport = ScriptedTransport { _ in
            try await gate.wait(); return .ok("there")
        }
        let rate = RateLimiter(rate: 1, per: .seconds(1), burst: 1, clock: clock)
        let client = client(transport, HostPolicy(permits: AsyncSemaphore(value: 1), rate: rate))
        let calls = (0..<2).map { _ in Task { try await client.request(Text()) } }
        try await gate.waitForWaiters()
        #expect(transport.sent.count == 1)
        gate.open()
        await clock.advance(by: .seconds(1), waking: 1)
        for call in calls { #expect(try await call.value == "there") }
        await #expect(throws: CallRefusedError.self) {
            try await withDeadline(in: .milliseconds(500), clock: clock) { try await client.request(Text()) }
        }
        #expect(transport.sent.count == 2)
    }

    @Test func theEventsOfAHostsBreakerHaveItsName() async throws {
        let events = try await EventLog.events {
            let client = EndpointClient(
                ScriptedTransport(.status(503)),
                policies: ClientPolicies(
                    resilience: .perHost { host in
                        HostPolicy(
                            breaker: CircuitBreaker(
                                name: host,
                                failureThreshold: 1,
                                minimumCalls: 1,
                                openDuration: .seconds(86_400)
                            )
                        )
                    }
                )
            )
            _ = try await client.request(Text())
            await #expect(throws: CallRefusedError.self) { try await client.request(Text()) }
        }
        #expect(
            events.filter { $0.primitive == .circuitBreaker }.map(\.name).prefix(3)
                == ["CircuitBreaker.created", "CircuitBreaker.circuitOpened", "CircuitBreaker.callRefused"]
        )
        #expect(events.allSatisfy { $0.primitive != .circuitBreaker || $0.ownerName == "h" })
        #expect(events.named("HTTP.started").count == 1, "a refused call makes no attempt")
    }

    // MARK: Attempts

    @Test func aRetryPolicyCanExcludeErrors() async throws {
        let retry = HTTPRetryPolicy(
            backoff: .none,
            shouldRetry: { ($0 as? EndpointError)?.statusCode != 503 }
        )
        let transport = ScriptedTransport(.unreachable(), .status(503))
        let client = client(transport, HostPolicy()) { $0.retry = retry }
        await #expect(throws: EndpointError.self) { try await client.request(Text()) }
        #expect(transport.sent.count == 2)
    }

    @Test func theBudgetOfARetryPolicyPaysForItsRetries() async throws {
        let budget = RetryBudget(capacity: 100, cost: 60)
        let transport = ScriptedTransport(.unreachable())
        let client = client(transport, HostPolicy()) {
            $0.retry = HTTPRetryPolicy(attempts: 5, backoff: .none, budget: budget)
        }
        await #expect(throws: EndpointError.self) { try await client.request(Text()) }
        #expect(transport.sent.count == 2 && budget.available == 40)
    }

    @Test func retriesEndWithTheirTime() async throws {
        let transport = ScriptedTransport(.unreachable())
        let client = client(transport, HostPolicy()) {
            $0.retry = HTTPRetryPolicy(
                attempts: 5,
                backoff: .fixed(.seconds(2)),
                budget: nil,
                maxElapsed: .seconds(1)
            )
        }
        await #expect(throws: EndpointError.self) { try await client.request(Text()) }
        #expect(transport.sent.count == 1)
    }

    // MARK: What is sent

    /// The host answers 503, so that each request is sent three times.
    @Test func eachRetryTakesAToken() async throws {
        let rate = RateLimiter(rate: 1, burst: 2, clock: clock)
        let (sent, clock) = (OrderRecorder<Duration>(), clock)
        let transport = ScriptedTransport { _ in
            sent.record(clock.now.offset)
            return .status(503)
        }
        let client = client(transport, HostPolicy(rate: rate)) { $0.retry = HTTPRetryPolicy(backoff: .none) }
        let call = Task { try await client.request(Text()) }
        try await sent.waitForEvents(count: 2)
        await clock.advance(by: .seconds(1), waking: 1)
        await #expect(throws: EndpointError.self) { try await call.value }
        #expect(sent.events == [.zero, .zero, .seconds(1)])
    }

    @Test func eachHedgeTakesAToken() async throws {
        let rate = RateLimiter(rate: 1, per: .seconds(10), burst: 1, clock: clock)
        let hedging = ResiliencePolicy.Hedging(after: .fixed(.seconds(1)))
        let (sent, clock) = (OrderRecorder<Duration>(), clock)
        let transport = ScriptedTransport { _ in
            sent.record(clock.now.offset)
            if sent.events.count == 1 { try await Gate().wait() }
            return .ok("there")
        }
        let client = client(transport, HostPolicy(hedging: hedging, rate: rate))
        let call = Task { try await client.request(Text()) }
        try await sent.waitForEvents(count: 1)
        await clock.advance(by: .seconds(1), waking: 1)
        await clock.advance(by: .seconds(9), waking: 1)
        #expect(try await call.value == "there")
        #expect(sent.events == [.zero, .seconds(10)])
    }

    @Test func aRequestWithANewCredentialTakesAToken() async throws {
        let rate = RateLimiter(rate: 10, burst: 10, clock: clock)
        let transport = ScriptedTransport(.status(401), .ok("there"))
        let client = client(transport, HostPolicy(rate: rate)) { $0.authenticator = .bearer { "token" } }
        #expect(try await client.request(Text()) == "there")
        #expect(rate.available == 8)
    }

    @Test func aTransferTakesAToken() async throws {
        let rate = RateLimiter(rate: 10, burst: 10, clock: clock)
        let transfers = Transfers(client(ScriptedTransport(.ok("there")), HostPolicy(rate: rate)))
        #expect(try await transfers.upload.value == "there")
        #expect(try await transfers.stream.value == 200)
        #expect(try await transfers.download.value == 200)
        #expect(rate.available == 7)
    }

    @Test func requestsThatShareAnExchangeShareItsToken() async throws {
        let (rate, gate) = (RateLimiter(rate: 10, burst: 10, clock: clock), Gate())
        let transport = ScriptedTransport { _ in
            try await gate.wait()
            return .ok("there")
        }
        let client = client(transport, HostPolicy(rate: rate)) { $0.coalescesGETRequests = true }
        let calls = (0..<3).map { _ in Task { try await client.request(Text()) } }
        try await gate.waitForWaiters()
        gate.open()
        for call in calls { #expect(try await call.value == "there") }
        #expect(rate.available == 10 - transport.sent.count)
    }

    @Test func anAttemptThatIsRefusedSendsNothingAndIsNotRetried() async throws {
        let rate = RateLimiter(name: "quota", rate: 1, per: .seconds(10), burst: 1, clock: clock)
        let (judge, transport) = (Judge(), ScriptedTransport(.ok("there")))
        #expect(rate.tryAcquire())
        let client = client(transport, HostPolicy(breaker: judge.breaker, rate: rate)) {
            $0.retry = HTTPRetryPolicy(backoff: .none)
        }
        await #expect(throws: CallRefusedError(.rateExceeded, name: "quota", retryAfter: .seconds(10))) {
            try await withDeadline(in: .seconds(5), clock: clock) { try await client.request(Text()) }
        }
        #expect(transport.sent.count == 0)
        #expect(await judge.verdict == .unknown)
    }

    /// A part that counts the outcomes of the exchanges.
    private struct Counting: PolicyPart {
        let outcomes: OrderRecorder<String>

        func enter(at time: inout PolicyTime) -> Void? { () }

        func leave(_ pass: Void, with outcome: PolicyOutcome, at time: inout PolicyTime) {
            switch outcome {
            case .healthy: outcomes.record("healthy")
            case .failed: outcomes.record("failed")
            case .unknown: outcomes.record("unknown")
            }
        }
    }

    @Test func aPartAroundTheExchangesSeesEachOfThemAndOneAroundTheCallSeesTheLast() async throws {
        let (calls, exchanges) = (OrderRecorder<String>(), OrderRecorder<String>())
        let policy = HostPolicy(
            callParts: [Counting(outcomes: calls)],
            attemptParts: [Counting(outcomes: exchanges)]
        )
        let transport = ScriptedTransport(.status(503), .unreachable(), .status(404))
        let first = client(transport, policy) { $0.retry = HTTPRetryPolicy(backoff: .none) }
        await #expect(throws: EndpointError.self) { try await first.request(Checked()) }
        #expect(exchanges.events == ["failed", "failed", "healthy"])
        #expect(calls.events == ["healthy"])
        let clock = clock
        let hanging = ScriptedTransport { _ in
            try await Gate().wait()
            return .ok("")
        }
        let second = client(hanging, policy) { $0.attemptTimeout = .seconds(1) }
        let call = Task { try await second.request(Text()) }
        try await hanging.sent.waitForEvents(count: 1)
        await clock.advance(by: .seconds(1), waking: 1)
        await #expect(throws: TimeoutError.self) { try await call.value }
        #expect(exchanges.events.last == "failed" && calls.events.last == "failed", "the host hangs")
        let third = Task {
            try await withDeadline(in: .seconds(1), clock: clock) { try await second.request(Text()) }
        }
        try await hanging.sent.waitForEvents(count: 2)
        third.cancel()
        await #expect(throws: CancellationError.self) { try await third.value }
        #expect(exchanges.events.last == "unknown" && calls.events.last == "unknown", "the caller has left")
    }
}
