import Foundation
import TaskControlHTTP
import TaskControlTesting
import Testing

/// Limitations of the network libraries that the documentation of the transports lists. A test that fails here shows that a library has become better:
/// change the list.
@Suite(.timeLimit(.minutes(15)))
struct PlatformLimitTests {
    private enum Reader { case both, asyncHTTPClient, urlSession, none }

    private static let heads: [(head: String, readBy: Reader)] = [
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", .both),
        ("HTTP/1.1 200 OK\r\nETag:\"x\"\r\nContent-Length: 5\r\n\r\n", .asyncHTTPClient),
        ("HTTP/1.1 200 OK\r\nX-A:   \r\nContent-Length: 5\r\n\r\n", .asyncHTTPClient),
        ("HTTP/1.1 200 \r\nContent-Length: 5\r\n\r\n", .both),
        ("HTTP/1.1 200\r\nContent-Length: 5\r\n\r\n", .asyncHTTPClient),
        ("HTTP/1.1 200 OK\nContent-Length: 5\n\n", .none),
        ("HTTP/1.1 200 OK\r\nX-A: b\r\n c\r\nContent-Length: 5\r\n\r\n", .urlSession),
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\n", .urlSession),
        ("HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\n\r\n", .urlSession),
        // These are not valid (RFC 9112, 6.3 and 2.2).
        ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\nContent-Length: 5\r\n\r\n", .urlSession),
        ("HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\n", .urlSession),
        ("HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\n", .urlSession),
        ("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n", .urlSession),
        ("HTTP/1.1 200 OK\r\nX-A: b\rc\r\nContent-Length: 5\r\n\r\n", .urlSession),
        ("HTTP/1.1 200 OK\r\nContent-Length: five\r\n\r\n", .none),
        ("HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n", .none),
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", .none),
    ]

    @Test(
        arguments: TransportUnderTest.allCases.filter { $0 != .urlSession || !URLSessionTransport.isHeldBack },
        heads.indices
    )
    func unusualHeads(_ kind: TransportUnderTest, _ index: Int) async throws {
        let (head, reader) = Self.heads[index]
        let server = try RawServer { connection, _ in
            try connection.send(head + "hello")
            connection.close()
        }
        let answer = try? await kind.make().fetch(server.url())
        let isRead = reader == .both || reader == (kind == .urlSession ? .urlSession : .asyncHTTPClient)
        #expect(answer?.body == (isRead ? Data("hello".utf8) : nil))
    }

    @Test(arguments: TransportUnderTest.allCases.filter { $0 != .urlSession || !URLSessionTransport.isHeldBack })
    func aRedirectWhoseBodyIsCutShort(_ kind: TransportUnderTest) async throws {
        let server = try RawServer { connection, request in
            if request.target == "/b" { return try connection.respond() }
            try connection.send("HTTP/1.1 302 Found\r\nLocation: /b\r\nContent-Length: 5\r\n\r\nhel")
            connection.close()
        }
        let error = await thrown { try await kind.make().fetch(server.url("a")) }
        #expect((error == nil) == (kind != .urlSession))
    }

    #if SUBPROCESSES && canImport(FoundationNetworking)
    @Test func theProxiesOfTheEnvironmentAreThoseOfURLSessionOnly() async {
        await #expect(processExitsWith: .success) {
            let proxy = try RawServer { connection, _ in try connection.respond(body: Array("proxy".utf8)) }
            setenv("http_proxy", proxy.url().absoluteString, 1)
            for kind in TransportUnderTest.allCases {
                var request = URLRequest(url: URL(string: "http://nobody.invalid/path")!)
                request.setValue("Bearer token", forHTTPHeaderField: "Authorization")
                let body = try? await kind.make().fetch(HTTPTransportRequest(request)).body
                #expect(body == (kind == .urlSession ? Data("proxy".utf8) : nil))
            }
            #expect(proxy.log.now.requests.map(\.target) == ["http://nobody.invalid/path"])
            #expect(proxy.log.now.requests.map { $0["Authorization"] } == ["Bearer token"])
        }
    }
    #endif
}
