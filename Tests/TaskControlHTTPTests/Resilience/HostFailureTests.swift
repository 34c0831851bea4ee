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

    @Test func aCallWithASharedExchangeThatHangsUntilItsTimeoutIsAFailure() async throws {
        let (clock, gate) = (TestClock(), Gate())
        let client = client(
            ScriptedTransport { _ in
                try await gate.wait(); return .ok("")
            }
        ) {
            $0.coalescesGETRequests = true
            $0.timeout = .seconds(1)
            $0.clock = clock
        }
        let call = Task { try await client.request(Text()) }
        try await gate.waitForWaiters()
        await clock.advance(by: .seconds(1), waking: 1)
        await #expect(throws: TimeoutError.self) { try await call.value }
        #expect(await judge.verdict == .failed)
    }

    /// A login, and the delay before a retry, take more than half of the time of the call.
    @Test(.enabled(if: Simulation.isSupported), arguments: [true, false])
    func theTimeOfALoginOrOfADelayIsNotThatOfTheHost(_ isLogin: Bool) async throws {
        try await offThePool {
            try simulate(seeds: 0..<2) { sim in
                let breaker = CircuitBreaker(failureThreshold: 0.01, minimumCalls: 1)
                let transport = ScriptedTransport { [sent = OrderRecorder<Int>()] _ in
                    sent.record(1)
                    if !isLogin, sent.count == 1 { return .unreachable() }
                    try await Task.sleep(for: .seconds(3_600))
                    return .ok("")
                }
                var policies = ClientPolicies(resilience: .shared(HostPolicy(breaker: breaker)), timeout: .seconds(10))
                if isLogin {
                    policies.authenticator = .bearer {
                        try await Task.sleep(for: .seconds(6))
                        return "token"
                    }
                } else {
                    policies.retry = HTTPRetryPolicy(backoff: .fixed(.seconds(6)))
                }
                let client = EndpointClient(transport, policies: policies)
                await #expect(throws: TimeoutError.self) { try await client.request(Text()) }
                sim.expect(breaker.state == .closed)
            }
        }
    }

    /// The first attempt of the probe breaks off after its head.
    @Test func aDownloadThatIsResumedIsOneCallOfTheBreaker() async throws {
        let clock = TestClock()
        let breaker = CircuitBreaker(failureThreshold: 1, minimumCalls: 1, openDuration: .seconds(5), clock: clock)
        try? await withPolicy(breaker) { throw EndpointError(.transport) }
        await clock.advance(by: .seconds(5))
        let transport = ScriptedTransport(Self.brokenOff, .unreachable())
        let client = client(transport) {
            $0.resilience = .shared(HostPolicy(breaker: breaker))
            $0.retry = HTTPRetryPolicy(attempts: 2, backoff: .none)
        }
        let target = URL.temporaryFile()
        await #expect(throws: EndpointError.self) { try await client.download(Text(), to: target) }
        #expect(transport.sent.count == 2 && breaker.state == .open(retryAfter: .seconds(5)))
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

    private static let brokenOff = ScriptedTransport.Reply(
        chunks: [Data("the".utf8)],
        failure: URLError(.networkConnectionLost)
    )

    /// A download to a file, which can be sent again, and one to a device, which can't.
    @Test(arguments: ClientCodeTests.Place.allCases, [nil, "/dev/null"])
    func aDownloadThatBreaksOffIsAFailure(_ place: ClientCodeTests.Place, _ device: String?) async throws {
        let target = device.map { URL(fileURLWithPath: $0) } ?? .temporaryFile()
        let client = client(ScriptedTransport(Self.brokenOff)) {
            $0.resilience = .shared(place.policy(judge.breaker))
        }
        await #expect(throws: EndpointError.self) { try await client.download(Text(), to: target) }
        #expect(await judge.verdict == .failed)
    }

    @Test(arguments: [nil, "/dev/null"]) func aDownloadIsCountedByItsLastAttempt(_ device: String?) async throws {
        let target = device.map { URL(fileURLWithPath: $0) } ?? .temporaryFile()
        defer { if device == nil { try? FileManager.default.removeItem(at: target) } }
        let budget = RetryBudget()
        for (last, verdict) in [(ScriptedTransport.Reply.unreachable(), HostVerdict.failed), (.ok("there"), .healthy)] {
            let (judge, available) = (Judge(), budget.available)
            let transport = ScriptedTransport(Self.brokenOff, last)
            let client = client(transport) {
                $0.resilience = .shared(judge.policy)
                $0.retry = HTTPRetryPolicy(attempts: 2, backoff: .none, budget: budget)
            }
            _ = try? await client.download(Text(), to: target)
            // A device can't be written again from its beginning.
            #expect(transport.sent.count == (device == nil ? 2 : 1))
            #expect(await judge.verdict == (device == nil ? verdict : .failed))
            // A success returns tokens.
            guard verdict == .failed else { continue }
            #expect((budget.available < available) == (device == nil), "the body that breaks off has cost a retry")
        }
    }

    /// The duration of a body depends on its length.
    @Test(arguments: ClientCodeTests.Place.allCases, [true, false])
    func aLimitThatEndsDuringTheBodyOfADownloadIsNoFailure(
        _ place: ClientCodeTests.Place,
        _ isOfTheCall: Bool
    ) async throws {
        let (clock, gate) = (TestClock(), Gate())
        let client = client(WaitingBody(gate: gate)) {
            $0.resilience = .shared(place.policy(judge.breaker))
            if isOfTheCall { $0.timeout = .seconds(1) } else { $0.attemptTimeout = .seconds(1) }
            $0.clock = clock
        }
        let target = URL.temporaryFile()
        let call = Task { try await client.download(Text(), to: target) }
        try await gate.waitForWaiters()
        await clock.advance(by: .seconds(1), waking: 1)
        await #expect(throws: TimeoutError.self) { try await call.value }
        #expect(await judge.verdict == .healthy)
    }

    @Test func aDownloadOfWhichTheBodyTakesLongIsNotSlow() async throws {
        let (clock, gate) = (TestClock(), Gate())
        let breaker = CircuitBreaker(failureThreshold: 1, minimumCalls: 1, slowCall: .seconds(5), clock: clock)
        let client = client(WaitingBody(gate: gate)) { $0.resilience = .shared(HostPolicy(breaker: breaker)) }
        let target = URL.temporaryFile()
        defer { try? FileManager.default.removeItem(at: target) }
        let call = Task { try await client.download(Text(), to: target) }
        try await gate.waitForWaiters()
        await clock.advance(by: .seconds(10))
        gate.open()
        _ = try await call.value
        #expect(breaker.state == .closed)
    }

    /// Answers with a head, and a body that waits.
    private struct WaitingBody: HTTPTransport {
        let gate: Gate
        var failure: (any Error)?

        func withResponse<Value>(
            to request: HTTPTransportRequest,
            _ receive: (HTTPTransportResponse) async throws -> Value
        ) async throws -> Value {
            let head = HTTPURLResponse(
                url: request.request.url!,
                statusCode: 200,
                httpVersion: nil,
                headerFields: nil
            )!
            return try await receive(
                HTTPTransportResponse(
                    head: head,
                    body: HTTPResponseBody {
                        try await gate.wait()
                        if let failure { throw failure }
                        return nil
                    }
                )
            )
        }
    }

    @Test func anUploadIsCounted() async throws {
        let client = client(ScriptedTransport(.status(503)))
        await #expect(throws: EndpointError.self) { try await client.upload(Upload(body: .data(Data("x".utf8)))) }
        #expect(await judge.verdict == .failed)
    }
}

extension URL {
    fileprivate static func temporaryFile() -> URL {
        FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    }
}
