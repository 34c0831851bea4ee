import Foundation
import Testing

@testable import TaskControlHTTP

/// Which request follows which redirect: the table of RFC 9110, 15.4, and whose secrets go along.
@Suite(.timeLimit(.minutes(15)))
struct RedirectPolicyTests {
    private let secrets = ["Authorization": "a", "cookie": "b", "Proxy-Authorization": "c", "X-Mine": "d"]

    private func follow(
        _ status: Int,
        _ location: String?,
        from url: String = "http://a.example/x/y?q",
        method: String = "GET",
        body: UploadEndpointBody? = nil,
        allowsInsecure: Bool = false
    ) throws -> HTTPTransportRequest? {
        var request = URLRequest(url: URL(string: url)!)
        request.httpMethod = method
        request.allHTTPHeaderFields = secrets
        request.setValue("text/plain", forHTTPHeaderField: "Content-Type")
        let fields = location.map { ["Location": $0] } ?? [:]
        let head = HTTPURLResponse(url: request.url!, statusCode: status, httpVersion: nil, headerFields: fields)!
        var policy = RedirectPolicy()
        return try policy.request(
            after: head,
            to: HTTPTransportRequest(request, body: body, allowsInsecureRedirects: allowsInsecure)
        )
    }

    @Test(arguments: [
        (301, "GET", "GET"), (301, "HEAD", "HEAD"), (301, "POST", "GET"), (301, "PUT", "PUT"),
        (301, "DELETE", "DELETE"),
        (302, "GET", "GET"), (302, "HEAD", "HEAD"), (302, "POST", "GET"), (302, "PATCH", "PATCH"),
        (303, "GET", "GET"), (303, "HEAD", "HEAD"), (303, "POST", "GET"), (303, "PUT", "GET"), (303, "DELETE", "GET"),
        (307, "GET", "GET"), (307, "POST", "POST"), (307, "PUT", "PUT"), (308, "HEAD", "HEAD"), (308, "POST", "POST"),
    ])
    func methodsStayOrBecomeGet(_ status: Int, _ method: String, _ expected: String) throws {
        let next = try #require(try follow(status, "/z", method: method, body: .data(Data("x".utf8))))
        #expect(next.request.httpMethod == expected)
        let keepsBody = expected == method
        #expect((next.body != nil) == keepsBody)
        #expect((next.request.value(forHTTPHeaderField: "Content-Type") != nil) == keepsBody)
    }

    @Test func aRequestThatLosesItsBodyLosesAllHeadersThatDescribeIt() throws {
        let url = try #require(URL(string: "http://a.example/"))
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.allHTTPHeaderFields = [
            "Content-Length": "1", "content-digest": "d", "Content-MD5": "m", "Content-Disposition": "inline",
            "CONTENT-RANGE": "bytes 0-0/1", "Transfer-Encoding": "chunked", "Accept": "text/plain",
        ]
        let location = ["Location": "/z"]
        let head = try #require(HTTPURLResponse(url: url, statusCode: 302, httpVersion: nil, headerFields: location))
        var policy = RedirectPolicy()
        let next = try policy.request(after: head, to: HTTPTransportRequest(request, body: .data(Data("x".utf8))))
        #expect(next?.request.allHTTPHeaderFields == ["Accept": "text/plain"])
    }

    @Test(arguments: [200, 204, 300, 304, 305, 306, 309, 400, 401, 500])
    func otherStatusesAreAnswers(_ status: Int) throws {
        #expect(try follow(status, "/z") == nil)
    }

    @Test func withoutALocationItIsAnAnswer() throws {
        #expect(try follow(302, nil) == nil)
        #expect(try follow(302, "") == nil)
    }

    @Test(arguments: [
        ("/z", "http://a.example/z"), ("z", "http://a.example/x/z"), ("?r", "http://a.example/x/y?r"),
        ("//b.example/z", "http://b.example/z"), ("https://b.example", "https://b.example"),
        ("../z?a=b%20c", "http://a.example/z?a=b%20c"), ("http://b.example:65535/", "http://b.example:65535/"),
        ("http://b.example:/z", "http://b.example:/z"), ("http://u:1@[::1]/z", "http://u:1@[::1]/z"),
    ])
    func aLocationMayBeRelative(_ location: String, _ expected: String) throws {
        #expect(try follow(307, location)?.request.url?.absoluteString == expected)
    }

    @Test(arguments: ["ftp://a.example/", "file:///etc/passwd", "javascript:1", "mailto:a@b", "http://", "https:"])
    func aLocationThatIsNotOfTheWebIsAnError(_ location: String) {
        #expect(throws: URLError.self) { try follow(302, location) }
    }

    @Test(arguments: [
        ("http://a.example/z", true), ("http://A.EXAMPLE/z", true), ("http://a.example:80/z", true),
        ("https://a.example/z", false), ("http://a.example:81/z", false), ("http://b.example/z", false),
        ("http://a.example.evil/z", false), ("//b.example/z", false), ("/z", true),
    ])
    func secretsStayWithTheirOrigin(_ location: String, _ isSame: Bool) throws {
        let next = try #require(try follow(307, location)).request
        for name in ["Authorization", "Cookie", "Proxy-Authorization"] {
            #expect((next.value(forHTTPHeaderField: name) != nil) == isSame)
        }
        #expect((next.value(forHTTPHeaderField: "X-Mine") != nil) == isSame)
        #expect(next.value(forHTTPHeaderField: "Content-Type") == "text/plain")
        #expect(next.allHTTPHeaderFields?.count == (isSame ? 5 : 1))
    }

    /// Names of real APIs.
    @Test(arguments: [
        "X-API-Key", "X-Auth-Token", "X-Auth-Key", "X-Auth-Email", "Ocp-Apim-Subscription-Key", "X-Functions-Key",
        "DD-APPLICATION-KEY",
        "X-Access-Key", "X-Auth", "X-CSRF", "X-HMAC", "X-Amz-Security-Token", "X-Goog-Iam-Authority-Selector",
        "X-Shopify-Access-Token",
        "PRIVATE-TOKEN", "X-Vault-Token", "api-key", "Fastly-Key", "X-User", "Referer", "Origin",
        "Host", "X-Else",
    ])
    func aHeaderThatMayBeACredentialStaysWithItsOrigin(_ name: String) throws {
        let next = try across([name: "a", "Accept": "b"])
        #expect(next.allHTTPHeaderFields == ["Accept": "b"])
    }

    @Test func harmlessHeadersGoAlongUnlessTheyAreSaidToBeCredentials() throws {
        let headers = [
            "Accept": "a", "accept-language": "b", "User-Agent": "c", "Range": "d", "If-None-Match": "e",
            "Content-Type": "f", "Idempotency-Key": "g", "traceparent": "h",
        ]
        let names = { (request: URLRequest) in Set((request.allHTTPHeaderFields ?? [:]).keys.map { $0.lowercased() }) }
        #expect(try names(across(headers)) == Set(headers.keys.map { $0.lowercased() }))
        #expect(
            try names(across(headers, credentials: ["RANGE"]))
                == Set(headers.keys.map { $0.lowercased() }).subtracting(["range"])
        )
    }

    private func across(_ headers: [String: String], credentials: Set<String> = []) throws -> URLRequest {
        let url = try #require(URL(string: "http://a.example/"))
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.allHTTPHeaderFields = headers
        let location = ["Location": "http://b.example/"]
        let head = try #require(HTTPURLResponse(url: url, statusCode: 307, httpVersion: nil, headerFields: location))
        var policy = RedirectPolicy()
        let next = try policy.request(after: head, to: HTTPTransportRequest(request, credentialHeaders: credentials))
        return try #require(next?.request)
    }

    @Test(arguments: [
        ("https://a.example/x", "http://a.example/z"), ("https://a.example/x", "HTTP://b.example/z"),
        ("HTTPS://a.example/x", "http://a.example:443/z"), ("https+unix://%2Ftmp%2Fsocket/x", "http://a.example/z"),
    ])
    func fromHTTPSToHTTPIsAnErrorUnlessItIsAllowed(_ url: String, _ location: String) throws {
        let error = #expect(throws: URLError.self) { try follow(307, location, from: url) }
        #expect(error?.code == .appTransportSecurityRequiresSecureConnection)
        #expect(error?.localizedDescription.contains("allowsInsecureRedirects") == true)
        let next = try #require(try follow(307, location, from: url, allowsInsecure: true)).request
        #expect(next.url?.scheme == "http")
        #expect(next.value(forHTTPHeaderField: "Authorization") == nil)
    }

    @Test(arguments: [
        ("http://us:p%40w@a.example/dir", "http://a.example/dir/", "http://us:p%40w@a.example/dir/"),
        ("http://us@a.example/dir", "HTTP://A.example:80/dir/", "http://us@A.example:80/dir/"),
        ("http://us:@a.example/dir", "//a.example/x%20y", "http://us:@a.example/x%20y"),
        ("http://us:pw@a.example/dir", "dir/", "http://us:pw@a.example/dir/"),
        // Another user of the server's choice.
        ("http://us:pw@a.example/dir", "http://other@a.example/", "http://other@a.example/"),
        // Another origin.
        ("http://us:pw@a.example/dir", "http://b.example/", "http://b.example/"),
        ("http://us:pw@a.example/dir", "//b.example/", "http://b.example/"),
        ("http://us:pw@a.example/dir", "http://a.example:81/", "http://a.example:81/"),
        ("http://us:pw@a.example/dir", "https://a.example/", "https://a.example/"),
    ])
    func theCredentialsOfTheURLStayWithTheirOrigin(_ url: String, _ location: String, _ expected: String) throws {
        #expect(try follow(301, location, from: url)?.request.url?.absoluteString == expected)
    }

    @Test func theCredentialsOfTheURLDoNotComeBack() throws {
        var policy = RedirectPolicy()
        var request = HTTPTransportRequest(URLRequest(url: URL(string: "http://us:pw@a.example/")!))
        for location in ["http://b.example/", "http://a.example/"] {
            let fields = ["Location": location]
            let url = try #require(request.request.url)
            let head = try #require(HTTPURLResponse(url: url, statusCode: 302, httpVersion: nil, headerFields: fields))
            request = try #require(try policy.request(after: head, to: request))
            #expect(request.request.url?.absoluteString == location)
        }
    }

    @Test(arguments: [
        ("/My%20Report (final)|v2.pdf", "http://a.example/My%20Report%20(final)%7Cv2.pdf"),
        ("/a%20b[1]#x y#", "http://a.example/a%20b%5B1%5D#x%20y%23"),
        ("HTTP://b.example/%2F z", "http://b.example/%2F%20z"),
        ("42:cancel?%20 x", "http://a.example/x/42:cancel?%20%20x"),
        // Sent twice.
        ("/to, /to", "http://a.example/to"), ("a,b, a,b", "http://a.example/x/a,b"),
        ("http://b.example/a%20b, http://b.example/a%20b", "http://b.example/a%20b"),
        // Once, with commas.
        ("/a,/a", "http://a.example/a,/a"), ("/Report, final.pdf", "http://a.example/Report,%20final.pdf"),
    ])
    func aLocationIsNotRewritten(_ location: String, _ expected: String) throws {
        #expect(try follow(307, location)?.request.url?.absoluteString == expected)
    }

    @Test(arguments: ["/to, /other", "/to, http://b.example/", "http://a.example/, http://b.example/", "/a, /a, /b"])
    func severalDifferentLocationsAreAnError(_ location: String) throws {
        let error = #expect(throws: URLError.self) { try follow(302, location) }
        #expect(error?.code == .redirectToNonExistentLocation)
    }

    @Test func theSeventeenthIsOneTooMany() throws {
        var policy = RedirectPolicy()
        let url = URL(string: "http://a.example/")!
        let head = HTTPURLResponse(url: url, statusCode: 302, httpVersion: nil, headerFields: ["Location": "/"])!
        let request = HTTPTransportRequest(URLRequest(url: url))
        for _ in 0..<16 { #expect(try policy.request(after: head, to: request) != nil) }
        #expect(throws: URLError(.httpTooManyRedirects)) { try policy.request(after: head, to: request) }
    }
}
