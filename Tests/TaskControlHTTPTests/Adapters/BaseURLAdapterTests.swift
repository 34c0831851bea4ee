import TaskControlHTTP
import Testing

@Suite(.timeLimit(.minutes(15)))
struct BaseURLAdapterTests {
    @Test(arguments: [
        ("https://h/api/v1", "books", "https://h/api/v1/books"),
        ("https://h/api/v1/", "books", "https://h/api/v1/books"),
        ("https://h/api/v1", "/books", "https://h/api/v1/books"),
        ("https://h/api/v1/", "/books/", "https://h/api/v1/books/"),
        ("https://h", "books", "https://h/books"),
        ("https://h/", "/", "https://h"),
        ("https://h/api", "", "https://h/api"),
        ("https://h:8443/api", "books", "https://h:8443/api/books"),
        ("http://[::1]:80/api", "books", "http://[::1]:80/api/books"),
        ("https://user:pass@h/api", "books", "https://user:pass@h/api/books"),
        ("https://h/api?key=1", "books", "https://h/api/books?key=1"),
        ("https://h/api?key=1", "books?page=2&q=a%2Bb", "https://h/api/books?key=1&page=2&q=a%2Bb"),
        ("https://h/api", "?page=2", "https://h/api?page=2"),
        ("https://h/api", "a%2Fb/c%20d", "https://h/api/a%2Fb/c%20d"),
        ("https://h/%C3%A9", "caf%C3%A9", "https://h/%C3%A9/caf%C3%A9"),
        ("https://h/api", "books#top", "https://h/api/books#top"),
        ("https://h/api", "./books/../authors", "https://h/api/authors"),
        ("https://h/api", "books/..", "https://h/api/"),
        ("https://h/api", "...", "https://h/api/..."),
        ("https://h/api", "a..b%2f...%2fc;d", "https://h/api/a..b%2f...%2fc;d"),
        ("https://h/api//v1/", "logs//2026", "https://h/api//v1/logs//2026"),
        ("https://h/api", "proxy/https://x", "https://h/api/proxy/https://x"),
        ("https://h/api", "https://h/api/books?page=2", "https://h/api/books?page=2"),
        ("https://user:pass@h/api", "https://h/api/books?page=2", "https://user:pass@h/api/books?page=2"),
        ("https://user:pass@h/api", "https://other@h/api/books", "https://other@h/api/books"),
        // Custom methods, as Google's APIs have them.
        ("https://h/api", "documents:batchGet", "https://h/api/documents:batchGet"),
        ("https://h", "documents:batchGet?q=a:b", "https://h/documents:batchGet?q=a:b"),
        ("https://h/api?key=1", "documents:batchGet/../x:y/", "https://h/api/x:y/?key=1"),
        ("https://h/api", "/documents:batchGet", "https://h/api/documents:batchGet"),
        ("https://h/api", "./documents:batchGet", "https://h/api/documents:batchGet"),
        ("https://h/api", "mailto:somebody", "https://h/api/mailto:somebody"),
        ("https://h/api", "HTTPS://H:443/api/books", "HTTPS://H:443/api/books"),
    ])
    func aBaseIsPutBefore(_ base: String, _ endpoint: String, _ joined: String) throws {
        let request = try adapt(endpoint, base: base)
        #expect(request.url?.absoluteString == joined)
    }

    @Test(arguments: [
        "../admin", "books/../../admin", "%2e%2e/admin", ".%2E/admin", "https://elsewhere/api/books",
        "//elsewhere/api/books", "http://h/api/books",
        "https://h:444/api/books", "https://h/apiary", "https://h/api/../admin", "https://h/",
        "https://h@elsewhere/api", "file:///etc/passwd",
        "https:/api/books", "..%2f..%2fadmin", "%2E%2e%2Fadmin", "books%2f..%2f..%2fadmin", "books/..%2F", "..%5cadmin",
        "..;/admin",
        "..;a=b/admin", "..%3b/admin", "https://h/api/..%2fadmin",
        "https://h//api/books", "https://h/api/books//../../admin", "https://h/api/books/%2F/../../admin",
        "https://h/api/books/%5C/../../admin",
    ])
    func theBaseIsNotLeft(_ endpoint: String) throws {
        let error = #expect(throws: EndpointError.self) { try adapt(endpoint, base: "https://h/api") }
        #expect(error?.reason == .request)
        #expect(error?.description.contains("leads out of the client's base URL") == true)
    }

    @Test(arguments: ["books/42:cancel", "42:cancel", "a_b:cancel", "documents:batchGet", "b cher:suchen"])
    func aTextWithAColonIsAPath(_ path: String) throws {
        let url = try #require(RequestURL(path).url)
        for allowsOtherServers in [false, true] {
            let adapter = BaseURLAdapter(
                baseURL: URL(string: "https://h/api")!,
                allowsOtherServers: allowsOtherServers
            )
            #expect(try adapter.adapt(URLRequest(url: url)).url?.path == "/api/" + path)
        }
    }

    @Test(arguments: [
        ("https://elsewhere/api", "allowsOtherServers: true"), ("https:/api", "Write https:// and a host"),
        ("https:api", "Write https:// and a host"), ("//elsewhere/api", "Write https:// and a host"),
        ("file:///etc/passwd", "Write https:// and a host"), ("../x", "give the client a base URL above"),
        ("a:b/../../x", "give the client a base URL above"), ("x:..%2f..%2fadmin", "give the client a base URL above"),
    ])
    func theMessageSaysWhatHelps(_ endpoint: String, _ advice: String) {
        let error = #expect(throws: EndpointError.self) { try adapt(endpoint, base: "https://h/api") }
        #expect(error?.description.contains("leads out of the client's base URL") == true)
        #expect(error?.description.contains(advice) == true)
    }

    @Test func whoAsksForOtherServersGetsThem() throws {
        let adapter = BaseURLAdapter(baseURL: URL(string: "https://h/api")!, allowsOtherServers: true)
        let url = URL(string: "https://elsewhere/books")!
        #expect(try adapter.adapt(URLRequest(url: url)).url == url)
        #expect(throws: EndpointError.self) { try adapter.adapt(URLRequest(url: URL(string: "../admin")!)) }
    }

    @Test(arguments: ["books", "/api", "h/api", "mailto:somebody"])
    func aBaseWithoutAHostSaysSo(_ base: String) throws {
        let error = #expect(throws: EndpointError.self) { try adapt("books", base: base) }
        #expect(error?.description.contains("has no scheme and host") == true)
    }

    @Test func aRequestWithoutURLSaysSo() throws {
        var request = URLRequest(url: URL(string: "books")!)
        request.url = nil
        let adapter = BaseURLAdapter(baseURL: URL(string: "https://h/api")!)
        let error = #expect(throws: EndpointError.self) { try adapter.adapt(request) }
        #expect(error?.description.contains("has no URL") == true)
    }

    @Test func whatElseTheRequestSaysStays() throws {
        var request = URLRequest(url: URL(string: "books")!)
        request.httpMethod = "POST"
        request.httpBody = Data([1])
        request.setValue("b", forHTTPHeaderField: "A")
        request.timeoutInterval = 5
        let adapted = try BaseURLAdapter(baseURL: URL(string: "https://h/api")!).adapt(request)
        #expect(adapted.httpMethod == "POST")
        #expect(adapted.httpBody == Data([1]))
        #expect(adapted.value(forHTTPHeaderField: "A") == "b")
        #expect(adapted.timeoutInterval == 5)
    }

    private func adapt(_ endpoint: String, base: String) throws -> URLRequest {
        var request = URLRequest(url: URL(string: "placeholder")!)
        request.url = endpoint.isEmpty ? URL(string: "?") : URL(string: endpoint)
        return try BaseURLAdapter(baseURL: try #require(URL(string: base))).adapt(request)
    }
}
