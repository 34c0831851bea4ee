import FlyingFox
import Foundation
import TaskControlHTTP
import TaskControlTesting
import Testing

/// Responses as they arrive, over both transports.
@Suite(.timeLimit(.minutes(15)))
struct ResponseTests {
    @Test(arguments: TransportUnderTest.allCases)
    func headAndBodyArrive(_ kind: TransportUnderTest) async throws {
        let server = try RawServer { try $0.respond(200, [("X-Path", $1.target)], body: Array("hello".utf8)) }
        let (head, body) = try await kind.make().fetch(server.url("a?b=c"))
        #expect(head.statusCode == 200)
        #expect(head.value(forHTTPHeaderField: "x-path") == "/a?b=c")
        #expect(head.url == server.url("a?b=c"))
        #expect(head.expectedContentLength == 5)
        #expect(String(decoding: body, as: UTF8.self) == "hello")
    }

    @Test(arguments: TransportUnderTest.allCases)
    func theHeadArrivesBeforeTheBodyAndEachPartWhenItIsSent(_ kind: TransportUnderTest) async throws {
        let (first, second) = (SyncGate(), SyncGate())
        let server = try RawServer { connection, _ in
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n")
            first.wait()
            try connection.send("one")
            second.wait()
            try connection.send("two")
        }
        defer {
            first.open()
            second.open()
        }
        try await kind.make().withResponse(to: HTTPTransportRequest(URLRequest(url: server.url()))) { response in
            #expect(response.head.statusCode == 200)
            first.open()
            var parts = response.body.makeAsyncIterator()
            let one = try await parts.next()
            second.open()
            let rest = [try await parts.next(), try await parts.next(), try await parts.next()]
            #expect(one == Data("one".utf8) && rest == [Data("two".utf8), nil, nil])
        }
    }

    @MainActor
    @Test(arguments: TransportUnderTest.allCases)
    func aResponseIsReadInTheCallersIsolation(_ kind: TransportUnderTest) async throws {
        let server = try RawServer { connection, _ in try connection.respond(body: Array("hello".utf8)) }
        // A closure that is written in a `@MainActor` function would find its way back by itself.
        nonisolated(nonsending) func read() async throws {
            try await kind.make().withResponse(to: HTTPTransportRequest(URLRequest(url: server.url()))) { response in
                MainActor.preconditionIsolated()
                for try await _ in response.body { MainActor.preconditionIsolated() }
                MainActor.preconditionIsolated()
            }
            MainActor.preconditionIsolated()
        }
        try await read()
    }

    @Test(arguments: TransportUnderTest.allCases, [200, 204, 304])
    func aResponseMayHaveNoBody(_ kind: TransportUnderTest, _ status: Int) async throws {
        let server = try RawServer { connection, _ in try connection.respond(status, [("ETag", "x")]) }
        let (head, body) = try await kind.make().fetch(server.url())
        #expect(head.statusCode == status)
        #expect(head.value(forHTTPHeaderField: "ETag") == "x")
        #expect(body.isEmpty)
    }

    @Test(arguments: TransportUnderTest.allCases)
    func theAnswerToAHeadHasALengthAndNoBody(_ kind: TransportUnderTest) async throws {
        let server = try RawServer { connection, _ in
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n")
        }
        let transport = kind.make()
        for _ in 0..<2 {
            let (head, body) = try await transport.fetch(server.url(), "HEAD")
            #expect(head.value(forHTTPHeaderField: "Content-Length") == "10")
            #expect(body.isEmpty)
        }
        #expect(server.hadOneConnection)
    }

    @Test(arguments: TransportUnderTest.allCases)
    func aBodyMayComeInChunks(_ kind: TransportUnderTest) async throws {
        let server = try RawServer { connection, _ in
            try connection.send(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n3;x=y\r\ntwo\r\n0\r\n\r\n"
            )
        }
        #expect(try await kind.make().fetch(server.url()).body == Data("onetwo".utf8))
    }

    @Test(arguments: TransportUnderTest.allCases)
    func aBodyMayEndWithItsConnection(_ kind: TransportUnderTest) async throws {
        let server = try RawServer { connection, _ in
            try connection.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello")
            connection.close()
        }
        #expect(try await kind.make().fetch(server.url()).body == Data("hello".utf8))
    }

    @Test(arguments: TransportUnderTest.allCases)
    func gzipIsTakenOff(_ kind: TransportUnderTest) async throws {
        // "hello", by gzip.
        let hello: [UInt8] = [
            0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 7, 0, 0x86, 0xA6, 0x10, 0x36, 5, 0, 0, 0,
        ]
        let server = try RawServer { connection, request in
            #expect(request["Accept-Encoding"]?.contains("gzip") == true)
            try connection.respond(200, [("Content-Encoding", "gzip")], body: hello)
        }
        #expect(try await kind.make().fetch(server.url()).body == Data("hello".utf8))
    }

    @Test(arguments: TransportUnderTest.allCases)
    func headersThatAreRepeatedAreJoined(_ kind: TransportUnderTest) async throws {
        let server = try RawServer { connection, _ in
            try connection.respond(200, [("Set-Cookie", "a=1"), ("X-A", "1"), ("Set-Cookie", "b=2"), ("X-A", "2")])
        }
        let (head, _) = try await kind.make().fetch(server.url())
        #expect(head.value(forHTTPHeaderField: "X-A") == "1, 2")
        #expect(head.value(forHTTPHeaderField: "Set-Cookie") == "a=1, b=2")
    }

    #if AsyncHTTPClient
    /// Foundation on Linux keeps one of them.
    @Test func headersWhoseNamesDifferInCaseAreJoined() async throws {
        let server = try RawServer { connection, _ in
            try connection.respond(
                200,
                [
                    ("Cache-Control", "max-age=60"), ("VARY", "a"), ("cache-control", "private"), ("Vary", "b"),
                    ("vary", "c"),
                ]
            )
        }
        let (head, _) = try await TransportUnderTest.asyncHTTPClient.make().fetch(server.url())
        #expect(head.value(forHTTPHeaderField: "Cache-Control") == "max-age=60, private")
        #expect(head.value(forHTTPHeaderField: "Vary") == "a, b, c")
        #expect(head.allHeaderFields.count == 3)
    }
    #endif

    @Test(arguments: TransportUnderTest.allCases)
    func earlyHintsAreNotTheHead(_ kind: TransportUnderTest) async throws {
        let server = try RawServer { connection, _ in
            try connection.send("HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n")
            try connection.respond(200, body: Array("hello".utf8))
        }
        let (head, body) = try await kind.make().fetch(server.url())
        #expect(head.statusCode == 200)
        #expect(body == Data("hello".utf8))
    }

    @Test(arguments: TransportUnderTest.allCases)
    func requestsOneAfterAnotherShareAConnection(_ kind: TransportUnderTest) async throws {
        let server = try RawServer { connection, _ in try connection.respond(body: Array("hello".utf8)) }
        let transport = kind.make()
        for _ in 0..<20 { _ = try await transport.fetch(server.url()) }
        #expect(server.hadOneConnection)
    }

    @Test(arguments: TransportUnderTest.allCases)
    func connectionsEndWithTheTransport(_ kind: TransportUnderTest) async throws {
        let server = try RawServer { connection, _ in try connection.respond() }
        for _ in 0..<20 {
            let transport = kind.make()
            _ = try await transport.fetch(server.url())
        }
        try await server.log.wait { $0.accepted == 20 && $0.live == 0 }
    }

    @Test(arguments: TransportUnderTest.allCases, ["Basic realm=\"x\"", "Bearer", "Negotiate"])
    func a401IsAnAnswerWhateverItAsksFor(_ kind: TransportUnderTest, _ challenge: String) async throws {
        let server = try RawServer { connection, _ in
            try connection.respond(401, [("WWW-Authenticate", challenge)], body: Array("no".utf8))
        }
        let (head, body) = try await kind.make().fetch(server.url())
        #expect(head.statusCode == 401)
        #expect(body == Data("no".utf8))
    }

    @Test(arguments: TransportUnderTest.allCases)
    func aProperServerIsUnderstood(_ kind: TransportUnderTest) async throws {
        try await RouteServer.run { server in
            await server.route("GET /hello") { _ in .init(statusCode: .ok, body: Data("hello".utf8)) }
            let (_, body) = try await kind.make().fetch(server.url("hello"))
            #expect(body == Data("hello".utf8))
        }
    }
}
