import Foundation
import TaskControl
import TaskControlHTTP
import TaskControlResilience
import TaskControlTesting
import TestSupport
import Testing

/// The failures of a host.
@Suite(.timeLimit(.minutes(15)))
struct HostFailureTests {
    private let judge = Judge()

    private func client(_ transport: any HTTPTransport, _ adjust: (inout ClientPolicies) -> Void = { _ in })
        -> EndpointClient
    {
        var policies = ClientPolicies(resilience: .shared(judge.policy))
        adjust(&policies)
        return EndpointClient(transport, policies: policies)
    }

    @Test(arguments: [500, 501, 503, 599, 429])
    func aStatusOfTheHostIsAFailureAlsoWhereTheEndpointAcceptsIt(_ status: Int) async throws {
        #expect(try await client(ScriptedTransport(.status(status, "text"))).request(Text()) == "text")
        #expect(await judge.verdict == .failed)
    }

    @Test(arguments: [200, 204, 304, 400, 401, 403, 404, 408, 409])
    func anotherStatusIsASuccessAlsoWhereTheEndpointThrows(_ status: Int) async throws {
        _ = try? await client(ScriptedTransport(.status(status))).request(Checked())
        #expect(await judge.verdict == .healthy)
    }

    @Test func contentThatCannotBeDecodedIsASuccess() async throws {
        await #expect(throws: EndpointError.self) {
            try await client(ScriptedTransport(.ok("no numbers"))).request(Numbers())
        }
        #expect(await judge.verdict == .healthy)
    }

    @Test func aBodyThatIsTooLargeIsASuccess() async throws {
        let client = client(ScriptedTransport(.ok("12345"))) { $0.bodyLimit = 4 }
        await #expect(throws: EndpointError.self) { try await client.request(Text()) }
        #expect(await judge.verdict == .healthy)
    }

    @Test func anErrorOfTheTransportIsAFailure() async throws {
        await #expect(throws: EndpointError.self) {
            try await client(ScriptedTransport(.unreachable())).request(Text())
        }
        #expect(await judge.verdict == .failed)
    }

    @Test func aBodyThatBreaksOffIsAFailure() async throws {
        let transport = ScriptedTransport(
            ScriptedTransport.Reply(chunks: [Data("the".utf8)], failure: URLError(.networkConnectionLost))
        )
        await #expect(throws: EndpointError.self) { try await client(transport).request(Text()) }
        #expect(await judge.verdict == .failed)
    }

    @Test(arguments: [URLError.Code.badURL, .serverCertificateUntrusted, .httpTooManyRedirects])
    func anErrorThatIsTheSameEachTimeSaysNothing(_ code: URLError.Code) async throws {
        let transport = ScriptedTransport(.unreachable(URLError(code)))
        await #expect(throws: EndpointError.self) { try await client(transport).request(Text()) }
        #expect(await judge.verdict == .unknown)
    }

    @Test func aRequestThatIsNotSentSaysNothing() async throws {
        let client = client(ScriptedTransport()) { $0.authenticator = .bearer { throw Mishap() } }
        await #expect(throws: Mishap.self) { try await client.request(Text()) }
        #expect(await judge.verdict == .unknown)
    }

    @Test func anAttemptThatReachesItsLimitIsAFailure() async throws {
        let clock = TestClock()
        let client = client(
            ScriptedTransport { _ in
                try await Gate().wait(); return .ok("")
            }
        ) {
            $0.attemptTimeout = .seconds(1)
            $0.clock = clock
        }
        let call = Task { try await client.request(Text()) }
        await clock.advance(by: .seconds(1), waking: 1)
        await #expect(throws: TimeoutError.self) { try await call.value }
        #expect(await judge.verdict == .failed)
    }

    @Test func aCallThatReachesItsLimitIsAFailure() async throws {
        let (clock, gate) = (TestClock(), Gate())
        let client = client(
            ScriptedTransport { _ in
                try await gate.wait(); return .ok("")
            }
        ) {
            $0.timeout = .seconds(1)
            $0.clock = clock
        }
        let call = Task { try await client.request(Text()) }
        try await gate.waitForWaiters()
        await clock.advance(by: .seconds(1), waking: 1)
        await #expect(throws: TimeoutError.self) { try await call.value }
        #expect(await judge.verdict == .failed)
    }

    @Test func aCallWhoseLimitEndsItBeforeItSendsSaysNothing() async throws {
        let (clock, gate) = (TestClock(), Gate())
        let client = client(ScriptedTransport()) {
            $0.timeout = .seconds(1)
            $0.authenticator = .bearer {
                try await gate.wait(); return ""
            }
            $0.clock = clock
        }
        let call = Task { try await client.request(Text()) }
        try await gate.waitForWaiters()
        await clock.advance(by: .seconds(1), waking: 1)
        await #expect(throws: TimeoutError.self) { try await call.value }
        #expect(await judge.verdict == .unknown)
    }

    /// A credential, a permit and a token are waited for, each longer than an attempt may take.
    @Test(arguments: [true, false])
    func theTimeOfAnAttemptContainsNoWait(_ isShared: Bool) async throws {
        let (clock, login, permits) = (TestClock(), Gate(), AsyncSemaphore(value: 1))
        let rate = RateLimiter(rate: 1, per: .seconds(10), burst: 1, clock: clock)
        #expect(rate.tryAcquire())
        try await permits.acquire()
        let client = client(ScriptedTransport(.ok("there"))) {
            $0.resilience = .shared(HostPolicy(breaker: judge.breaker, permits: permits, rate: rate))
            $0.attemptTimeout = .seconds(1)
            $0.coalescesGETRequests = isShared
            $0.authenticator = .bearer {
                try await login.wait()
                return "token"
            }
            $0.clock = clock
        }
        let waits = Collector { $0.primitive == .asyncSemaphore && $0.kind == .waiting }
        let observation = TaskDiagnostics.observe(waits)
        defer { observation.end() }
        let call = Task { try await client.request(Text()) }
        try await login.waitForWaiters()
        await clock.advance(by: .seconds(3))
        login.open()
        try await waits.wait { !$0.isEmpty }
        await clock.advance(by: .seconds(3))
        permits.release()
        await clock.advance(by: .seconds(4), waking: 1)
        #expect(try await call.value == "there")
        #expect(await judge.verdict == .healthy)
        #expect(permits.available == 1)
    }

    @Test func aCallWhoseLimitEndsWhileItWaitsForANewCredentialSaysNothing() async throws {
        let (clock, gate, logins) = (TestClock(), Gate(), OrderRecorder<Int>())
        let client = client(ScriptedTransport(.status(401))) {
            $0.timeout = .seconds(1)
            $0.authenticator = .bearer {
                logins.record(1)
                if logins.count > 1 { try await gate.wait() }
                return "token"
            }
            $0.clock = clock
        }
        let call = Task { try await client.request(Text()) }
        try await gate.waitForWaiters()
        await clock.advance(by: .seconds(1), waking: 1)
        await #expect(throws: TimeoutError.self) { try await call.value }
        #expect(await judge.verdict == .unknown)
    }

    @Test func aCallWhoseLimitEndsWhileItWaitsForAPermitSaysNothing() async throws {
        let (clock, permits) = (TestClock(), AsyncSemaphore(value: 1))
        try await permits.acquire()
        let client = client(ScriptedTransport()) {
            $0.resilience = .shared(HostPolicy(breaker: judge.breaker, permits: permits))
            $0.timeout = .seconds(1)
            $0.clock = clock
        }
        let call = Task { try await client.request(Text()) }
        await clock.advance(by: .seconds(1), waking: 1)
        await #expect(throws: TimeoutError.self) { try await call.value }
        #expect(await judge.verdict == .unknown)
        permits.release()
        #expect(permits.available == 1)
    }

    @Test(arguments: [true, false])
    func aLimitThatEndsDuringTheWaitForATokenSaysNothing(_ isShared: Bool) async throws {
        let (clock, rate) = (TestClock(), RateLimiter(rate: 1, per: .seconds(100), burst: 1, clock: TestClock()))
        #expect(rate.tryAcquire())
        let transport = ScriptedTransport()
        let client = client(transport) {
            $0.resilience = .shared(HostPolicy(breaker: judge.breaker, rate: rate))
            $0.timeout = .seconds(1)
            $0.coalescesGETRequests = isShared
            $0.clock = clock
        }
        let waits = Collector { $0.primitive == .rateLimiter && $0.kind == .waiting }
        let observation = TaskDiagnostics.observe(waits)
        defer { observation.end() }
        let call = Task { try await client.request(Text()) }
        try await waits.wait { !$0.isEmpty }
        await clock.advance(by: .seconds(1), waking: 1)
        await #expect(throws: TimeoutError.self) { try await call.value }
        #expect(await judge.verdict == .unknown)
        #expect(transport.sent.count == 0)
    }

    /// The exchange that hangs was sent, although its hedge waits for a token.
    @Test func aLimitThatEndsWhileAHedgeWaitsForATokenIsAFailure() async throws {
        let (clock, gate) = (TestClock(), Gate())
        let rate = RateLimiter(rate: 1, per: .seconds(100), burst: 1, clock: clock)
        let hedging = ResiliencePolicy.Hedging(after: .fixed(.seconds(1)))
        let client = client(
            ScriptedTransport { _ in
                try await gate.wait(); return .ok("")
            }
        ) {
            $0.resilience = .shared(HostPolicy(breaker: judge.breaker, hedging: hedging, rate: rate))
            $0.timeout = .seconds(2)
            $0.clock = clock
        }
        let call = Task { try await client.request(Text()) }
        try await gate.waitForWaiters()
        try await clock.waitForSleepers(count: 2)
        await clock.advance(by: .seconds(1), waking: 1)
        try await clock.waitForSleepers(count: 2)
        await clock.advance(by: .seconds(1))
        await #expect(throws: TimeoutError.self) { try await call.value }
        #expect(await judge.verdict == .failed)
    }

    @Test func aCallThatIsCancelledSaysNothing() async throws {
        let gate = Gate()
        let client = client(
            ScriptedTransport { _ in
                try await gate.wait(); return .ok("")
            }
        )
        let call = Task { try await client.request(Text()) }
        try await gate.waitForWaiters()
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(await judge.verdict == .unknown)
    }

    @Test(arguments: [true, false])
    func aCallThatHangsUntilTheDeadlineOfItsCallerIsAFailure(_ isShared: Bool) async throws {
        let (clock, gate) = (TestClock(), Gate())
        let client = client(
            ScriptedTransport { _ in
                try await gate.wait(); return .ok("")
            }
        ) {
            $0.coalescesGETRequests = isShared
        }
        let call = Task {
            try await withDeadline(in: .seconds(1), clock: clock) { try await client.request(Text()) }
        }
        try await gate.waitForWaiters()
        await clock.advance(by: .seconds(1), waking: 1)
        await #expect(throws: DeadlineExceededError.self) { try await call.value }
        #expect(await judge.verdict == .failed)
    }

    @Test func aCallIsCountedByItsLastAttempt() async throws {
        let transport = ScriptedTransport(.status(503), .unreachable(), .ok("there"))
        let client = client(transport) { $0.retry = HTTPRetryPolicy(backoff: .none) }
        #expect(try await client.request(Text()) == "there")
        #expect(await judge.verdict == .healthy)
    }

    @Test func isFailureCanExcludeAFailure() async throws {
        let asked = OrderRecorder<Int?>()
        let judge = Judge { error in
            asked.record((error as? EndpointError)?.statusCode)
            return (error as? EndpointError)?.statusCode != 501
        }
        for (status, verdict) in [(501, HostVerdict.healthy), (404, .healthy), (502, .failed)] {
            let policies = ClientPolicies(resilience: .shared(judge.policy))
            _ = try await EndpointClient(ScriptedTransport(.status(status)), policies: policies).request(Text())
            if verdict == .failed { #expect(judge.breaker.state == .closed, "two calls have succeeded") }
        }
        #expect(asked.events == [501, 502])
    }

    // MARK: Transfers

    @Test func aStreamedResponseIsCountedWhenItsHeadIsThere() async throws {
        let judge = judge
        let transport = ScriptedTransport(
            ScriptedTransport.Reply(chunks: [Data("the".utf8)], failure: URLError(.networkConnectionLost))
        )
        await #expect(throws: EndpointError.self) {
            try await client(transport).withResponse(to: Text()) { response in
                #expect(await judge.verdict == .healthy)
                for try await _ in response.body {}
            }
        }
        #expect(judge.breaker.state == .closed, "later errors of the body are not counted")
    }

    @Test func aStreamedResponseWithABadStatusIsAFailure() async throws {
        let breaker = judge.breaker
        try await client(ScriptedTransport(.status(503))).withResponse(to: Text()) { _ in
            #expect(breaker.state != .closed)
        }
    }

    @Test func aStreamThatIsNotOpenedIsAFailure() async throws {
        await #expect(throws: EndpointError.self) {
            try await client(ScriptedTransport(.unreachable())).withResponse(to: Text()) { _ in }
        }
        #expect(await judge.verdict == .failed)
    }

    @Test func aDownloadIsCountedWhenItsHeadIsThere() async throws {
        let transport = ScriptedTransport(
            ScriptedTransport.Reply(chunks: [Data("the".utf8)], failure: URLError(.networkConnectionLost))
        )
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        await #expect(throws: EndpointError.self) { try await client(transport).download(Text(), to: file) }
        #expect(await judge.verdict == .healthy)
    }

    @Test func anUploadIsCounted() async throws {
        let client = client(ScriptedTransport(.status(503)))
        await #expect(throws: EndpointError.self) { try await client.upload(Upload(body: .data(Data("x".utf8)))) }
        #expect(await judge.verdict == .failed)
    }
}
