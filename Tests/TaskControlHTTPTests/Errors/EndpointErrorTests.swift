import Testing

@testable import TaskControlHTTP

@Suite(.timeLimit(.minutes(15)))
struct EndpointErrorTests {
    @Test func anErrorSaysWhatWasAskedOfWhomAndWhatCameBack() throws {
        let error = try status(503, url: "https://books.example/v1/search?q=swift", body: #"{"error": "try later"}"#)
        #expect(error.description == #"GET https://books.example/v1/search?q=…: 503: {"error": "try later"}"#)
        #expect((error.method, error.url, error.statusCode) == ("GET", "https://books.example/v1/search?q=…", 503))
        #expect(error.localizedDescription == error.description)
    }

    @Test(arguments: [
        ("https://user:hush@h/a?token=hush&page=2#hush", "https://h/a?token=…&page=…"),
        ("https://h/a?hush", "https://h/a?…"),
        ("https://h:8080/a%20b/", "https://h:8080/a%20b/"),
        ("https://h?x=", "https://h?x=…"),
    ])
    func aURLIsShownWithoutItsSecrets(_ url: String, _ shown: String) throws {
        #expect(try status(500, url: url).url == shown)
    }

    @Test(arguments: [
        #"{"access_token": "hush", "user": "ann"}"#: #"{"access_token": …, "user": "ann"}"#,
        #"{"user": "ann", "refreshToken":"hu\"sh"}"#: #"{"user": "ann", "refreshToken":…}"#,
        #"{"password": 12345, "user": "ann"}"#: #"{"password": …, "user": "ann"}"#,
        #"{"user": "ann", "tokens": ["hush", "hush"]}"#: #"{"user": "ann", "tokens": …"#,
        #"{"Client-Secret": "hush"#: #"{"Client-Secret": …"#,
        #"{"message":"{\"token\":\"hush\"}"}"#: #"{"message":"{\"token\":\"…\"}"}"#,
        "access_token=hush&state=1": "access_token=…&state=1",
        "you sent Bearer abcdefgh12345678": "you sent …",
        "your token abcdefgh12345678 is bad": "your token … is bad",
        "a\r\nb": "a b",
    ])
    func aBodyIsShownWithoutItsSecrets(_ body: String, _ shown: String) throws {
        #expect(try status(500, body: body, headers: ["Authorization": "Bearer abcdefgh12345678"]).bodyPrefix == shown)
    }

    @Test func onlyTheFirstBytesOfABodyAreKept() throws {
        let long = String(repeating: "é", count: 1_000)
        #expect(
            try status(500, body: "x" + long).bodyPrefix == "x" + String(repeating: "é", count: 255) + " (2001 bytes)"
        )
        #expect(try status(500, body: long).bodyPrefix == String(repeating: "é", count: 256) + " (2000 bytes)")
        #expect(try status(500).bodyPrefix == nil)
        let binary = EndpointError(.status).completed(request: nil, response: nil, data: Data([0, 1, 255]))
        #expect(binary.bodyPrefix == "3 bytes that are not text")
    }

    @Test func whatTheLayerBelowKnowsIsNotShown() {
        let secret = URL(string: "https://h/a?token=hush")!
        let below = URLError(.timedOut, userInfo: [NSURLErrorFailingURLErrorKey: secret])
        let error = EndpointError(.transport, underlyingError: below).completed(
            request: URLRequest(url: secret),
            response: nil,
            data: nil
        )
        var dumped = ""
        dump(error, to: &dumped)
        for text in ["\(error)", String(reflecting: error), error.localizedDescription, dumped] {
            #expect(!text.contains("hush"))
            #expect(text.contains("GET https://h/a?token=…: the exchange failed: URLError"))
        }
        #expect((error.underlyingError as? URLError)?.code == .timedOut)
    }

    @Test func aDecodingErrorSaysWhere() throws {
        struct Shelf: Decodable {
            struct Book: Decodable { let title: String }
            let books: [Book]
        }
        let error = #expect(throws: EndpointError.self) {
            try EndpointError.decode(
                Shelf.self,
                from: Data(#"{"books": [{"title": "a"}, {"name": "hush"}]}"#.utf8),
                with: JSONDecoder()
            )
        }
        #expect(error?.description == #"the body has unexpected content: the key "title" is missing at books.[1]"#)
        #expect(error?.underlyingError is DecodingError)
    }

    @Test func statusesThatAreAcceptedDoNotThrow() throws {
        let response = HTTPURLResponse(
            url: URL(string: "https://h")!,
            statusCode: 404,
            httpVersion: nil,
            headerFields: nil
        )!
        try EndpointError.validateStatus(of: response, to: nil, data: nil, accepted: [200, 404])
        #expect(throws: EndpointError.self) { try EndpointError.validateStatus(of: response, to: nil, data: nil) }
    }

    private func status(
        _ status: Int,
        url: String = "https://h",
        body: String = "",
        headers: [String: String] = [:]
    ) throws -> EndpointError {
        var request = URLRequest(url: try #require(URL(string: url)))
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        let response = HTTPURLResponse(url: request.url!, statusCode: status, httpVersion: nil, headerFields: nil)!
        return try #require(throws: EndpointError.self) {
            try EndpointError.validateStatus(of: response, to: request, data: Data(body.utf8))
        }
    }
}
