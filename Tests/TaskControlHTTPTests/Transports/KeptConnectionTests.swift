import Foundation
import TaskControlHTTP
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

    #if AsyncHTTPClient
    @Test func aPostIsNotSentAgain() async throws {
        let server = try forgetful()
        let transport = TransportUnderTest.asyncHTTPClient.make()
        _ = try await transport.fetch(server.url("1"))
        let error = await thrown { try await transport.fetch(server.url("2"), "POST") }
        guard server.hadOneConnection else { return }
        #expect(error != nil)
        #expect(server.log.now.requests.map(\.target) == ["/1", "/2"])
    }

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
