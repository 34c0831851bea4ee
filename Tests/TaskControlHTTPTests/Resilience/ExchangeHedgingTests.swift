import Foundation
import TaskControl
import TaskControlHTTP
import TaskControlResilience
import TaskControlTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(15)))
struct ExchangeHedgingTests {
    private let clock = TestClock()
    private let budget = RetryBudget(capacity: 100, cost: 20)

    private func policies(shouldHedge: @escaping @Sendable (any Error) -> Bool = { _ in false }) -> ClientPolicies {
        let hedging = ResiliencePolicy.Hedging(after: .fixed(.seconds(1)), budget: budget, shouldHedge: shouldHedge)
        return ClientPolicies(resilience: .shared(HostPolicy(hedging: hedging)), clock: clock)
    }

    /// A transport whose first exchange lasts until it is cancelled, and then records that it is over.
    private func transport(_ over: OrderRecorder<String>) -> ScriptedTransport {
        let count = Locked(0)
        return ScriptedTransport { _ in
            guard
                count.withLock({
                    $0 += 1; return $0
                }) == 1
            else { return .ok("hedge") }
            defer { over.record("loser") }
            try await Gate().wait()
            return .ok("primary")
        }
    }

    @Test(arguments: ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE", "get"])
    func theLoserIsOverBeforeTheWinnerIsReturned(_ method: String) async throws {
        let over = OrderRecorder<String>()
        let client = EndpointClient(
            transport(over),
            policies: policies(),
            observer: { _, _, _, _ in over.record("observer") }
        )
        let call = Task { try await client.request(Text(method: method)) }
        await clock.advance(by: .seconds(1), waking: 1)
        #expect(try await call.value == "hedge")
        #expect(over.events == ["loser", "observer"], "one attempt, whatever its exchanges")
        #expect(budget.available == 100 - 20 + 1)
    }

    @Test func anInterruptedExchangeDoesNotEndTheOther() async throws {
        let (gate, count) = (Gate(), Locked(0))
        let transport = ScriptedTransport { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            if number == 2 {
                gate.open()
                throw CancellationError()
            }
            try await gate.wait()
            return .ok("primary")
        }
        let client = EndpointClient(transport, policies: policies())
        let call = Task { try await client.request(Text(method: "GET")) }
        await clock.advance(by: .seconds(1), waking: 1)
        #expect(try await call.value == "primary")
        #expect(transport.sent.count == 2)
    }

    @Test(arguments: ["POST", "PATCH"])
    func anotherMethodIsSentOnce(_ method: String) async throws {
        let gate = Gate()
        let transport = ScriptedTransport { _ in
            try await gate.wait(); return .ok("there")
        }
        var policies = policies()
        // Not even if the retries may repeat it.
        policies.retry = HTTPRetryPolicy(methods: ["POST", "PATCH"])
        let client = EndpointClient(transport, policies: policies)
        let endpoint = Text(method: method, headers: ["Idempotency-Key": "1"])
        let call = Task { try await client.request(endpoint) }
        try await gate.waitForWaiters()
        #expect(clock.sleeperCount == 0)
        gate.open()
        #expect(try await call.value == "there")
        #expect(transport.sent.count == 1)
    }

    @Test func aTransferIsSentOnce() async throws {
        let gate = Gate()
        let transport = ScriptedTransport { _ in
            try await gate.wait(); return .ok("there")
        }
        let client = EndpointClient(transport, policies: policies())
        let transfers = Transfers(client)
        try await gate.waitForWaiters(count: 3)
        #expect(clock.sleeperCount == 0)
        gate.open()
        #expect(try await transfers.upload.value == "there")
        #expect(try await transfers.stream.value == 200)
        #expect(try await transfers.download.value == 200)
        #expect(transport.sent.count == 3)
    }

    @Test func theHedgeHasTheCredentialOfItsAttempt() async throws {
        let logins = OrderRecorder<Int>()
        var policies = policies()
        policies.authenticator = .bearer {
            logins.record(1)
            return "token\(logins.count)"
        }
        let (transport, clock) = (transport(OrderRecorder()), clock)
        let client = EndpointClient(transport, policies: policies)
        let call = Task { try await client.request(Text()) }
        await clock.advance(by: .seconds(1), waking: 1)
        #expect(try await call.value == "hedge")
        #expect(transport.sent.events.map(\.authorization) == ["Bearer token1", "Bearer token1"])
    }

    @Test func theHedgeSendsTheTimeThatIsLeft() async throws {
        var policies = policies()
        policies.deadlineHeader = .requestTimeout
        let (transport, clock) = (transport(OrderRecorder()), clock)
        let client = EndpointClient(transport, policies: policies)
        let call = Task {
            try await withDeadline(in: .seconds(5), clock: clock) { try await client.request(Text()) }
        }
        // The deadline and the hedge.
        try await clock.waitForSleepers(count: 2)
        await clock.advance(by: .seconds(1), waking: 1)
        #expect(try await call.value == "hedge")
        #expect(transport.sent.events.map { $0.headers["Request-Timeout"] } == ["5000", "4000"])
    }

    @Test func anExchangeThatReachesTheLimitOfAnAttemptEndsTheCallUnlessTheRuleHedgesIt() async throws {
        var policies = policies()
        policies.attemptTimeout = .seconds(2)
        let transport = ScriptedTransport { _ in
            try await Gate().wait(); return .ok("")
        }
        let client = EndpointClient(transport, policies: policies)
        let call = Task { try await client.request(Text()) }
        try await clock.waitForSleepers(count: 2)
        await clock.advance(by: .seconds(1), waking: 1)
        try await transport.sent.waitForEvents(count: 2)
        await clock.advance(by: .seconds(1), waking: 1)
        await #expect(throws: TimeoutError.self) { try await call.value }
        #expect(clock.now.offset == .seconds(2))
    }

    @Test func requestsThatShareAnExchangeShareItsHedge() async throws {
        var policies = policies()
        policies.coalescesGETRequests = true
        let asked = OrderRecorder<Int>()
        let (transport, clock) = (transport(OrderRecorder()), clock)
        let client = EndpointClient(requestAdapter: Asking(asked: asked), transport: transport, policies: policies)
        let calls = (0..<5).map { _ in Task { try await client.request(Text(path: "http://h/text")) } }
        try await asked.waitForEvents(count: 5)
        await clock.advance(by: .seconds(1), waking: 1)
        for call in calls { #expect(try await call.value == "hedge") }
    }

    private struct Asking: URLRequestAdapter {
        let asked: OrderRecorder<Int>

        func adapt(_ request: URLRequest) -> URLRequest {
            asked.record(1)
            return request
        }
    }

    /// As an error that ends the exchanges, unless `shouldHedge` says otherwise.
    @Test(arguments: [false, true])
    func aBadStatusEndsTheExchangesUnlessAHedgeIsWorthIt(_ isWorthIt: Bool) async throws {
        let transport = ScriptedTransport(.status(503, "busy"), .ok("there"))
        let client = EndpointClient(
            transport,
            policies: policies { ($0 as? EndpointError)?.statusCode == 503 && isWorthIt }
        )
        #expect(try await client.request(Text()) == (isWorthIt ? "there" : "busy"))
        #expect(transport.sent.count == (isWorthIt ? 2 : 1))
        #expect(budget.available == (isWorthIt ? 100 - 20 + 1 : 100))
    }

    @Test func anErrorReachesTheCallerAsWithoutHedging() async throws {
        let transport = ScriptedTransport(
            ScriptedTransport.Reply(status: 503, chunks: [Data("bus".utf8)], failure: URLError(.networkConnectionLost))
        )
        let error = await #expect(throws: EndpointError.self) {
            try await EndpointClient(transport, policies: policies()).request(Text())
        }
        #expect(error?.reason == .transport && error?.statusCode == 503 && error?.bodyPrefix == "bus")
        #expect(error?.underlyingError as? URLError == URLError(.networkConnectionLost))
    }

    @Test func progressIsThatOfTheExchangeThatCounts() async throws {
        // Reports of the end alone: some are made of several updates.
        let reports = OrderRecorder<Int64>()
        let (transport, clock) = (transport(OrderRecorder()), clock)
        let client = EndpointClient(transport, policies: policies())
        let call = Task { try await client.request(Text(), onProgress: { reports.record($0.received) }) }
        await clock.advance(by: .seconds(1), waking: 1)
        #expect(try await call.value == "hedge")
        #expect(reports.events.last == 5 && Set(reports.events).isSubset(of: [0, 5]))
    }
}

@Suite(.timeLimit(.minutes(60)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct ExchangeHedgingSimulationTests {
    /// A transport whose exchanges take a time each, and a count of those that are not over.
    private static func transport(_ running: Locked<Int>, _ times: Duration...) -> ScriptedTransport {
        let begun = Locked(0)
        return ScriptedTransport { _ in
            let number = begun.withLock { number in
                number += 1
                return number
            }
            running.withLock { $0 += 1 }
            defer { running.withLock { $0 -= 1 } }
            try await Task.sleep(for: times[number - 1])
            return .ok("\(number)")
        }
    }

    private static func policies(_ breaker: CircuitBreaker, _ budget: RetryBudget) -> ClientPolicies {
        let hedging = ResiliencePolicy.Hedging(after: .fixed(.seconds(1)), budget: budget)
        return ClientPolicies(resilience: .shared(HostPolicy(breaker: breaker, hedging: hedging)))
    }

    @Test func aHedgeAndThePrimaryFinishTogether() async throws {
        try await race { sim in
            let running = Locked(0)
            let transport = Self.transport(running, .seconds(3), .seconds(2))
            let client = EndpointClient(transport, policies: Self.policies(CircuitBreaker(), RetryBudget()))
            let text = try await client.request(Text())
            sim.expect(["1", "2"].contains(text), "one of them wins")
            sim.expect(running.withLock(\.self) == 0, "both exchanges are over")
            sim.expect(transport.sent.count == 2, "one hedge begins")
        }
    }

    @Test func theCallerLeavesWhileAHedgeBegins() async throws {
        try await race { sim in
            let (running, budget) = (Locked(0), RetryBudget())
            let breaker = CircuitBreaker(failureThreshold: 0.01, minimumCalls: 1)
            let transport = Self.transport(running, .milliseconds(2_500), .milliseconds(2_500))
            let client = EndpointClient(transport, policies: Self.policies(breaker, budget))
            let call = Task { try await client.request(Text()) }
            sim.atAnyPoint { call.cancel() }
            do {
                sim.expect(try await call.value == "1", "both take the same time, so the first one wins")
            } catch {
                sim.expect(error is CancellationError, "a cancelled caller has one error")
            }
            sim.expect(running.withLock(\.self) == 0, "both exchanges are over")
            sim.expect(budget.available <= 500, "nothing is given back that was not taken")
            sim.expect(breaker.state == .closed, "a caller that leaves says nothing about the host")
        }
    }
}
