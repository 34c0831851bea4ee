import Dispatch
import Foundation
import TaskControlHTTP
import TaskControlTesting
import Testing

/// Requests as they are sent, over both transports.
@Suite(.timeLimit(.minutes(10)))
struct UploadTests {
    /// Answers with what it makes of the pattern that it is sent.
    private func patternServer() throws -> RawServer {
        try RawServer { connection, request in
            var check = Pattern.Check()
            try connection.readBody(of: request) { check.add($0) }
            try connection.respond(body: Array("\(check.count) \(check.isRight)".utf8))
        }
    }

    private func upload(
        _ body: UploadEndpointBody,
        to url: URL,
        over kind: TransportUnderTest,
        _ didSend: (@Sendable (Int64, Int64?) -> Void)? = nil
    ) async throws -> String {
        var request = URLRequest(url: url)
        request.httpMethod = "PUT"
        let upload = HTTPTransportRequest(request, body: body, didSend: didSend)
        return String(decoding: try await kind.make().fetch(upload).body, as: UTF8.self)
    }

    @Test(arguments: TransportUnderTest.allCases, [0, 1, 65_536, 1_000_000])
    func dataFilesAndStreamsArrive(_ kind: TransportUnderTest, _ count: Int) async throws {
        let server = try patternServer()
        let file = try Pattern.file(count)
        defer { try? FileManager.default.removeItem(at: file) }
        let bodies: [(UploadEndpointBody, length: Int?)] = [
            (.data(Pattern.data(count)), count), (.file(file), count),
            (.stream(length: Int64(count)) { PatternStream(count) }, count),
            (.stream(length: nil) { PatternStream(count) }, nil),
            (.stream(PatternStream(count)), nil),
        ]
        for (number, (body, length)) in bodies.enumerated() {
            #expect(try await upload(body, to: server.url(), over: kind) == "\(count) true")
            let request = server.log.now.requests[number]
            #expect(request["Content-Length"] == length.map(String.init))
            #expect(request["Transfer-Encoding"] == (length == nil ? "chunked" : nil))
            #expect(request["Content-Type"] == nil)
        }
    }

    @Test(arguments: TransportUnderTest.allCases)
    func theRequestMayHaveTheBody(_ kind: TransportUnderTest) async throws {
        let server = try patternServer()
        var request = URLRequest(url: server.url())
        request.httpMethod = "POST"
        request.httpBody = Pattern.data(1_000)
        request.setValue("text/plain", forHTTPHeaderField: "Content-Type")
        #expect(try await kind.make().fetch(HTTPTransportRequest(request)).body == Data("1000 true".utf8))
        #expect(server.log.now.requests[0]["Content-Type"] == "text/plain")
        request.httpBody = nil
        request.httpBodyStream = PatternStream(1_000)
        #expect(try await kind.make().fetch(HTTPTransportRequest(request)).body == Data("1000 true".utf8))
    }

    @Test(arguments: TransportUnderTest.allCases, ["GET", "HEAD", "DELETE", "POST", "PUT", "PATCH", "OPTIONS"])
    func everyMethodMayGoWithoutABody(_ kind: TransportUnderTest, _ method: String) async throws {
        let server = try RawServer { connection, request in
            try connection.readBody(of: request)
            if request.method == "HEAD" { return try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n") }
            try connection.respond()
        }
        let transport = kind.make()
        var request = URLRequest(url: server.url())
        request.httpMethod = method
        for body in [nil, Data()] {
            request.httpBody = body
            _ = try await transport.fetch(HTTPTransportRequest(request))
        }
        #expect(server.log.now.requests.map(\.method) == [method, method])
        // On Linux, a request that must not be repeated has a connection of its own, if it has no body.
        let isOnItsOwn = kind == .urlSession && !URLSessionTransport.isHeldBack && ["POST", "PATCH"].contains(method)
        #expect(isOnItsOwn ? server.log.now.accepted == 2 : server.hadOneConnection)
    }

    @Test(arguments: TransportUnderTest.allCases)
    func progressIsToldInOrderToTheEnd(_ kind: TransportUnderTest) async throws {
        let server = try patternServer()
        let count = 1_000_000
        for body: UploadEndpointBody in [
            .data(Pattern.data(count)), .stream(length: Int64(count)) { PatternStream(count) },
        ] {
            let told = OrderRecorder<[Int64?]>()
            _ = try await upload(body, to: server.url(), over: kind) { told.record([$0, $1]) }
            let sent = told.events.map { $0[0]! }
            #expect(sent == sent.sorted() && sent.last == Int64(count) && sent.count > 2)
            #expect(told.events.allSatisfy { $0[1] == Int64(count) })
        }
        let told = OrderRecorder<[Int64?]>()
        _ = try await upload(.stream(length: nil) { PatternStream(count) }, to: server.url(), over: kind) {
            told.record([$0, $1])
        }
        #expect(told.events.last == [Int64(count), nil])
        _ = try await upload(.data(Data(count: 10)), to: server.url(), over: kind) { told.record([$0, $1]) }
        #expect(told.events.last == [10, 10])
    }

    @Test(arguments: TransportUnderTest.allCases, [999, 1_001])
    func aStreamThatIsNotAsLongAsWasSaidFails(_ kind: TransportUnderTest, _ count: Int) async throws {
        let server = try patternServer()
        let error = await thrown {
            try await upload(.stream(length: 1_000) { PatternStream(count) }, to: server.url(), over: kind)
        }
        #expect(error.map { "\($0)" }?.contains("1000 bytes") == true)
        try await server.log.wait { $0.live == 0 }
    }

    @Test(arguments: TransportUnderTest.allCases)
    func whatCannotBeOpenedOrReadFailsAsItself(_ kind: TransportUnderTest) async throws {
        struct Mine: Error {}
        let server = try patternServer()
        #expect(
            await thrown { try await upload(.stream(length: nil) { throw Mine() }, to: server.url(), over: kind) }
                is Mine
        )
        let none = FileManager.default.temporaryDirectory.appendingPathComponent("none-\(UUID().uuidString)")
        #expect(await thrown { try await upload(.file(none), to: server.url(), over: kind) } is CocoaError)
        #expect(server.log.now.requests.isEmpty)
        let error = await thrown {
            try await upload(.stream(length: nil) { BrokenStream(Mine()) }, to: server.url(), over: kind)
        }
        #expect(error is Mine)
    }

    @Test(arguments: TransportUnderTest.allCases)
    func theServerMayAnswerBeforeItHasReadAll(_ kind: TransportUnderTest) async throws {
        let isAnswered = DispatchSemaphore(value: 0)
        let server = try RawServer { connection, _ in
            try connection.respond(413, [("Connection", "close")], body: Array("too much".utf8))
            // It reads nothing until then: the upload would continue at full speed while the answer waits for a thread.
            isAnswered.wait()
            connection.waitUntilClosed()
        }
        let transport = kind.make()
        var request = URLRequest(url: server.url())
        request.httpMethod = "PUT"
        let upload = HTTPTransportRequest(request, body: .stream(length: nil) { PatternStream(1 << 40) })
        do {
            defer { isAnswered.signal() }
            #expect(try await transport.withResponse(to: upload) { $0.head.statusCode } == 413)
        }
        try await server.log.wait { $0.live == 0 }
    }

    /// The server closes a connection that is kept, just when the next request is sent on it.
    @Test(arguments: [TransportUnderTest.urlSession])
    func aBodyIsSentAgainWhereAKeptConnectionWasClosed(_ kind: TransportUnderTest) async throws {
        let server = try RawServer { connection, request in
            if request.target == "/b", connection.number == 1 { return connection.close() }
            var check = Pattern.Check()
            try connection.readBody(of: request) { check.add($0) }
            try connection.respond(body: Array("\(check.count) \(check.isRight)".utf8))
        }
        let transport = kind.make()
        for path in ["a", "b"] {
            var request = URLRequest(url: server.url(path))
            request.httpMethod = "PUT"
            request.httpBody = Pattern.data(1_000)
            #expect(try await transport.fetch(HTTPTransportRequest(request)).body == Data("1000 true".utf8))
        }
    }
}
