import Foundation
import TaskControlHTTP
import Testing

/// URLs that name no server of HTTP, and URLs with credentials, over both transports.
@Suite(.timeLimit(.minutes(15)))
struct URLTests {
    /// Authorities whose port is not in 1...65535. At an IP address with a larger one, SwiftNIO traps.
    private static let authorities = [
        "127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:99999", "[::1]:99999", "localhost:99999", "u:1@localhost:99999",
        "127.0.0.1:99999999999999999999",
    ]

    @Test(arguments: TransportUnderTest.allCases, authorities)
    func aPortThatDoesNotExistIsABadURL(_ kind: TransportUnderTest, _ authority: String) async throws {
        let url = try #require(URL(string: "http://\(authority)/x"))
        let error = await thrown { try await kind.make().fetch(url) }
        #expect((error as? URLError)?.code == .badURL)
    }

    @Test(arguments: TransportUnderTest.allCases, authorities)
    func aRedirectToAPortThatDoesNotExistIsAnError(_ kind: TransportUnderTest, _ authority: String) async throws {
        let server = try RawServer { connection, _ in
            try connection.respond(302, [("Location", "http://\(authority)/x")])
        }
        let error = await thrown { try await kind.make().fetch(server.url()) }
        #expect((error as? URLError)?.code == .redirectToNonExistentLocation)
    }

    @Test(
        arguments: TransportUnderTest.allCases,
        [
            ("ftp://127.0.0.1:1/", URLError.Code.unsupportedURL), ("foo://127.0.0.1:1/", .unsupportedURL),
            ("file:///etc/hosts", .unsupportedURL), ("data:,x", .unsupportedURL), ("path", .unsupportedURL),
            ("http:///path", .badURL),
        ]
    )
    func aURLThatIsNotOfTheWebIsAnError(_ kind: TransportUnderTest, _ example: (String, URLError.Code)) async throws {
        let url = try #require(URL(string: example.0))
        let error = await thrown { try await kind.make().fetch(url) }
        #expect((error as? URLError)?.code == example.1)
    }

    @Test(arguments: TransportUnderTest.allCases)
    func aUserAndAPasswordInTheURLAreSentAsBasic(_ kind: TransportUnderTest) async throws {
        // Apple's session waits to be asked.
        let server = try RawServer { connection, request in
            let isAsked = request["Authorization"] == nil
            try connection.respond(isAsked ? 401 : 200, isAsked ? [("WWW-Authenticate", "Basic realm=\"x\"")] : [])
        }
        let url = try #require(URL(string: "http://us%40er:pass%20word@127.0.0.1:\(server.port)/"))
        #expect(try await kind.make().fetch(url).head.statusCode == 200)
        let credential = Data("us@er:pass word".utf8).base64EncodedString()
        #expect(server.log.now.requests.last?["Authorization"] == "Basic \(credential)")
    }

    @Test(arguments: TransportUnderTest.allCases)
    func aHeaderOfTheRequestTakesThePlaceOfTheURLsCredentials(_ kind: TransportUnderTest) async throws {
        let server = try RawServer { connection, _ in try connection.respond() }
        var request = URLRequest(url: try #require(URL(string: "http://user:word@127.0.0.1:\(server.port)/")))
        request.setValue("Bearer token", forHTTPHeaderField: "Authorization")
        _ = try await kind.make().fetch(HTTPTransportRequest(request))
        #expect(server.log.now.requests.map { $0["Authorization"] } == ["Bearer token"])
    }
}
