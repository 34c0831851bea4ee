import Foundation
import TaskControl
import TaskControlHTTP
import TaskControlResilience
import TaskControlTesting
import Testing

#if AsyncHTTPClient
import AsyncHTTPClient
import NIOCore
#endif

/// Connections that are kept for the next request, and that the server has closed by then, over both transports.
@Suite(.timeLimit(.minutes(15)))
struct KeptConnectionTests {
    /// Answers `/1`, and closes the connection that it came on when another request comes on it.
    private func forgetful() throws -> RawServer {
        try RawServer { connection, request in
            if request.target != "/1", connection.number == 1 { return connection.close() }
            try connection.readBody(of: request)
            try connection.respond(body: Array("there".utf8))
        }
    }

    @Test(arguments: TransportUnderTest.allCases, ["GET", "PUT", "DELETE"])
    func anIdempotentRequestIsSentAgain(_ kind: TransportUnderTest, _ method: String) async throws {
        let server = try forgetful()
        let transport = kind.make()
        _ = try await transport.fetch(server.url("1"))
        #expect(try await transport.fetch(server.url("2"), method).body == Data("there".utf8))
        guard server.hadTwoConnections else { return }
        #expect(server.log.now.requests.map(\.target) == ["/1", "/2", "/2"])
    }

    /// `HTTPResilience` states this: no transport can ask before each of them.
    @Test(arguments: TransportUnderTest.allCases)
    func aRequestThatTheTransportRepeatsTakesNoToken(_ kind: TransportUnderTest) async throws {
        let server = try forgetful()
        let (rate, budget) = (RateLimiter(rate: 1, burst: 2, clock: TestClock()), RetryBudget())
        let policies = ClientPolicies(
            retry: HTTPRetryPolicy(budget: budget),
            resilience: .shared(HostPolicy(rate: rate))
        )
        let client = EndpointClient(requestAdapter: AnyHost(), transport: kind.make(), policies: policies)
        for path in ["1", "2"] {
            #expect(try await client.request(Text(path: server.url(path).absoluteString)) == "there")
        }
        #expect(!rate.tryAcquire())
        #expect(budget.available == budget.capacity)
        guard server.hadTwoConnections else { return }
        #expect(server.log.now.requests.map(\.target) == ["/1", "/2", "/2"])
    }

    @Test(arguments: TransportUnderTest.allCases)
    func aBodyIsSentAgain(_ kind: TransportUnderTest) async throws {
        let server = try forgetful()
        let transport = kind.make()
        _ = try await transport.fetch(server.url("1"))
        var request = URLRequest(url: server.url("2"))
        request.httpMethod = "PUT"
        let body = UploadEndpointBody.stream(length: 5) { InputStream(data: Data("hello".utf8)) }
        #expect(try await transport.fetch(HTTPTransportRequest(request, body: body)).body == Data("there".utf8))
    }

    @Test(arguments: TransportUnderTest.allCases)
    func aNewConnectionThatIsClosedIsAnError(_ kind: TransportUnderTest) async throws {
        let server = try RawServer { connection, _ in connection.close() }
        let error = await thrown { try await kind.make().fetch(server.url()) }
        #expect(error != nil && !(error is CancellationError))
        #expect(server.log.now.requests.count == 1)
    }

    /// Bodies, and the `Content-Length` that they are sent with.
    private static let bodies: [(body: UploadEndpointBody?, length: String?)] = [
        (nil, "0"), (.data(Data()), "0"), (.data(Data("hello".utf8)), "5"),
        (.stream(length: 5) { InputStream(data: Data("hello".utf8)) }, "5"),
        (.stream(length: 0) { InputStream(data: Data()) }, "0"),
        (.stream(length: nil) { InputStream(data: Data("hello".utf8)) }, nil),
        (.stream(length: nil) { InputStream(data: Data()) }, nil),
    ]

    /// The server has read the request when it closes the connection, so it may have executed the request. (libcurl can begin to send it again, and
    /// is then stopped before the body.)
    @Test(arguments: TransportUnderTest.allCases, ["POST", "PATCH", "LOCK"])
    func aRequestThatIsNotIdempotentIsSentOnce(_ kind: TransportUnderTest, _ method: String) async throws {
        for (body, _) in Self.bodies {
            for resets in [false, true] {
                let whole = OrderRecorder<String>()
                let server = try RawServer { connection, request in
                    try connection.readBody(of: request)
                    whole.record(request.target)
                    if request.target == "/1" { return try connection.respond() }
                    if resets { connection.reset() } else { connection.close() }
                }
                do {
                    let transport = kind.make()
                    _ = try await transport.fetch(server.url("1"))
                    var request = URLRequest(url: server.url("2"))
                    request.httpMethod = method
                    let error = await thrown { try await transport.fetch(HTTPTransportRequest(request, body: body)) }
                    #expect(error != nil && !(error is CancellationError))
                }
                try await server.log.wait { $0.live == 0 }
                #expect(whole.events == ["/1", "/2"])
            }
        }
    }

    @Test(arguments: TransportUnderTest.allCases)
    func aRequestThatIsNotIdempotentIsAnsweredOnAKeptConnection(_ kind: TransportUnderTest) async throws {
        let server = try RawServer { connection, request in
            try connection.readBody(of: request)
            try connection.respond(body: Array("there".utf8))
        }
        let transport = kind.make()
        var request = URLRequest(url: server.url("1"))
        request.httpMethod = "POST"
        for (body, _) in Self.bodies {
            let answer = try await transport.fetch(HTTPTransportRequest(request, body: body))
            #expect(answer.body == Data("there".utf8))
        }
        #expect(server.log.now.requests.map { $0["Content-Length"] } == Self.bodies.map(\.length))
    }

    @Test(arguments: TransportUnderTest.allCases)
    func aRequestWithAKeyMayBeSentAgain(_ kind: TransportUnderTest) async throws {
        for (body, _) in Self.bodies {
            let server = try RawServer { connection, request in
                try connection.readBody(of: request)
                if request.target == "/2", connection.number == 1 { return connection.close() }
                try connection.respond(body: Array("there".utf8))
            }
            let transport = kind.make()
            _ = try await transport.fetch(server.url("1"))
            var request = URLRequest(url: server.url("2"))
            request.httpMethod = "POST"
            request.setValue("7", forHTTPHeaderField: "Idempotency-Key")
            let answer = try await transport.fetch(HTTPTransportRequest(request, body: body))
            #expect(answer.body == Data("there".utf8))
        }
    }

    /// A redirect is another request, which the server has asked for.
    @Test(arguments: TransportUnderTest.allCases, [307, 308])
    func aRedirectThatKeepsTheBodyIsFollowedOnAKeptConnection(_ kind: TransportUnderTest, _ status: Int) async throws {
        for (body, _) in Self.bodies {
            let server = try RawServer { connection, request in
                try connection.readBody(of: request)
                if request.target == "/2" { return try connection.respond(status, [("Location", "/3")]) }
                try connection.respond(body: Array(request.method.utf8))
            }
            let transport = kind.make()
            _ = try await transport.fetch(server.url("1"))
            var request = URLRequest(url: server.url("2"))
            request.httpMethod = "POST"
            #expect(try await transport.fetch(HTTPTransportRequest(request, body: body)).body == Data("POST".utf8))
            #expect(server.log.now.requests.map(\.target) == ["/1", "/2", "/3"])
        }
    }

    #if AsyncHTTPClient
    /// With a time limit of an hour for the connection, the client's own repetition would continue for an hour.
    @Test func aServerThatRefusesTheConnectionFailsAtOnce() async throws {
        var configuration = HTTPClient.Configuration.taskControl
        configuration.timeout.connect = .hours(1)
        let (closed, transport) = (try ClosedPort(), AsyncHTTPClientTransport(configuration: configuration))
        let error = await thrown { try await transport.fetch(closed.url()) }
        #expect(error != nil)
    }

    @Test func aServerThatClosesEachConnectionAfterItsAnswerIsAskedAgain() async throws {
        let server = try RawServer { connection, _ in
            try connection.respond(body: Array("there".utf8))
            connection.close()
        }
        let transport = TransportUnderTest.asyncHTTPClient.make()
        for _ in 0..<200 { #expect(try await transport.fetch(server.url()).body == Data("there".utf8)) }
    }
    #endif
}

extension RawServer {
    /// Whether the first connection was kept for the second request, and one more was needed.
    fileprivate var hadTwoConnections: Bool { log.now.accepted == 2 && log.now.requests.count > 2 }
}
