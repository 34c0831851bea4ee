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
            $0.attemptTimeLimit = .seconds(1)
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
            $0.timeLimit = .seconds(1)
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
            $0.timeLimit = .seconds(1)
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

    @Test func anAttemptWhoseLimitEndsItBeforeItSendsSaysNothing() async throws {
        let clock = TestClock()
        let client = client(ScriptedTransport()) {
            $0.attemptTimeLimit = .seconds(1)
            $0.authenticator = .bearer {
                try await Gate().wait()
                return ""
            }
            $0.clock = clock
        }
        let call = Task { try await client.request(Text()) }
        await clock.advance(by: .seconds(1), waking: 1)
        await #expect(throws: TimeoutError.self) { try await call.value }
        #expect(await judge.verdict == .unknown)
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

    @Test func aCallThatEndsAtADeadlineSaysNothing() async throws {
        let (clock, gate) = (TestClock(), Gate())
        let client = client(
            ScriptedTransport { _ in
                try await gate.wait(); return .ok("")
            }
        )
        let call = Task {
            try await withDeadline(in: .seconds(1), clock: clock) { try await client.request(Text()) }
        }
        try await gate.waitForWaiters()
        await clock.advance(by: .seconds(1), waking: 1)
        await #expect(throws: DeadlineExceededError.self) { try await call.value }
        #expect(await judge.verdict == .unknown)
    }

    @Test func aCallIsCountedByItsLastAttempt() async throws {
        let transport = ScriptedTransport(.status(503), .unreachable(), .ok("there"))
        let client = client(transport) { $0.retry = HTTPRetryPolicy(backoff: .none) }
        #expect(try await client.request(Text()) == "there")
        #expect(await judge.verdict == .healthy)
    }

    @Test func aThrottleCountsTheSame() async throws {
        let throttle = ClientThrottle(clock: TestClock(), random: { 1.0.nextDown })
        let policies = ClientPolicies(resilience: .shared(ResiliencePolicy(throttle: throttle)))
        let transport = ScriptedTransport(.status(404), .status(503, "busy"))
        let client = EndpointClient(transport, policies: policies)
        await #expect(throws: EndpointError.self) { try await client.request(Checked()) }
        #expect(throttle.refusalProbability == 0)
        for _ in 0..<3 { #expect(try await client.request(Text()) == "busy") }
        // Four calls, of which one was accepted; those of the last moments count, since they have ended.
        #expect(throttle.refusalProbability == (4.0 - 2 * 1) / 5)
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
