import TaskControlHTTP
import TaskControlTesting
import Testing

/// That a body which is collected is not larger than the client allows.
@Suite(.timeLimit(.minutes(15)))
struct BodyLimitTests {
    private static let reply = ScriptedTransport.Reply(chunks: [Data(count: 60), Data(count: 40)])

    @Test func byDefaultItIs32MiB() {
        #expect(ClientPolicies().bodyLimit == 33_554_432)
    }

    @Test(arguments: [(100, true), (99, false), (60, false), (0, false), (-1, false), (Int.min, false), (nil, true)])
    func aBodyMayBeAsLargeAsTheLimit(_ limit: Int?, _ fits: Bool) async throws {
        let client = EndpointClient(ScriptedTransport(Self.reply), policies: ClientPolicies(bodyLimit: limit))
        if fits {
            #expect(try await client.request(Text()).utf8.count == 100)
            #expect(try await client.upload(Upload(body: .data(Data()))).utf8.count == 100)
            return
        }
        for error in [
            await thrown { try await client.request(Text()) },
            await thrown { try await client.upload(Upload(body: .data(Data()))) },
        ] {
            let error = try #require(error as? EndpointError)
            #expect(error.reason == .bodyTooLarge && error.statusCode == 200)
            #expect(error.description.contains("more than \(limit ?? 0) bytes"))
        }
    }

    @Test func anEmptyBodyFitsAnyLimit() async throws {
        let client = EndpointClient(ScriptedTransport(.ok("")), policies: ClientPolicies(bodyLimit: 0))
        #expect(try await client.request(Text()) == "")
    }

    @Test func itIsNotRetried() async throws {
        for status in [200, 503] {
            let transport = ScriptedTransport(ScriptedTransport.Reply(status: status, chunks: Self.reply.chunks))
            let policies = ClientPolicies(retry: HTTPRetryPolicy(backoff: .none), bodyLimit: 10)
            let error = await #expect(throws: EndpointError.self) {
                try await EndpointClient(transport, policies: policies).request(Text())
            }
            #expect(error?.reason == .bodyTooLarge && error?.statusCode == status)
            #expect(transport.sent.count == 1)
        }
    }

    @Test func itHoldsForSharedExchanges() async throws {
        let policies = ClientPolicies(coalescesGETRequests: true, bodyLimit: 10)
        let error = await #expect(throws: EndpointError.self) {
            try await EndpointClient(ScriptedTransport(Self.reply), policies: policies).request(Text())
        }
        #expect(error?.reason == .bodyTooLarge)
    }

    @Test func whatIsStreamedOrWrittenToAFileHasNoLimit() async throws {
        let client = EndpointClient(ScriptedTransport(Self.reply), policies: ClientPolicies(bodyLimit: 10))
        let count = try await client.withResponse(to: Text()) { response in
            var count = 0
            for try await chunk in response.body { count += chunk.count }
            return count
        }
        #expect(count == 100)
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("limit-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        try await client.download(Text(), to: file)
        #expect(try Data(contentsOf: file).count == 100)
    }

    // MARK: Over the wire

    @Test(arguments: TransportUnderTest.allCases)
    func atTheLimitTheTransferEnds(_ kind: TransportUnderTest) async throws {
        let server = try RawServer { connection, _ in
            try connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            let chunk = Array("c350\r\n".utf8) + [UInt8](repeating: 65, count: 50_000) + Array("\r\n".utf8)
            for _ in 0..<3 { try connection.send(chunk) }
            // The body has no end.
            connection.waitUntilClosed()
        }
        let client = EndpointClient(
            requestAdapter: BaseURLAdapter(baseURL: server.url()),
            transport: kind.make(),
            policies: ClientPolicies(bodyLimit: 100_000)
        )
        let error = await #expect(throws: EndpointError.self) { try await client.request(Text()) }
        #expect(error?.reason == .bodyTooLarge)
        try await server.log.wait { $0.live == 0 }
    }

    /// 100,000 zeros, by gzip.
    @Test(arguments: TransportUnderTest.allCases)
    func itIsTheSizeAfterDecompression(_ kind: TransportUnderTest) async throws {
        let zeros = try #require(Data(base64Encoded: Self.zeros))
        let server = try RawServer { connection, _ in
            try connection.respond(200, [("Content-Encoding", "gzip")], body: Array(zeros))
        }
        for (limit, fits) in [(100_000, true), (99_999, false)] {
            let client = EndpointClient(
                requestAdapter: BaseURLAdapter(baseURL: server.url()),
                transport: kind.make(),
                policies: ClientPolicies(bodyLimit: limit)
            )
            let error = await thrown { try await client.request(Text()) } as? EndpointError
            #expect(error?.reason == (fits ? nil : .bodyTooLarge))
        }
    }

    private static let zeros =
        "H4sIAAAAAAACA+3BMQEAAADCoPVPbQ0PoAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAIBXA32VEdSghgEA"
}
