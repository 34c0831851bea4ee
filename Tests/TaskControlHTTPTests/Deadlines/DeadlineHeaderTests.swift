import FlyingFox
import Foundation
import TaskControl
import TaskControlHTTP
import TaskControlResilience
import TaskControlTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(15)))
struct DeadlineHeaderTests {
    @Test(arguments: [
        (Duration.milliseconds(1_500), "1500", "1500000u"), (.nanoseconds(1), "1", "1n"),
        (.microseconds(1_999), "1", "1999000n"),
        (.seconds(99), "99000", "99000000u"), (.seconds(100_000), "100000000", "100000S"),
        (.seconds(Int64.max), "3155760000000", "52596000M"),
        (.seconds(-1), "1", "1n"),
    ])
    func aDurationIsRoundedDown(_ remaining: Duration, _ milliseconds: String, _ grpc: String) {
        #expect(DeadlineHeader.requestTimeout.value(for: remaining) == milliseconds)
        #expect(DeadlineHeader.grpcTimeout.value(for: remaining) == grpc)
    }

    @Test func valuesAreReadAsTheyAreWritten() {
        for header in [DeadlineHeader.requestTimeout, .grpcTimeout, .envoyExpectedTimeout] {
            for remaining in [Duration.milliseconds(1), .milliseconds(1_500), .seconds(3_600), .seconds(86_400 * 365)] {
                #expect(header.duration(from: header.value(for: remaining)) == remaining)
            }
        }
        #expect(DeadlineHeader.grpcTimeout.duration(from: "3H") == .seconds(10_800))
        #expect(DeadlineHeader.grpcTimeout.duration(from: "0n") == .zero)
        #expect(
            DeadlineHeader.requestTimeout.duration(from: "99999999999999999999999") == .seconds(100 * 365.25 * 86_400)
        )
        #expect(DeadlineHeader.grpcTimeout.duration(from: "99999999H") == .seconds(100 * 365.25 * 86_400))
    }

    @Test(arguments: ["", " 1", "1 ", "-1", "+1", "1.5", "1e3", "٣", "m", "1500", "123456789m", "1x", "1mm"])
    func whatIsNoGRPCTimeoutIsIgnored(_ value: String) {
        #expect(DeadlineHeader.grpcTimeout.duration(from: value) == nil)
        if value != "1500" { #expect(DeadlineHeader.requestTimeout.duration(from: value) == nil) }
    }

    @Test func aHeaderThatWasSentTwiceIsOne() {
        #expect(DeadlineHeader.requestTimeout.duration(from: "1500, 1500") == .milliseconds(1_500))
        #expect(DeadlineHeader.grpcTimeout.duration(from: "5S,5S") == .seconds(5))
        #expect(DeadlineHeader.requestTimeout.duration(from: "1500, 1600") == nil)
    }

    @Test func aServerReadsTheDeadlineAndReportsWhatItCannotRead() async {
        let clock = TestClock()
        #expect(Deadline(remaining: "250", in: .requestTimeout, clock: clock)?.remaining == .milliseconds(250))
        #expect(Deadline(remaining: nil, in: .requestTimeout) == nil)
        let events = EventLog.events { #expect(Deadline(remaining: "soon", in: .requestTimeout) == nil) }
        #expect(events.lines == ["HTTP.unreadableDeadline detail=Request-Timeout"])
    }

    // MARK: Clients

    private let clock = TestClock()

    private func headers(_ transport: ScriptedTransport) -> [String?] {
        transport.sent.events.map { $0.headers["Request-Timeout"] }
    }

    @Test func eachAttemptSendsWhatIsLeft() async throws {
        let clock = clock
        let transport = ScriptedTransport { _ in
            await clock.advance(by: .milliseconds(100))
            return .status(503)
        }
        let policies = ClientPolicies(
            retry: HTTPRetryPolicy(backoff: .none),
            deadlineHeader: .requestTimeout,
            clock: clock
        )
        let client = EndpointClient(transport, policies: policies)
        _ = await thrown {
            try await withDeadline(in: .milliseconds(1_000), clock: clock) { try await client.request(Text()) }
        }
        #expect(headers(transport) == ["1000", "900", "800"])
        _ = await thrown { try await client.request(Text()) }
        #expect(headers(transport).suffix(3) == [nil, nil, nil])
    }

    /// Shows the time of another clock, and wakes no sleeper: so the deadline cancels nothing.
    private struct SleeplessClock: Clock {
        let time: TestClock
        var now: TestClock.Instant { time.now }
        var minimumResolution: Duration { .zero }

        func sleep(until deadline: TestClock.Instant, tolerance: Duration?) async throws { try await Gate().wait() }
    }

    @Test func anAttemptAfterTheDeadlineIsNotMade() async throws {
        let clock = clock
        let transport = ScriptedTransport { _ in
            await clock.advance(by: .seconds(1))
            return .status(503)
        }
        let client = EndpointClient(transport, policies: ClientPolicies(retry: HTTPRetryPolicy(backoff: .none)))
        let error = await thrown {
            try await withDeadline(in: .seconds(1), clock: SleeplessClock(time: clock)) {
                _ = await thrown { try await client.request(Text()) }
                // The next call is not sent at all.
                _ = try await client.request(Text())
            }
        }
        #expect(error is DeadlineExceededError && transport.sent.count == 1)
    }

    @Test func aSharedRequestSendsNoDeadline() async throws {
        let transport = ScriptedTransport(.ok("shared"))
        let policies = ClientPolicies(coalescesGETRequests: true, deadlineHeader: .requestTimeout)
        let client = EndpointClient(transport, policies: policies)
        _ = try await withDeadline(in: .seconds(1), clock: clock) { try await client.request(Text()) }
        #expect(headers(transport) == [nil])
    }

    @Test func theTimeInWhichACredentialIsObtainedIsNotLeft() async throws {
        let clock = clock
        let transport = ScriptedTransport(.ok("there"))
        let authenticator = EndpointAuthenticator.bearer {
            await clock.advance(by: .milliseconds(400))
            return "token"
        }
        let policies = ClientPolicies(authenticator: authenticator, deadlineHeader: .requestTimeout)
        let client = EndpointClient(transport, policies: policies)
        _ = try await withDeadline(in: .milliseconds(1_000), clock: clock) { try await client.request(Text()) }
        #expect(headers(transport) == ["600"])
    }

    @Test func aRequestIsNotSentIfItsCredentialArrivesAfterTheDeadline() async throws {
        let clock = clock
        let transport = ScriptedTransport(.ok("there"))
        let authenticator = EndpointAuthenticator.bearer {
            await clock.advance(by: .seconds(1))
            return "token"
        }
        let client = EndpointClient(transport, policies: ClientPolicies(authenticator: authenticator))
        let error = await thrown {
            try await withDeadline(in: .seconds(1), clock: SleeplessClock(time: clock)) {
                try await client.request(Text())
            }
        }
        #expect(error is DeadlineExceededError && transport.sent.events.isEmpty)
    }

    /// Lets no attempt in before the clock has been advanced.
    private struct SlowPart: PolicyPart {
        let clock: TestClock

        func enter(at time: inout PolicyTime) -> Bool? { nil }

        func waitToEnter() async throws -> Bool {
            await clock.advance(by: .seconds(1))
            return true
        }

        func leave(_ pass: Bool, with outcome: PolicyOutcome, at time: inout PolicyTime) {}
    }

    @Test func aRequestThatMayBeSentAfterTheDeadlineThrowsItsErrorUnchanged() async throws {
        let clock = clock
        let transport = ScriptedTransport(.ok("there"))
        let policy = HostPolicy(attemptParts: [SlowPart(clock: clock)])
        let client = EndpointClient(transport, policies: ClientPolicies(resilience: .shared(policy)))
        _ = await thrown {
            try await withDeadline(in: .seconds(1), clock: SleeplessClock(time: clock)) {
                let error = await thrown { try await client.request(Text()) }
                #expect(error is DeadlineExceededError && transport.sent.events.isEmpty, "\(error)")
            }
        }
    }

    /// Otherwise its value would be removed from the texts of errors, as that of a credential is.
    @Test func theHeaderIsNoCredential() async throws {
        let clock = clock
        let transport = ScriptedTransport(.status(404, "not before 600"))
        let authenticator = EndpointAuthenticator.bearer {
            await clock.advance(by: .milliseconds(400))
            return "token"
        }
        let policies = ClientPolicies(authenticator: authenticator, deadlineHeader: .requestTimeout)
        let client = EndpointClient(transport, policies: policies)
        let error = await thrown {
            try await withDeadline(in: .milliseconds(1_000), clock: clock) { try await client.request(Checked()) }
        }
        #expect(headers(transport) == ["600"])
        #expect("\(try #require(error))".contains("not before 600"))
    }

    @Test(arguments: TransportUnderTest.allCases)
    func aRequestAfterARedirectSendsWhatIsLeft(_ kind: TransportUnderTest) async throws {
        let clock = clock
        try await RouteServer.run { server in
            let received = OrderRecorder<String?>()
            for path in ["a", "b", "c"] {
                await server.route("GET /\(path)") { request in
                    received.record(request.headers[HTTPHeader("Request-Timeout")])
                    await clock.advance(by: .milliseconds(100))
                    let next = path == "a" ? server.url("b") : server.url("c")
                    let isLast = path == "c"
                    return HTTPResponse(
                        statusCode: isLast ? .ok : .temporaryRedirect,
                        headers: isLast ? [:] : [.location: next.absoluteString]
                    )
                }
            }
            let client = EndpointClient(
                requestAdapter: AnyHost(),
                transport: kind.make(),
                policies: ClientPolicies(deadlineHeader: .requestTimeout)
            )
            _ = try await withDeadline(in: .milliseconds(1_000), clock: clock) {
                try await client.request(Text(path: server.url("a").absoluteString))
            }
            #expect(received.events == ["1000", "900", "800"])
        }
    }

    @Test(arguments: TransportUnderTest.allCases)
    func aRedirectToAnotherOriginTakesNoDeadlineAlong(_ kind: TransportUnderTest) async throws {
        let server = try RawServer { connection, request in
            if request.target == "/b" { return try connection.respond() }
            let port = request["Host"]?.split(separator: ":").last ?? ""
            try connection.respond(302, [("Location", "http://localhost:\(port)/b")])
        }
        let policies = ClientPolicies(deadlineHeader: .requestTimeout)
        let client = EndpointClient(requestAdapter: AnyHost(), transport: kind.make(), policies: policies)
        _ = try await withDeadline(in: .seconds(1), clock: clock) {
            try await client.request(Text(path: server.url("a").absoluteString))
        }
        #expect(server.log.now.requests.map { $0["Request-Timeout"] } == ["1000", nil])
    }
}
