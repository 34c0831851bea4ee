import Foundation
import TaskControl
import TaskControlHTTP
import TaskControlTesting
import Testing

@Suite(.timeLimit(.minutes(15)))
struct HTTPRetryPolicyTests {
    private static func policies(backoff: RetryBackoff = .none) -> ClientPolicies {
        ClientPolicies(retry: HTTPRetryPolicy(backoff: backoff))
    }

    @Test(arguments: [408, 425, 429, 500, 502, 503, 504])
    func aStatusThatMayPassIsTriedAgain(_ status: Int) async throws {
        let transport = ScriptedTransport(.status(status), .ok("there"))
        #expect(try await EndpointClient(transport, policies: Self.policies()).request(Text()) == "there")
        #expect(transport.sent.count == 2)
    }

    @Test(arguments: [200, 204, 301, 400, 401, 403, 404, 409, 410, 501, 505])
    func anotherStatusIsAnAnswer(_ status: Int) async throws {
        let transport = ScriptedTransport(.status(status, "text"))
        #expect(try await EndpointClient(transport, policies: Self.policies()).request(Text()) == "text")
        #expect(transport.sent.count == 1)
    }

    @Test(arguments: ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE", "get"])
    func anIdempotentMethodIsRepeated(_ method: String) async throws {
        let transport = ScriptedTransport(.unreachable(), .ok("there"))
        #expect(try await EndpointClient(transport, policies: Self.policies()).request(Text(method: method)) == "there")
    }

    @Test(arguments: ["POST", "PATCH", "CONNECT"])
    func anotherMethodIsNotRepeated(_ method: String) async throws {
        let transport = ScriptedTransport(.unreachable(), .ok("there"))
        let client = EndpointClient(transport, policies: Self.policies())
        await #expect(throws: EndpointError.self) { try await client.request(Text(method: method)) }
        #expect(transport.sent.count == 1)
        // A status is then an answer like any other, for the endpoint to judge.
        let busy = EndpointClient(ScriptedTransport(.status(503, "busy")), policies: Self.policies())
        #expect(try await busy.request(Text(method: method)) == "busy")
    }

    @Test func anIdempotencyKeyMakesItsRequestRepeatable() async throws {
        let transport = ScriptedTransport(.status(503), .ok("there"))
        let endpoint = Text(method: "POST", headers: ["Idempotency-Key": "1"])
        #expect(try await EndpointClient(transport, policies: Self.policies()).request(endpoint) == "there")
        #expect(transport.sent.events.map { $0.headers["Idempotency-Key"] } == ["1", "1"])
    }

    /// The condition ends a delay without end, and the first attempt does not wait for it.
    @Test func aConditionHoldsUpTheNextAttempt() async throws {
        let transport = ScriptedTransport(.unreachable(), .ok("there"))
        let (reports, network) = AsyncStream<Bool>.makeStream()
        let asked = Gate()
        var retry = HTTPRetryPolicy(backoff: .fixed(.seconds(3_600)))
        retry.waitingFor = {
            asked.open()
            return reports
        }
        let client = EndpointClient(transport, policies: ClientPolicies(retry: retry))
        let call = Task { try await client.request(Text()) }
        try await asked.wait()
        network.yield(false)
        #expect(transport.sent.count == 1)
        network.yield(true)
        #expect(try await call.value == "there")
        #expect(transport.sent.count == 2)
    }

    @Test func theLastFailureIsThrown() async throws {
        let transport = ScriptedTransport(
            .unreachable(),
            .unreachable(),
            .status(503, "busy", headers: ["Retry-After": "7"])
        )
        let error = await #expect(throws: EndpointError.self) {
            try await EndpointClient(transport, policies: Self.policies()).request(Text())
        }
        #expect(error?.reason == .status)
        #expect(error?.statusCode == 503)
        #expect(error?.bodyPrefix == "busy")
        #expect(error?.retryAfter == .seconds(7))
        #expect(transport.sent.count == 3)
    }

    @Test func aTransportErrorThatWillBeTheSameTomorrowIsNotRetried() async throws {
        for code in [URLError.Code.badURL, .unsupportedURL, .serverCertificateUntrusted, .httpTooManyRedirects] {
            let transport = ScriptedTransport(.unreachable(URLError(code)))
            let client = EndpointClient(transport, policies: Self.policies())
            await #expect(throws: EndpointError.self) { try await client.request(Text()) }
            #expect(transport.sent.count == 1)
        }
    }

    @Test func aBodyThatBreaksOffIsTriedAgain() async throws {
        let transport = ScriptedTransport(
            ScriptedTransport.Reply(chunks: [Data("the".utf8)], failure: URLError(.networkConnectionLost)),
            .ok("there")
        )
        #expect(try await EndpointClient(transport, policies: Self.policies()).request(Text()) == "there")
    }

    @Test func whatTheEndpointThrowsOfAGoodResponseIsNotRetried() async throws {
        let transport = ScriptedTransport(.ok("no numbers"))
        let client = EndpointClient(transport, policies: Self.policies())
        await #expect(throws: EndpointError.self) { try await client.request(Numbers()) }
        #expect(transport.sent.count == 1)
    }

    @Test(arguments: ["2", "Sun, 06 Nov 1994 08:49:39 GMT"])
    func theServersHintLiftsTheDelay(_ hint: String) async throws {
        let headers = ["Retry-After": hint, "Date": "Sun, 06 Nov 1994 08:49:37 GMT"]
        let transport = ScriptedTransport(.status(429, headers: headers), .ok("there"))
        let clock = TestClock()
        var policies = Self.policies(backoff: .fixed(.seconds(1)))
        policies.clock = clock
        let client = EndpointClient(transport, policies: policies)
        async let text = client.request(Text())
        try await clock.waitForSleepers()
        await clock.advance(by: .milliseconds(1_999))
        #expect(clock.sleeperCount == 1 && transport.sent.count == 1)
        await clock.advance(by: .milliseconds(1))
        #expect(try await text == "there")
    }

    /// The endpoint's error reaches the backoff and the caller as it is; the hint comes from the response.
    @Test func theServersHintLiftsTheDelayAfterAnEndpointsOwnError() async throws {
        let transport = ScriptedTransport(.status(429, headers: ["Retry-After": "2"]), .status(429))
        let (clock, seen) = (TestClock(), OrderRecorder<Mishap?>())
        var policies = Self.policies(
            backoff: .custom { _, error in
                seen.record(error as? Mishap)
                return .seconds(1)
            }
        )
        policies.retry?.attempts = 2
        policies.clock = clock
        let client = EndpointClient(transport, policies: policies)
        let call = Task { try await client.request(Refusing()) }
        try await clock.waitForSleepers()
        await clock.advance(by: .milliseconds(1_999))
        #expect(clock.sleeperCount == 1 && transport.sent.count == 1)
        await clock.advance(by: .milliseconds(1))
        await #expect(throws: Mishap(name: "429")) { try await call.value }
        #expect(seen.events == [Mishap(name: "429")])
    }

    @Test func aHintBeyondTheCapFailsAtOnceAndTheErrorHasIt() async throws {
        let transport = ScriptedTransport(.status(429, headers: ["Retry-After": "3600"]), .ok("there"))
        // 20 s, by default.
        let client = EndpointClient(transport, policies: ClientPolicies(retry: HTTPRetryPolicy(), clock: TestClock()))
        let error = await #expect(throws: EndpointError.self) { try await client.request(Text()) }
        #expect(error?.statusCode == 429 && error?.retryAfter == .seconds(3_600))
        #expect(transport.sent.count == 1)
    }

    @Test func whatCanBeSentOnceFailsWithWhatCameOfIt() async throws {
        let retried = OrderRecorder<Int>()
        let transport = ScriptedTransport(.status(503, "busy"), .ok("there"))
        let policies = Self.policies(
            backoff: .custom { attempt, _ in
                retried.record(attempt)
                return .zero
            }
        )
        let client = EndpointClient(transport, policies: policies)
        let error = await #expect(throws: EndpointError.self) {
            try await client.upload(Upload(body: .stream(InputStream(data: Data("body".utf8)))))
        }
        #expect(error?.statusCode == 503)
        #expect(transport.sent.count == 1)
        #expect(retried.count == 0)
        #expect(try await client.upload(Upload(body: .data(Data()))) == "there")
    }

    @Test func aBackoffSeesTheErrorThatTheCallerWouldSee() async throws {
        let seen = OrderRecorder<Int?>()
        let policies = Self.policies(
            backoff: .custom { _, error in
                seen.record((error as? EndpointError)?.statusCode)
                return .zero
            }
        )
        let client = EndpointClient(ScriptedTransport(.status(503), .ok("there")), policies: policies)
        _ = try await client.request(Text())
        #expect(seen.events == [503])
    }

    /// The callers come one second after another, and the limit is that of the exchange.
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func theNextAttemptsOfCallersWhoseExchangeTookTooLongShareAnotherOne() async throws {
        let (stuck, answer) = (Gate(), Gate())
        let transport = ScriptedTransport { [calls = OrderRecorder<Int>()] _ in
            calls.record(0)
            try await (calls.count == 1 ? stuck : answer).wait()
            return .ok("there")
        }
        let clock = TestClock()
        var policies = Self.policies()
        policies.attemptTimeout = .seconds(10)
        policies.coalescesGETRequests = true
        policies.clock = clock
        let client = EndpointClient(transport, policies: policies)
        var calls: [Task<String, any Error>] = []
        for number in 0..<5 {
            if number > 0 { await clock.advance(by: .seconds(1)) }
            calls.append(Task.immediate { try await client.request(Text()) })
            if number == 0 { try await stuck.waitForWaiters() }
        }
        #expect(transport.sent.count == 1)
        await clock.advance(by: .seconds(6), waking: 1)
        try await answer.waitForWaiters()
        answer.open()
        for call in calls { #expect(try await call.value == "there") }
        #expect(transport.sent.count == 2)
    }

    @Test func aBudgetIsAHosts() async throws {
        let transport = ScriptedTransport(.status(503))
        let retry = HTTPRetryPolicy(
            backoff: .none,
            budget: .perHost(capacity: 28)
        )
        let client = EndpointClient(transport, policies: ClientPolicies(retry: retry))
        for _ in 0..<5 { await #expect(throws: EndpointError.self) { try await client.request(Text()) } }
        // Five first attempts, and the two retries that the budget paid for.
        #expect(transport.sent.count == 7)
    }

    @Test func withoutABudgetRetriesAreNotLimitedAndByDefaultTheyAre() async throws {
        for (retry, expected) in [
            (HTTPRetryPolicy(backoff: .none, budget: nil), 60),
            // Twenty first attempts, and what a bucket of 500 pays for at 14 a retry.
            (HTTPRetryPolicy(backoff: .none), 20 + 35),
        ] {
            let transport = ScriptedTransport(.status(503))
            let client = EndpointClient(transport, policies: ClientPolicies(retry: retry))
            for _ in 0..<20 { await #expect(throws: EndpointError.self) { try await client.request(Text()) } }
            #expect(transport.sent.count == expected)
        }
    }

    @Test func aRetryThatWouldComeTooLateIsNotBegun() async throws {
        let transport = ScriptedTransport(.status(503))
        let retry = HTTPRetryPolicy(backoff: .fixed(.seconds(10)), maxElapsed: .seconds(9))
        let client = EndpointClient(transport, policies: ClientPolicies(retry: retry, clock: TestClock()))
        let error = await #expect(throws: EndpointError.self) { try await client.request(Text()) }
        #expect(error?.statusCode == 503)
        #expect(transport.sent.count == 1)
    }

    @Test func methodsAndStatusesAreThePolicys() async throws {
        let retry = HTTPRetryPolicy(backoff: .none, methods: ["post"], statuses: [404])
        for (method, status, attempts) in [("POST", 404, 2), ("GET", 404, 1), ("POST", 503, 1)] {
            let transport = ScriptedTransport(.status(status), .ok("there"))
            let client = EndpointClient(transport, policies: ClientPolicies(retry: retry))
            _ = try await client.request(Text(method: method))
            #expect(transport.sent.count == attempts)
        }
    }

    @Test func anAttemptThatTakesTooLongIsTriedAgain() async throws {
        let stuck = Gate()
        let transport = ScriptedTransport { [calls = OrderRecorder<Int>()] _ in
            calls.record(0)
            if calls.count == 1 { try await stuck.wait() }
            return .ok("there")
        }
        let clock = TestClock()
        var policies = Self.policies()
        policies.attemptTimeout = .seconds(10)
        policies.clock = clock
        let client = EndpointClient(transport, policies: policies)
        async let text = client.request(Text())
        try await stuck.waitForWaiters()
        try await clock.waitForSleepers()
        await clock.advance(by: .seconds(10))
        #expect(try await text == "there")
    }

    @Test func theLimitOfACallEndsItWithATimeoutError() async throws {
        let stuck = Gate()
        let seen = OrderRecorder<Bool>()
        let clock = TestClock()
        let client = EndpointClient(
            ScriptedTransport { _ in
                try await stuck.wait()
                return .ok("")
            },
            policies: ClientPolicies(retry: HTTPRetryPolicy(), timeout: .seconds(30), clock: clock),
            observer: { _, _, _, error in seen.record(error is CancellationError) }
        )
        let call = Task { try await client.request(Text()) }
        try await stuck.waitForWaiters()
        try await clock.waitForSleepers()
        await clock.advance(by: .seconds(30))
        await #expect(throws: TimeoutError.self) { try await call.value }
        #expect(seen.events == [true])
    }

    @Test func aCallerThatIsCancelledIsNotTriedAgain() async throws {
        let stuck = Gate()
        let transport = ScriptedTransport { _ in
            try? await stuck.wait()
            throw URLError(.cancelled)
        }
        let client = EndpointClient(transport, policies: Self.policies())
        let caller = Task { try await client.request(Text()) }
        try await stuck.waitForWaiters()
        caller.cancel()
        await #expect(throws: CancellationError.self) { try await caller.value }
        #expect(transport.sent.count == 1)
    }
}

/// An endpoint that throws an error of its own for every status except 200.
private struct Refusing: Endpoint {
    typealias Content = String

    func makeRequest() throws -> URLRequest { get("text") }

    func validate(_ request: URLRequest?, response: HTTPURLResponse, data: Data?) throws {
        if response.statusCode != 200 { throw Mishap(name: String(response.statusCode)) }
    }
}
