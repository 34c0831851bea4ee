import Foundation
import TaskControlHTTP
import TaskControlTesting
import TestSupport
import Testing

/// That the request that leaves is the one that was asked for, over both transports.
@Suite(.timeLimit(.minutes(15)))
struct SentRequestTests {
    private static let targets = [
        "/", "/?", "/?q", "/a", "/a/", "/a//b", "//a", "/a?b=c&d=%20+%2B", "/a%2Fb", "/a%20b", "/a;b=c", "/a:b@c",
        "/caf%C3%A9", "/caf%c3%a9", "/a?caf%E9", "/a?%FF", "/a?b?c/d", "/%25", "/a%00b", "/a%2e", "/*",
        "/a'b!$&()*+,=~", "/a?'",
    ]

    @Test(arguments: TransportUnderTest.allCases, targets)
    func theTargetIsTheOneOfTheURL(_ kind: TransportUnderTest, _ target: String) async throws {
        let server = try RawServer { connection, _ in try connection.respond() }
        let url = try #require(URL(string: "http://127.0.0.1:\(server.port)\(target)#fragment"))
        _ = try await kind.make().fetch(url)
        #expect(server.log.now.requests.map(\.target) == [target])
    }

    /// In a URL without a path, and in the escapes of a path that are not those of UTF-8.
    @Test(arguments: TransportUnderTest.allCases, [("", "/"), ("?q=1", "/?q=1")])
    func aURLWithoutAPathHasTheRootAsTarget(_ kind: TransportUnderTest, _ example: (url: String, target: String))
        async throws
    {
        let server = try RawServer { connection, _ in try connection.respond() }
        let url = try #require(URL(string: "http://127.0.0.1:\(server.port)\(example.url)"))
        _ = try await kind.make().fetch(url)
        #expect(server.log.now.requests.map(\.target) == [example.target])
    }

    @Test(arguments: TransportUnderTest.allCases, ["/api/files/%E9t%E9.txt", "/%FF/x?q=1", "/%C3", "/a/%ff"])
    func aPathThatIsNotUTF8IsSentUnchangedOrRefused(_ kind: TransportUnderTest, _ target: String) async throws {
        let server = try RawServer { connection, request in
            if request.target == "/from" { return try connection.respond(307, [("Location", target)]) }
            try connection.respond()
        }
        let url = try #require(URL(string: "http://127.0.0.1:\(server.port)\(target)"))
        let transport = kind.make()
        for (url, before) in [(url, []), (server.url("from"), ["/from"])] {
            let first = server.log.now.requests.count
            let error = await thrown { try await transport.fetch(url, "DELETE") }
            let sent = server.log.now.requests.map(\.target).dropFirst(first)
            if kind == .urlSession {
                #expect(error == nil && Array(sent) == before + [target])
            } else {
                #expect((error as? URLError)?.code == .badURL && Array(sent) == before)
            }
        }
    }

    @Test(arguments: TransportUnderTest.allCases, ["HTTP", "Http", "hTTp"])
    func aSchemeMayBeInUpperCase(_ kind: TransportUnderTest, _ scheme: String) async throws {
        let server = try RawServer { connection, _ in try connection.respond(body: Array("there".utf8)) }
        let url = try #require(URL(string: "\(scheme)://127.0.0.1:\(server.port)/a%2Fb?c"))
        #expect(try await kind.make().fetch(url).body == Data("there".utf8))
        #expect(server.log.now.requests.map(\.target) == ["/a%2Fb?c"])
    }

    @Test(
        arguments: TransportUnderTest.allCases,
        ["GET", "HEAD", "PURGE", "get", "head", "Get", "M-SEARCH", "OPTIONS", "TRACE"]
    )
    func theMethodIsTheOneOfTheRequest(_ kind: TransportUnderTest, _ method: String) async throws {
        let server = try RawServer { connection, request in
            if request.method.uppercased() == "HEAD" {
                return try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")
            }
            try connection.respond(body: Array("there".utf8))
        }
        var request = URLRequest(url: server.url())
        request.httpMethod = method
        let answer = try await kind.make().fetch(HTTPTransportRequest(request))
        #expect(server.log.now.requests.map(\.method) == [request.httpMethod ?? "GET"])
        #expect(answer.body == Data((method.uppercased() == "HEAD" ? "" : "there").utf8))
    }

    @Test(
        arguments: TransportUnderTest.allCases,
        ["a", "", "a,b", "a  b", "caf\u{E9}", "\u{1F600}", "a\tb", "\"a\\\"b\"", "%20", "a;b=c", "()<>@,;:\\\"/[]?={}"]
    )
    func theValueOfAHeaderIsTheOneOfTheRequest(_ kind: TransportUnderTest, _ value: String) async throws {
        let server = try RawServer { connection, _ in try connection.respond() }
        var request = URLRequest(url: server.url())
        for name in [
            "X-Value", "Accept", "User-Agent", "Authorization", "Cookie", "Accept-Encoding", "Accept-Language",
        ] {
            request.setValue(value, forHTTPHeaderField: name)
        }
        _ = try await kind.make().fetch(HTTPTransportRequest(request))
        let sent = server.log.now.requests[0]
        for name in [
            "X-Value", "Accept", "User-Agent", "Authorization", "Cookie", "Accept-Encoding", "Accept-Language",
        ] {
            #expect(sent.headers.filter { $0.0.lowercased() == name.lowercased() }.map(\.1) == [value], "\(name)")
        }
    }

    /// Text before the host, and the credential that it is, in Latin-1.
    @Test(
        arguments: TransportUnderTest.allCases,
        [
            ("user:word", "user:word"), ("user", "user:"), ("user:", "user:"),
            ("us%40er:pass%20word", "us@er:pass word"),
            (":word", ":word"), ("user:a%3Ab", "user:a:b"), ("caf%E9:word", "caf\u{E9}:word"),
            ("user:%FF", "user:\u{FF}"),
        ]
    )
    func theCredentialIsTheOneOfTheURL(_ kind: TransportUnderTest, _ example: (url: String, credential: String))
        async throws
    {
        let server = try RawServer { connection, request in
            let isAsked = request["Authorization"] == nil && URLSessionTransport.isHeldBack
            try connection.respond(isAsked ? 401 : 200, isAsked ? [("WWW-Authenticate", "Basic realm=\"x\"")] : [])
        }
        let url = try #require(URL(string: "http://\(example.url)@127.0.0.1:\(server.port)/"))
        _ = try await kind.make().fetch(url)
        let bytes = try #require(example.credential.data(using: .isoLatin1))
        #expect(server.log.now.requests.last?["Authorization"] == "Basic \(bytes.base64EncodedString())")
    }

    @Test(arguments: TransportUnderTest.allCases)
    func theHostIsTheOneOfTheURL(_ kind: TransportUnderTest) async throws {
        let server = try RawServer { connection, _ in try connection.respond() }
        for host in ["127.0.0.1", "localhost", "LOCALHOST"] {
            let url = try #require(URL(string: "http://\(host):\(server.port)/"))
            _ = try await kind.make().fetch(url)
            #expect(server.log.now.requests.last?["Host"]?.lowercased() == "\(host.lowercased()):\(server.port)")
        }
    }
}
