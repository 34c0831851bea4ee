import TaskControlHTTP
import TaskControlTesting
import Testing

/// That an invalid request is refused, before anything of it is sent.
@Suite(.timeLimit(.minutes(15)))
struct RequestCheckTests {
    /// An endpoint that makes any request.
    private struct Made: Endpoint {
        typealias Content = String
        let make: @Sendable (inout URLRequest) -> Void

        func makeRequest() throws -> URLRequest {
            var request = URLRequest(url: URL(string: "made")!)
            make(&request)
            return request
        }
    }

    @Test(arguments: ["", " ", "GET /x HTTP/1.1\r\nInjected: 1\r\nX:", "GE T", "G\u{0}T", "GÉT", "GET\n"])
    func aMethodIsAToken(_ method: String) async throws {
        let error = try await refusal { $0.httpMethod = method }
        #expect(error.detail?.contains("the method") == true && !error.description.contains("Injected"))
    }

    @Test(arguments: ["", " ", "X-A: b\r\nInjected", "X A", "X:", "X\u{0}", "Ü"])
    func theNameOfAHeaderIsAToken(_ name: String) async throws {
        let error = try await refusal { $0.allHTTPHeaderFields = [name: "hush"] }
        #expect(error.detail?.contains("header") == true)
        #expect(!error.description.contains("hush") && !error.description.contains("Injected"))
    }

    @Test(arguments: ["hush\n", "a\r\nInjected: hush", "hush\u{0}", "hush\u{7F}", "\u{1B}[1mhush"])
    func theValueOfAHeaderHasNoControlCharacter(_ value: String) async throws {
        let error = try await refusal { $0.allHTTPHeaderFields = ["X-Mine": value] }
        #expect(error.detail?.contains("\"X-Mine\"") == true && !error.description.contains("hush"))
    }

    @Test(arguments: ["", "a\tb", "é", "a, b; c=\"d\""])
    func anyOtherValueIsSent(_ value: String) async throws {
        let transport = ScriptedTransport(.ok("there"))
        let client = EndpointClient(transport)
        #expect(try await client.request(Made { $0.allHTTPHeaderFields = ["X-Mine": value] }) == "there")
        #expect(transport.sent.events.first?.headers == ["X-Mine": value])
    }

    @Test func aMediaTypeIsChecked() async throws {
        struct Post: Endpoint, URLRequestBuildable {
            typealias Content = String
            func makeRequest() throws -> URLRequest {
                post(URL(string: "made")!, body: EndpointBody(data: Data(), contentType: "text/plain\n"))
            }
        }
        let error = try await refusal(of: Post())
        #expect(error.detail?.contains("\"Content-Type\"") == true)
    }

    @Test(arguments: ["GET", "get"])
    func aGetHasNoBody(_ method: String) async throws {
        for stream in [false, true] {
            let error = try await refusal { request in
                request.httpMethod = method
                if stream {
                    request.httpBodyStream = InputStream(data: Data("body".utf8))
                } else {
                    request.httpBody = Data("body".utf8)
                }
            }
            #expect(error.detail?.contains("a GET request cannot have a body") == true)
        }
        let transport = ScriptedTransport(.ok("there"))
        #expect(try await EndpointClient(transport).request(Made { $0.httpBody = Data() }) == "there")
    }

    @Test(arguments: ["/dev/zero", "/dev/null", "/"])
    func anUploadedFileIsARegularFile(_ path: String) async throws {
        let transport = ScriptedTransport(.ok("there"))
        let client = EndpointClient(transport, policies: ClientPolicies(retry: HTTPRetryPolicy(backoff: .none)))
        let error = await #expect(throws: EndpointError.self) {
            try await client.upload(Upload(body: .file(URL(fileURLWithPath: path))))
        }
        #expect(error?.reason == .request && error?.detail?.contains("not a regular file") == true)
        #expect(transport.sent.count == 0)
    }

    /// A named pipe would block the thread that opens it.
    @Test func aPipeIsNotOpened() async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("pipe-\(UUID().uuidString)").path
        try #require(mkfifo(path, 0o600) == 0)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let client = EndpointClient(ScriptedTransport(.ok("there")))
        let error = await #expect(throws: EndpointError.self) {
            try await client.upload(Upload(body: .file(URL(fileURLWithPath: path))))
        }
        #expect(error?.reason == .request)
    }

    @Test func theObserverIsToldOfARefusalAndItIsNotRetried() async throws {
        let told = OrderRecorder<String>()
        let transport = ScriptedTransport(.ok("there"))
        let client = EndpointClient(transport, policies: ClientPolicies(retry: HTTPRetryPolicy(backoff: .none))) {
            told.record("\(String(describing: $1?.statusCode)) \(($3 as? EndpointError)?.reason as Any)")
        }
        await #expect(throws: EndpointError.self) { try await client.request(Made { $0.httpMethod = "" }) }
        #expect(told.count == 1 && transport.sent.count == 0)
    }

    // MARK: Over the transports alone

    @Test(arguments: TransportUnderTest.allCases)
    func transportsRefuseToo(_ kind: TransportUnderTest) async throws {
        let server = try RawServer { connection, _ in try connection.respond() }
        let transport = kind.make()
        var injected = URLRequest(url: server.url())
        injected.allHTTPHeaderFields = ["X-A: b\r\nInjected": "1"]
        var method = URLRequest(url: server.url())
        method.httpMethod = "GET / HTTP/1.1\r\nInjected: 1\r\nX:"
        var body = URLRequest(url: server.url())
        body.httpBody = Data("body".utf8)
        var device = URLRequest(url: server.url())
        device.httpMethod = "PUT"
        let requests = [
            HTTPTransportRequest(injected), HTTPTransportRequest(method), HTTPTransportRequest(body),
            HTTPTransportRequest(device, body: .file(URL(fileURLWithPath: "/dev/zero"))),
        ]
        for request in requests {
            let error = await thrown { try await transport.fetch(request) } as? EndpointError
            #expect(error?.reason == .request)
        }
        #expect(server.log.now.requests.isEmpty)
    }

    @Test(arguments: TransportUnderTest.allCases, ["GET", "PUT"])
    func theLengthOfABodyIsTheTransportsToSay(_ kind: TransportUnderTest, _ method: String) async throws {
        let server = try RawServer { connection, request in
            try connection.readBody(of: request)
            try connection.respond()
        }
        var request = URLRequest(url: server.url())
        request.httpMethod = method
        request.allHTTPHeaderFields = ["Content-Length": "5", "Transfer-Encoding": "chunked"]
        let body: UploadEndpointBody? = method == "GET" ? nil : .data(Data("body of 15 byte".utf8))
        _ = try await kind.make().fetch(HTTPTransportRequest(request, body: body))
        let sent = try #require(server.log.now.requests.first)
        #expect(sent["Content-Length"] == (body == nil ? nil : "15") && sent["Transfer-Encoding"] == nil)
    }

    @Test(arguments: TransportUnderTest.allCases, ["", " ", " \t "])
    func aBlankValueIsSentAsAnEmptyOne(_ kind: TransportUnderTest, _ value: String) async throws {
        let server = try RawServer { connection, _ in try connection.respond() }
        var request = URLRequest(url: server.url())
        request.allHTTPHeaderFields = ["X-Mine": value]
        _ = try await kind.make().fetch(HTTPTransportRequest(request))
        #expect(server.log.now.requests.first?["X-Mine"] == "")
    }

    private func refusal(_ make: @escaping @Sendable (inout URLRequest) -> Void) async throws -> EndpointError {
        try await refusal(of: Made(make: make))
    }

    private func refusal(of endpoint: some Endpoint) async throws -> EndpointError {
        let transport = ScriptedTransport(.ok("there"))
        let error = await #expect(throws: EndpointError.self) { try await EndpointClient(transport).request(endpoint) }
        #expect(error?.reason == .request)
        #expect(transport.sent.count == 0)
        return try #require(error)
    }
}
