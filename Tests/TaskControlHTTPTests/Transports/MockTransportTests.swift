import TaskControlHTTP
import TaskControlTesting
import Testing

@Suite(.timeLimit(.minutes(15)))
struct MockTransportTests {
    private struct Book: Codable, Hashable { var title: String }

    @Test func aClosureAnswersEachRequest() async throws {
        let transport = MockTransport { request in
            (request.httpMethod == "GET" ? 200 : 404, Data(#"[{"title":"Emma"}]"#.utf8))
        }
        let client = EndpointClient(baseURL: "https://books.example/v1", transport: transport)
        #expect(try await client.get("books", as: [Book].self) == [Book(title: "Emma")])
        let error = await #expect(throws: EndpointError.self) { try await client.delete("books/\(7)") }
        #expect(error?.statusCode == 404)
        #expect(transport.requests.map { $0.url?.path } == ["/v1/books", "/v1/books/7"])
    }

    @Test func theBodyOfAnUploadIsThatOfTheRequest() async throws {
        let transport = MockTransport { request in (200, request.httpBody ?? Data()) }
        let client = EndpointClient(baseURL: "http://h", transport: transport)
        let data = Data(repeating: 7, count: 100_000)
        let sent = OrderRecorder<Int64>()
        let bodies: [UploadEndpointBody] = [
            .data(data), .stream(length: 100_000) { InputStream(data: data) }, .stream(InputStream(data: data)),
        ]
        for body in bodies {
            let length = try await client.upload(Upload(body: body), onProgress: { sent.record($0.sent) }).utf8.count
            #expect(length == 100_000)
        }
        #expect(sent.events.max() == 100_000)
        #expect(try await client.post("books", body: Book(title: "Emma")) == Data(#"{"title":"Emma"}"#.utf8))
        #expect(transport.requests.last?.httpBody == Data(#"{"title":"Emma"}"#.utf8))
        #expect(transport.requests.last?.value(forHTTPHeaderField: "Content-Type") == "application/json")
    }

    @Test func aResponseHasHeadersPartsAndAnError() async throws {
        let transport = MockTransport.responding { _ in
            .init(201, headers: ["X": "y"], chunks: [Data("a".utf8), Data("b".utf8)], failure: URLError(.timedOut))
        }
        let client = EndpointClient(baseURL: "http://h", transport: transport)
        let parts = OrderRecorder<String>()
        let error = await thrown {
            try await client.withResponse(to: Text()) { response in
                #expect(response.head.statusCode == 201)
                #expect(response.head.value(forHTTPHeaderField: "x") == "y")
                for try await part in response.body { parts.record(String(decoding: part, as: UTF8.self)) }
            }
        }
        #expect(((error as? EndpointError)?.underlyingError as? URLError)?.code == .timedOut)
        #expect(parts.events == ["a", "b"])
        let whole = MockTransport.responding { _ in .init(body: Data("whole".utf8)) }
        #expect(try await EndpointClient(baseURL: "http://h", transport: whole).request(Text()) == "whole")
    }

    @Test func anErrorOfTheClosureIsOneOfTheTransport() async throws {
        let transport = MockTransport { _ in throw URLError(.notConnectedToInternet) }
        let client = EndpointClient(
            baseURL: "http://h",
            transport: transport,
            policies: ClientPolicies(retry: HTTPRetryPolicy(attempts: 3, backoff: .none))
        )
        let error = await #expect(throws: EndpointError.self) { try await client.request(Text()) }
        #expect(error?.reason == .transport)
        #expect(transport.requests.count == 3)
    }

    @Test func headersWhoseNamesDifferInCaseAreJoined() async throws {
        let transport = MockTransport.responding { _ in
            MockTransport.Response(headers: ["Vary": "a", "vary": "b", "VARY": "c"])
        }
        let request = HTTPTransportRequest(URLRequest(url: URL(string: "http://h")!))
        let head = try await transport.withResponse(to: request) { $0.head }
        #expect(head.value(forHTTPHeaderField: "Vary") == "c, a, b")
    }

    @Test func aCallerThatIsCancelledLeavesTheClosure() async throws {
        let gate = Gate()
        let transport = MockTransport { _ in
            try await gate.wait()
            return (200, Data())
        }
        let client = EndpointClient(baseURL: "http://h", transport: transport)
        let task = Task { try await client.request(Text()) }
        try await gate.waitForWaiters()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
