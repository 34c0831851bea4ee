import TaskControlApexy
import Testing

/// Spellings of Apexy that the document about it does not use.
@Suite(.timeLimit(.minutes(15)))
struct ApexyNamesTests: URLRequestBuildable {
    private let url = URL(string: "books")!

    @Test func aRequestOfEachMethodIsMadeFromAURL() {
        let body = HTTPBody.string("é")
        let requests = [
            get(url), get(url, queryItems: nil), post(url, body: nil), post(url, body: body), patch(url, body: body),
            put(url, body: body), delete(url),
        ]
        #expect(requests.map(\.httpMethod) == ["GET", "GET", "POST", "POST", "PATCH", "PUT", "DELETE"])
        #expect(requests.map { $0.httpBody != nil } == [false, false, false, true, true, true, false])
        #expect(requests[3].value(forHTTPHeaderField: "Content-Type") == "text/plain; charset=utf-8")
        let query = get(url, queryItems: [URLQueryItem(name: "q", value: "1+1")])
        #expect(query.url?.absoluteString == "books?q=1%2B1")
    }

    @Test func anEndpointMakesItsRequestFromAURLOrFromText() throws {
        struct Books: Endpoint, URLRequestBuildable {
            typealias Content = [String]
            let url: URL?

            func makeRequest() throws -> URLRequest { if let url { get(url) } else { get("books") } }
        }
        #expect(try Books(url: url).makeRequest().url == url)
        #expect(try Books(url: nil).makeRequest().url == url)
    }

    @Test func theClientIsThatOfTheOtherNames() async throws {
        let transport = MockTransport { _ in (200, Data("text".utf8)) }
        let adapter: any RequestAdapter = BaseRequestAdapter(baseURL: URL(string: "https://h/api")!)
        let client: any Client = URLSessionClient(requestAdapter: adapter, transport: transport)
        #expect(try await client.request(Text()) == "text")
        let concurrency: any ConcurrencyClient = client
        let result: APIResult<String> = await Result { try await concurrency.request(Text()) }
        #expect(try result.get() == "text")
    }
}

extension Result where Failure == any Error {
    /// The outcome of an operation.
    fileprivate init(_ operation: () async throws -> Success) async {
        do { self = .success(try await operation()) } catch { self = .failure(error) }
    }
}
