import Foundation
import TaskControlHTTP
import Testing

/// That redirects are followed, over both transports.
@Suite(.timeLimit(.minutes(15)))
struct RedirectTests {
    /// Redirects `/n` to `/n-1`, until `/0`.
    private func countdown() throws -> RawServer {
        try RawServer { connection, request in
            let left = Int(request.target.dropFirst()) ?? 0
            if left == 0 { return try connection.respond(body: Array("there".utf8)) }
            try connection.respond(302, [("Location", "/\(left - 1)")], body: Array("moved".utf8))
        }
    }

    @Test(arguments: TransportUnderTest.allCases)
    func sixteenAreFollowed(_ kind: TransportUnderTest) async throws {
        let server = try countdown()
        let (head, body) = try await kind.make().fetch(server.url("16"))
        #expect(head.statusCode == 200 && head.url == server.url("0"))
        #expect(body == Data("there".utf8))
        #expect(server.log.now.requests.count == 17)
        #expect(server.hadOneConnection, "their bodies are read, so the connection is used again")
    }

    /// URLSession on Linux reports a redirect after its body.
    @Test(arguments: TransportUnderTest.allCases.filter { $0 != .urlSession || URLSessionTransport.isHeldBack })
    func aRedirectWhoseBodyNeverEndsIsFollowed(_ kind: TransportUnderTest) async throws {
        let server = try RawServer { connection, request in
            if request.target == "/b" { return try connection.respond(body: Array("there".utf8)) }
            try connection.send("HTTP/1.1 302 Found\r\nLocation: /b\r\nContent-Length: 10\r\n\r\nmoved")
            connection.waitUntilClosed()
        }
        let (head, body) = try await kind.make().fetch(server.url("a"))
        #expect(head.statusCode == 200 && body == Data("there".utf8))
    }

    @Test(arguments: TransportUnderTest.allCases)
    func seventeenAreTooMany(_ kind: TransportUnderTest) async throws {
        let server = try countdown()
        let error = await thrown { try await kind.make().fetch(server.url("17")) }
        #expect((error as? URLError)?.code == .httpTooManyRedirects)
        #expect(server.log.now.requests.count == 17)
    }

    @Test(arguments: TransportUnderTest.allCases)
    func aCircleEnds(_ kind: TransportUnderTest) async throws {
        let server = try RawServer { connection, request in try connection.respond(307, [("Location", request.target)])
        }
        let error = await thrown { try await kind.make().fetch(server.url("a")) }
        #expect((error as? URLError)?.code == .httpTooManyRedirects)
    }

    @Test(arguments: TransportUnderTest.allCases)
    func secretsDoNotGoToAnotherOrigin(_ kind: TransportUnderTest) async throws {
        let other = try RawServer { connection, _ in try connection.respond(body: Array("there".utf8)) }
        let location = other.url("b").absoluteString
        let server = try RawServer { connection, request in
            if request.target == "/b" { return try connection.respond() }
            try connection.respond(302, [("Location", request.target == "/same" ? "/b" : location)])
        }
        var request = URLRequest(url: server.url("a"))
        for name in ["Authorization", "Cookie", "Proxy-Authorization", "X-Mine"] {
            request.setValue("secret", forHTTPHeaderField: name)
        }
        let transport = kind.make()
        _ = try await transport.fetch(HTTPTransportRequest(request))
        request.url = server.url("same")
        _ = try await transport.fetch(HTTPTransportRequest(request))
        for name in ["Authorization", "Cookie", "Proxy-Authorization", "X-Mine"] {
            #expect(other.log.now.requests[0][name] == nil)
            #expect(server.log.now.requests.map { $0[name] } == ["secret", "secret", "secret"])
        }
    }

    @Test(arguments: TransportUnderTest.allCases, ["data", "file", "stream"])
    func aBodyIsSentAgain(_ kind: TransportUnderTest, _ source: String) async throws {
        let count = 200_000
        let server = try RawServer { connection, request in
            var check = Pattern.Check()
            try connection.readBody(of: request) { check.add($0) }
            let isRight = check.isRight && check.count == count
            if request.target == "/a" { return try connection.respond(307, [("Location", "/b")]) }
            try connection.respond(body: Array((isRight ? "right" : "wrong").utf8))
        }
        var request = URLRequest(url: server.url("a"))
        request.httpMethod = "POST"
        let file = try Pattern.file(count)
        defer { try? FileManager.default.removeItem(at: file) }
        let body: UploadEndpointBody =
            switch source {
            case "data": .data(Pattern.data(count))
            case "file": .file(file)
            default: .stream(length: nil) { PatternStream(count) }
            }
        let (head, answer) = try await kind.make().fetch(HTTPTransportRequest(request, body: body))
        #expect(head.url == server.url("b"))
        #expect(answer == Data("right".utf8))
        #expect(server.log.now.requests.map(\.method) == ["POST", "POST"])
    }

    @Test(arguments: TransportUnderTest.allCases)
    func ofAStreamThatCanBeSentOnceTheRedirectIsTheAnswer(_ kind: TransportUnderTest) async throws {
        let server = try RawServer { connection, request in
            try connection.readBody(of: request)
            try connection.respond(307, [("Location", "/b")])
        }
        var request = URLRequest(url: server.url("a"))
        request.httpMethod = "PUT"
        let upload = HTTPTransportRequest(request, body: .stream(InputStream(data: Data("hello".utf8))))
        #expect(try await kind.make().fetch(upload).head.statusCode == 307)
        #expect(server.log.now.requests.count == 1)
    }

    @Test(arguments: TransportUnderTest.allCases)
    func aPostThatIsRedirectedBecomesAGetWithoutABody(_ kind: TransportUnderTest) async throws {
        let server = try RawServer { connection, request in
            try connection.readBody(of: request)
            if request.target == "/a" { return try connection.respond(302, [("Location", "/b")]) }
            try connection.respond()
        }
        var request = URLRequest(url: server.url("a"))
        request.httpMethod = "POST"
        request.httpBody = Data("hello".utf8)
        _ = try await kind.make().fetch(HTTPTransportRequest(request))
        let last = server.log.now.requests[1]
        #expect(last.method == "GET" && last.target == "/b")
        #expect(last["Content-Length"] == nil && last["Content-Type"] == nil && last["Transfer-Encoding"] == nil)
    }

    @Test(arguments: TransportUnderTest.allCases, [300, 304, 305, 306])
    func otherStatusesOfThatKindAreAnswers(_ kind: TransportUnderTest, _ status: Int) async throws {
        let server = try RawServer { connection, _ in try connection.respond(status, [("Location", "/b")]) }
        #expect(try await kind.make().fetch(server.url("a")).head.statusCode == status)
    }

    @Test(arguments: TransportUnderTest.allCases)
    func withoutALocationItIsAnAnswer(_ kind: TransportUnderTest) async throws {
        let server = try RawServer { connection, _ in try connection.respond(302, [], body: Array("no".utf8)) }
        #expect(try await kind.make().fetch(server.url("a")).head.statusCode == 302)
    }

    @Test(arguments: TransportUnderTest.allCases)
    func theEscapesOfALocationStay(_ kind: TransportUnderTest) async throws {
        let server = try RawServer { connection, request in
            if request.target != "/a" { return try connection.respond() }
            try connection.respond(302, [("Location", "/My%20Report (final)|v2.pdf")])
        }
        _ = try await kind.make().fetch(server.url("a"))
        #expect(server.log.now.requests.map(\.target) == ["/a", "/My%20Report%20(final)%7Cv2.pdf"])
    }

    @Test(arguments: TransportUnderTest.allCases)
    func aLocationThatIsSentTwiceIsFollowed(_ kind: TransportUnderTest) async throws {
        let server = try RawServer { connection, request in
            if request.target != "/a" { return try connection.respond() }
            try connection.respond(302, [("Location", "/to"), ("Location", "/to")])
        }
        _ = try await kind.make().fetch(server.url("a"))
        #expect(server.log.now.requests.map(\.target) == ["/a", "/to"])
    }

    @Test(arguments: TransportUnderTest.allCases)
    func twoLocationsAreAnError(_ kind: TransportUnderTest) async throws {
        let server = try RawServer { connection, _ in
            try connection.respond(302, [("Location", "/to"), ("Location", "/other")])
        }
        let error = await thrown { try await kind.make().fetch(server.url("a")) }
        #expect((error as? URLError)?.code == .redirectToNonExistentLocation)
    }

    @Test(arguments: TransportUnderTest.allCases)
    func theCredentialsOfTheURLAreSentAgainToItsOrigin(_ kind: TransportUnderTest) async throws {
        let other = try RawServer { connection, _ in try connection.respond() }
        let away = other.url("away").absoluteString
        let server = try RawServer { connection, request in
            // Apple's session waits to be asked.
            if request["Authorization"] == nil {
                return try connection.respond(401, [("WWW-Authenticate", "Basic realm=\"x\"")])
            }
            let location = request.target == "/dir" ? "http://\(request["Host"] ?? "")/dir/" : away
            try connection.respond(301, [("Location", location)])
        }
        let url = try #require(URL(string: "http://us:pw@127.0.0.1:\(server.port)/dir"))
        _ = try await kind.make().fetch(url)
        let answered = server.log.now.requests.filter { $0["Authorization"] != nil }
        let credential = "Basic " + Data("us:pw".utf8).base64EncodedString()
        #expect(answered.map(\.target) == ["/dir", "/dir/"])
        #expect(answered.allSatisfy { $0["Authorization"] == credential })
        #expect(other.log.now.requests.map { $0["Authorization"] } == [nil])
    }

    @Test(arguments: TransportUnderTest.allCases)
    func aSchemeInUpperCaseWorks(_ kind: TransportUnderTest) async throws {
        let server = try RawServer { connection, request in
            if request.target != "/a" { return try connection.respond() }
            try connection.respond(302, [("Location", "HTTP://\(request["Host"] ?? "")/b")])
        }
        let url = try #require(URL(string: "HTTP://127.0.0.1:\(server.port)/a"))
        #expect(try await kind.make().fetch(url).head.statusCode == 200)
        let client = EndpointClient(
            requestAdapter: BaseURLAdapter(baseURL: try #require(URL(string: "HTTP://127.0.0.1:\(server.port)"))),
            transport: kind.make()
        )
        _ = try await client.request(Text(path: "c"))
        #expect(server.log.now.requests.map(\.target) == ["/a", "/b", "/c"])
    }
}
