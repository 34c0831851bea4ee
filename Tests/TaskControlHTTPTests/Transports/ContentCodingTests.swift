import Foundation
import TaskControlHTTP
import TaskControlResilience
import TestSupport
import Testing

#if AsyncHTTPClient
import AsyncHTTPClient
import NIOCore
#endif

/// Content codings of responses, over both transports.
@Suite(.timeLimit(.minutes(15)))
struct ContentCodingTests {
    /// "hello", encoded.
    static let (gzip, zlib, raw) = (
        bytes("1f8b0800000000000203cb48cdc9c9070086a6103605000000"), bytes("789ccb48cdc9c90700062c0215"),
        bytes("cb48cdc9c90700")
    )
    static let gzipOfGzip = bytes(
        "1f8b080000000000020393efe660000126e6d31e674f9e6467685b2660c60a140000a76fb44519000000"
    )

    static func bytes(_ digits: String) -> [UInt8] {
        stride(from: 0, to: digits.utf8.count, by: 2).map { place in
            UInt8(digits.dropFirst(place).prefix(2), radix: 16)!
        }
    }

    /// Answers every request with a head, and with the same body.
    private func server(_ head: String, body: [UInt8] = []) throws -> RawServer {
        try RawServer { try $0.send(Array("HTTP/1.1 \(head)\r\n\r\n".utf8) + ($1.method == "HEAD" ? [] : body)) }
    }

    private func server(coding: String, body: [UInt8]) throws -> RawServer {
        try server("200 OK\r\nContent-Encoding: \(coding)\r\nContent-Length: \(body.count)", body: body)
    }

    // MARK: Without content

    private static let empty: [(method: String, head: String)] = [
        ("HEAD", "200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 47"),
        ("HEAD", "200 OK\r\nContent-Encoding: gzip, gzip, gzip, gzip, gzip\r\nContent-Length: 47"),
        ("GET", "304 Not Modified\r\nContent-Encoding: gzip\r\nETag: \"x\""),
        ("DELETE", "204 Gone\r\nContent-Encoding: gzip"),
        ("GET", "200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 0"),
        ("GET", "200 OK\r\nContent-Encoding: x-gzip\r\nContent-Length: 0"),
        ("GET", "200 OK\r\nContent-Encoding: deflate\r\nContent-Length: 0"),
        ("GET", "200 OK\r\nContent-Encoding: gzip, gzip\r\nContent-Length: 0"),
        ("GET", "200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n0"),
        ("DELETE", "404 Not Found\r\nContent-Encoding: gzip\r\nContent-Length: 0"),
    ]

    @Test(arguments: TransportUnderTest.allCases, empty.indices)
    func aResponseWithoutContentHasNoCoding(_ kind: TransportUnderTest, _ index: Int) async throws {
        let (method, head) = Self.empty[index]
        let server = try server(head)
        let transport = kind.make()
        for _ in 0..<2 {
            let answer = try await transport.fetch(server.url(), method)
            #expect(head.hasPrefix("\(answer.head.statusCode) ") && answer.body.isEmpty)
        }
        #expect(server.hadOneConnection)
    }

    @Test(arguments: TransportUnderTest.allCases)
    func aDeleteWithoutContentIsSentOnceAndSaysThatTheHostIsHealthy(_ kind: TransportUnderTest) async throws {
        let server = try server("404 Not Found\r\nContent-Encoding: gzip\r\nContent-Length: 0")
        let judge = Judge()
        let policies = ClientPolicies(retry: HTTPRetryPolicy(backoff: .none), resilience: .shared(judge.policy))
        let client = EndpointClient(requestAdapter: AnyHost(), transport: kind.make(), policies: policies)
        #expect(try await client.request(Text(path: server.url().absoluteString, method: "DELETE")).isEmpty)
        #expect(server.log.now.requests.map(\.method) == ["DELETE"])
        #expect(await judge.verdict == .healthy)
    }

    // MARK: With content

    /// libcurl 7.88 also decodes these.
    @Test(
        arguments: TransportUnderTest.allCases,
        [
            ("gzip", gzip), ("GZIP", gzip), ("x-gzip", gzip), ("deflate", zlib), ("deflate", raw),
            ("identity", Array("hello".utf8)),
        ]
    )
    func aCodingIsTakenOff(_ kind: TransportUnderTest, _ example: (coding: String, body: [UInt8])) async throws {
        let server = try server(coding: example.coding, body: example.body)
        #expect(try await kind.make().fetch(server.url()).body == Data("hello".utf8))
    }

    @Test(arguments: TransportUnderTest.allCases)
    func severalCodingsAreTakenOff(_ kind: TransportUnderTest) async throws {
        let server = try server(coding: "gzip, gzip", body: Self.gzipOfGzip)
        #expect(try await kind.make().fetch(server.url()).body == Data("hello".utf8))
    }

    private static let members: [(body: [UInt8], content: String)] = [
        (gzip + gzip, "hellohello"), (gzip + gzip + gzip, "hellohellohello"), (gzip + [0, 0, 0], "hello"),
        (gzip + [0] + gzip + [0, 0], "hellohello"),
    ]

    #if AsyncHTTPClient
    @Test(arguments: members.indices)
    func aBodyOfGzipMayHaveSeveralMembers(_ index: Int) async throws {
        let server = try server(coding: "gzip", body: Self.members[index].body)
        let body = try await TransportUnderTest.asyncHTTPClient.make().fetch(server.url()).body
        #expect(body == Data(Self.members[index].content.utf8))
    }

    private static let broken: [(coding: String, body: [UInt8])] = [
        ("gzip", Array(gzip.dropLast())), ("gzip", Array(gzip.prefix(1))), ("gzip", gzip + [1]), ("gzip", raw),
        ("deflate", [0xCB]), ("deflate", Array(zlib.dropLast())), ("deflate", zlib + zlib), ("gzip, gzip", gzip),
        ("gzip", Array("hello".utf8)), ("gzip, gzip, gzip, gzip, gzip", gzip),
    ]

    @Test(arguments: broken.indices)
    func aBodyThatCannotBeDecodedIsAnErrorThatIsNotRetried(_ index: Int) async throws {
        let server = try server(coding: Self.broken[index].coding, body: Self.broken[index].body)
        let judge = Judge()
        let policies = ClientPolicies(retry: HTTPRetryPolicy(backoff: .none), resilience: .shared(judge.policy))
        let transport = TransportUnderTest.asyncHTTPClient.make()
        let client = EndpointClient(requestAdapter: AnyHost(), transport: transport, policies: policies)
        let error = await #expect(throws: EndpointError.self) {
            try await client.request(Text(path: server.url().absoluteString))
        }
        #expect((error?.underlyingError as? URLError)?.code == .cannotDecodeRawData)
        #expect(server.log.now.requests.count == 1)
        #expect(await judge.verdict == .healthy)
    }

    @Test func aLongBodyIsDecodedPartByPart() async throws {
        let data = Pattern.data(3_000_000)
        // Blocks that are not compressed (RFC 1951, 3.2.4).
        var body: [UInt8] = []
        for start in stride(from: 0, to: data.count, by: 65_535) {
            let block = data[start..<min(start + 65_535, data.count)]
            let (low, high) = (UInt8(truncatingIfNeeded: block.count), UInt8(block.count >> 8))
            body += [start + block.count == data.count ? 1 : 0, low, high, ~low, ~high] + block
        }
        let server = try server(coding: "deflate", body: body)
        #expect(try await TransportUnderTest.asyncHTTPClient.make().fetch(server.url()).body == data)
    }

    /// The client that decompresses by itself, with a limit of its configuration.
    @Test(arguments: empty.indices.filter { !empty[$0].head.contains("chunked") })
    func aClientThatDecompressesUnderstandsAResponseWithoutContent(_ index: Int) async throws {
        var configuration = HTTPClient.Configuration.singletonConfiguration
        configuration.timeout = .init(connect: .hours(1), read: .hours(1))
        let (server, transport) = (
            try server(Self.empty[index].head), AsyncHTTPClientTransport(configuration: configuration)
        )
        #expect(try await transport.fetch(server.url(), Self.empty[index].method).body.isEmpty)
        let other = try self.server(coding: "x-gzip", body: Self.gzip)
        #expect(try await transport.fetch(other.url()).body == Data("hello".utf8))
        #expect(other.log.now.requests.map { $0["Accept-Encoding"] } == ["gzip"])
    }

    @Test func aClientOfTheUserDecidesByItself() async throws {
        let server = try server(coding: "gzip", body: Self.gzip)
        let client = HTTPClient(
            eventLoopGroupProvider: .singleton,
            configuration: .init(redirectConfiguration: .disallow)
        )
        let answer = await Result { try await AsyncHTTPClientTransport(client).fetch(server.url()) }
        try await client.shutdown()
        #expect(try answer.get().body == Data(Self.gzip))
        #expect(server.log.now.requests.map { $0["Accept-Encoding"] } == [nil])
    }
    #endif

    #if canImport(FoundationNetworking)
    /// As the section *On Linux* of `URLSessionTransport` says.
    @Test(arguments: members.indices)
    func libcurlRefusesWhatFollowsTheFirstMember(_ index: Int) async throws {
        let server = try server(coding: "gzip", body: Self.members[index].body)
        let error = await thrown { try await TransportUnderTest.urlSession.make().fetch(server.url()) }
        #expect(error is URLError)
    }

    @Test func libcurlTakesAnIncompleteBodyForAWholeOne() async throws {
        let part = Self.gzip.prefix(20)
        for framing in ["Content-Length: \(part.count)\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n14\r\n"] {
            let isChunked = framing.contains("chunked")
            let server = try RawServer { connection, _ in
                try connection.send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\(framing)")
                try connection.send(Array(part) + Array((isChunked ? "\r\n0\r\n\r\n" : "").utf8))
            }
            #expect(await thrown { try await TransportUnderTest.urlSession.make().fetch(server.url()) } == nil)
        }
    }
    #endif
}

extension Result where Failure == any Error {
    fileprivate init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
