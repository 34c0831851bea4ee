import TaskControlHTTP
import TaskControlTesting
import Testing

@Suite(.timeLimit(.minutes(15)))
struct RequestURLTests: URLRequestBuildable {
    private func text(_ url: RequestURL) -> String? { url.url?.absoluteString }

    @Test func aLiteralIsUsedAsItIs() {
        #expect(text("books") == "books")
        #expect(text("books/search?q=a+b%2Bc&x=1#top") == "books/search?q=a+b%2Bc&x=1#top")
        #expect(text("https://user@h:8080/books") == "https://user@h:8080/books")
        #expect(text("http://[::1]:80/") == "http://[::1]:80/")
    }

    @Test func charactersThatNoURLContainsAreEscaped() {
        #expect(text("büch er/100%/%41?a[0]=\"1\"") == "b%C3%BCch%20er/100%25/%41?a%5B0%5D=%221%22")
        #expect(RequestURL("a\n\u{1}\u{7F}").description == "a%0A%01%7F")
        #expect(RequestURL("%4").description == "%254")
    }

    /// `URL(string:)` would escape the values again, as soon as one character of the text is not allowed.
    @Test func aValueIsEscapedOnceWhateverIsBesideIt() {
        let value = "a b&"
        #expect(text("books?ids[]=\(value)&ids[]=\(value)") == "books?ids%5B%5D=a%20b%26&ids%5B%5D=a%20b%26")
        #expect(text("books[1]/\(value)") == "books%5B1%5D/a%20b%26")
        #expect(text("books#\(value)#\(value)") == "books#a%20b%26%23a%20b%26")
        #expect(text("100%\("41")") == "100%2541")
        #expect(text("http://[::1]:\(80)/[\(value)]") == "http://[::1]:80/%5Ba%20b%26%5D")
        #expect(RequestURL("/a%20b[1]").url?.absoluteString == "/a%20b%5B1%5D")
    }

    @Test func aFirstSegmentMayHaveAColon() {
        #expect(text("\(42):cancel") == "./42:cancel")
        #expect(text("\("documents"):batchGet") == "documents:batchGet")
    }

    @Test(arguments: [
        ("7", "books/7/cover"), ("a/b", "books/a%2Fb/cover"), ("a?b#c", "books/a%3Fb%23c/cover"),
        ("é +&", "books/%C3%A9%20%2B%26/cover"), ("%2F", "books/%252F/cover"), ("a:b", "books/a%3Ab/cover"),
        ("..a", "books/..a/cover"),
    ])
    func aValueIsAPartOfOneSegment(_ value: String, _ expected: String) {
        #expect(text("books/\(value)/cover") == expected)
    }

    @Test func aValueOfAnyTypeIsItsDescription() {
        #expect(text("books/\(7)/\(Int8(-1))?page=\(true)") == "books/7/-1?page=true")
    }

    @Test func aValueInAQueryIsAPartOfOneItem() {
        let value = "..&x=1#"
        #expect(text("books?q=\(value)") == "books?q=..%26x%3D1%23")
        #expect(text("books?q=\("..")&r=\("")") == "books?q=..&r=")
    }

    @Test(arguments: [".", "..", ""])
    func aValueThatChangesThePathHasNoURL(_ value: String) async throws {
        #expect(text("books/\(value)") == nil)
        #expect(text("books/\(value)/cover") == nil)
        #expect(text("\(value)/cover") == nil)
        #expect(text("\(value)\(value)/cover") == nil)
        let transport = ScriptedTransport(.ok(""))
        let client = EndpointClient(transport)
        let error = await #expect(throws: EndpointError.self) { try await client.delete("books/\(value)") }
        #expect(error?.reason == .request)
        #expect(transport.sent.count == 0)
    }

    @Test func buildersTakeTextHeadersAndQueryItems() {
        let headers = ["Accept": "text/plain"]
        let (items, body) = ([URLQueryItem(name: "q", value: "1+1")], EndpointBody.text("x"))
        let requests = [
            get("books", queryItems: items, headers: headers),
            post("books", queryItems: items, headers: headers, body: body),
            patch("books", queryItems: items, headers: headers, body: body),
            put("books", queryItems: items, headers: headers, body: body),
            delete("books", queryItems: items, headers: headers, body: body),
        ]
        #expect(requests.map(\.httpMethod) == ["GET", "POST", "PATCH", "PUT", "DELETE"])
        #expect(requests.allSatisfy { $0.url?.absoluteString == "books?q=1%2B1" })
        #expect(requests.allSatisfy { $0.value(forHTTPHeaderField: "Accept") == "text/plain" })
        #expect(requests.dropFirst().allSatisfy { $0.httpBody == body.data })
        #expect(requests.dropFirst().allSatisfy { $0.value(forHTTPHeaderField: "Content-Type") == body.contentType })
    }

    @Test func aHeaderReplacesTheTypeOfTheBody() {
        let request = post("books", headers: ["content-type": "application/problem+json"], body: .json(Data()))
        #expect(request.allHTTPHeaderFields?.count == 1)
        #expect(request.value(forHTTPHeaderField: "Content-Type") == "application/problem+json")
    }

    @Test func theBaseURLIsTextToo() async throws {
        let transport = ScriptedTransport(.ok("[]"))
        let client = EndpointClient(
            requestAdapter: BaseURLAdapter(baseURL: "https://books.example/v1"),
            transport: transport
        )
        #expect(try await client.get("books", as: [Int].self) == [])
        #expect(transport.sent.events.map(\.url) == ["https://books.example/v1/books"])
        for text in ["", "books.example", "http://h:port/"] {
            let client = EndpointClient(
                requestAdapter: BaseURLAdapter(baseURL: RequestURL(text)),
                transport: transport
            )
            let error = await #expect(throws: EndpointError.self) { try await client.data(for: get("books")) }
            #expect(error?.reason == .request)
        }
    }
}
