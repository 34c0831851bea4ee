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
        _ policy: ResiliencePolicy,
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
                    return ResiliencePolicy(breaker: CircuitBreaker(name: host, failureThreshold: 1, minimumCalls: 1))
                }
            )
        )
        for path in ["http://down/1", "http://up/1", "http://up:8080/2"] {
            _ = try await client.request(Text(path: path))
        }
        let error = await #expect(throws: CircuitOpenError.self) {
            try await client.request(Text(path: "http://DOWN/2"))
        }
        #expect(error?.name == "down")
        #expect(try await client.request(Text(path: "http://up/3")) == "there")
        #expect(made.events == ["down", "up"])
        #expect(transport.sent.count == 4)
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
        await #expect(throws: CircuitOpenError.self) { try await client.request(Text(path: "http://b/1")) }
        await #expect(throws: CircuitOpenError.self) { try await withPolicy(judge.policy) {} }
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
        await #expect(throws: CircuitOpenError.self) { try await client.request(Text()) }
        #expect(transport.sent.count == 1 && observed.events == [503])
    }

    @Test func aStreamHoldsItsPermitUntilItIsRead() async throws {
        let semaphore = AsyncSemaphore(value: 1)
        let client = client(ScriptedTransport(.ok("there")), ResiliencePolicy(concurrency: semaphore))
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
        await #expect(throws: CircuitOpenError.self) { try await client.request(Own()) }
        #expect(transport.sent.count == 1)
    }

    private struct Own: Endpoint, URLRequestBuildable {
        typealias Content = String

        func makeRequest() throws -> URLRequest { get(URL(string: "text")!) }

        func adjust(_ policies: inout ClientPolicies) { policies.resilience = .perHost { _ in ResiliencePolicy() } }
    }

    @Test func callsWaitInTheLinesOfTheLimits() async throws {
        let gate = Gate()
        let transport = ScriptedTransport { _ in
            try await gate.wait(); return .ok("there")
        }
        let rate = RateLimiter(rate: 1, per: .seconds(1), burst: 1, clock: clock)
        let client = client(transport, ResiliencePolicy(concurrency: AsyncSemaphore(value: 1), rate: rate))
        let calls = (0..<2).map { _ in Task { try await client.request(Text()) } }
        try await gate.waitForWaiters()
        #expect(transport.sent.count == 1)
        gate.open()
        await clock.advance(by: .seconds(1), waking: 1)
        for call in calls { #expect(try await call.value == "there") }
        await #expect(throws: RateLimitExceededError.self) {
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
                        ResiliencePolicy(breaker: CircuitBreaker(name: host, failureThreshold: 1, minimumCalls: 1))
                    }
                )
            )
            _ = try await client.request(Text())
            await #expect(throws: CircuitOpenError.self) { try await client.request(Text()) }
        }
        #expect(
            events.filter { $0.primitive == .circuitBreaker }.map(\.name).prefix(3)
                == ["CircuitBreaker.created", "CircuitBreaker.circuitOpened", "CircuitBreaker.callRefused"]
        )
        #expect(events.allSatisfy { $0.primitive != .circuitBreaker || $0.ownerName == "h" })
        #expect(events.named("HTTP.started").count == 1, "a refused call makes no attempt")
    }

    // MARK: Attempts

    @Test func thePolicysRetriesFollowTheRulesOfTheClient() async throws {
        let policy = ResiliencePolicy(retry: RetryPolicy(attempts: 2, backoff: .none))
        let transport = ScriptedTransport(.status(503), .ok("there"))
        #expect(try await client(transport, policy).request(Text()) == "there")
        let other = ScriptedTransport(.status(503, "busy"), .ok("there"))
        #expect(try await client(other, policy).request(Text(method: "POST")) == "busy")
        #expect(other.sent.count == 1)
        let down = ScriptedTransport(.unreachable())
        await #expect(throws: EndpointError.self) { try await client(down, policy).request(Text()) }
        #expect(down.sent.count == 2)
        await #expect(throws: EndpointError.self) { try await client(down, policy).request(Text(method: "POST")) }
        #expect(down.sent.count == 3)
    }

    @Test func thePolicyCanExcludeErrorsFromItsRetries() async throws {
        let policy = ResiliencePolicy(
            retry: RetryPolicy(backoff: .none, shouldRetry: { ($0 as? EndpointError)?.statusCode != 503 })
        )
        let transport = ScriptedTransport(.unreachable(), .status(503))
        await #expect(throws: EndpointError.self) { try await client(transport, policy).request(Text()) }
        #expect(transport.sent.count == 2)
    }

    @Test func theRetriesOfTheClientReplaceThoseOfThePolicy() async throws {
        let policy = ResiliencePolicy(retry: RetryPolicy(attempts: 5, backoff: .none, shouldRetry: { _ in false }))
        let transport = ScriptedTransport(.unreachable())
        let client = client(transport, policy) { $0.retry = HTTPRetryPolicy(attempts: 2, backoff: .none) }
        await #expect(throws: EndpointError.self) { try await client.request(Text()) }
        #expect(transport.sent.count == 2)
    }

    @Test func thePolicysBudgetPaysForItsRetries() async throws {
        let budget = RetryBudget(capacity: 100, cost: 60)
        let policy = ResiliencePolicy(retry: RetryPolicy(attempts: 5, backoff: .none, budget: budget))
        let transport = ScriptedTransport(.unreachable())
        await #expect(throws: EndpointError.self) { try await client(transport, policy).request(Text()) }
        #expect(transport.sent.count == 2 && budget.available == 40)
    }

    @Test func thePolicysRetriesEndWithItsTime() async throws {
        let policy = ResiliencePolicy(
            retry: RetryPolicy(attempts: 5, backoff: .fixed(.seconds(2)), budget: nil, maxElapsed: .seconds(1))
        )
        let transport = ScriptedTransport(.unreachable())
        await #expect(throws: EndpointError.self) { try await client(transport, policy).request(Text()) }
        #expect(transport.sent.count == 1)
    }

    @Test func theThrottlePaysForRetries() async throws {
        let throttle = ClientThrottle(budget: .init(capacity: 100, cost: 60), clock: clock)
        let policy = ResiliencePolicy(throttle: throttle)
        let transport = ScriptedTransport(.unreachable())
        let client = client(transport, policy) {
            $0.retry = HTTPRetryPolicy(attempts: 5, backoff: .none, budget: .unlimited)
        }
        await #expect(throws: EndpointError.self) { try await client.request(Text()) }
        #expect(transport.sent.count == 2 && throttle.budget.available == 40)
    }

    @Test func eachAttemptHasTheTimeLimitOfThePolicyUnlessTheClientHasOne() async throws {
        let transport = ScriptedTransport { _ in
            try await Gate().wait(); return .ok("")
        }
        let policy = ResiliencePolicy(attemptTimeout: .seconds(1))
        for limit in [nil, Duration.seconds(3)] {
            let client = client(transport, policy) { $0.attemptTimeLimit = limit }
            let call = Task { [clock] in
                let begin = clock.now.offset
                await #expect(throws: TimeoutError.self) { try await client.request(Text()) }
                return clock.now.offset - begin
            }
            await clock.advance(by: limit ?? .seconds(1), waking: 1)
            #expect(await call.value == limit ?? .seconds(1))
        }
    }

    @Test func aTransferHasNoTimeLimitOfThePolicy() async throws {
        let gate = Gate()
        let transport = ScriptedTransport { _ in
            try await gate.wait(); return .ok("there")
        }
        let client = client(transport, ResiliencePolicy(attemptTimeout: .seconds(1)))
        let transfers = Transfers(client)
        try await gate.waitForWaiters(count: 3)
        #expect(clock.sleeperCount == 0)
        gate.open()
        #expect(try await transfers.upload.value == "there")
        #expect(try await transfers.stream.value == 200)
        #expect(try await transfers.download.value == 200)
    }
}
