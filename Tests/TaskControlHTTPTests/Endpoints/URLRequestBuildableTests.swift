import TaskControlHTTP
import Testing

@Suite(.timeLimit(.minutes(15)))
struct URLRequestBuildableTests: URLRequestBuildable {
    private let url = URL(string: "books")!

    @Test func eachMethodMakesItsRequest() {
        let body = EndpointBody.text("x")
        let requests = [
            get(url), post(url, body: body), patch(url, body: body), put(url, body: body), delete(url), post(url),
            delete(url, body: body),
        ]
        #expect(requests.map(\.httpMethod) == ["GET", "POST", "PATCH", "PUT", "DELETE", "POST", "DELETE"])
        #expect(requests.map(\.httpBody) == [nil, body.data, body.data, body.data, nil, nil, body.data])
        #expect(
            requests.map { $0.value(forHTTPHeaderField: "Content-Type") } == [
                nil, body.contentType, body.contentType, body.contentType, nil, nil, body.contentType,
            ]
        )
    }

    @Test(arguments: [
        ("books", [URLQueryItem(name: "q", value: "1+1=2 & more")], "books?q=1%2B1%3D2%20%26%20more"),
        ("books?page=2", [URLQueryItem(name: "q", value: "é")], "books?page=2&q=%C3%A9"),
        ("books?", [URLQueryItem(name: "q", value: nil)], "books?q"),
        ("books?a+b=c%2Bd", [URLQueryItem(name: "a", value: "")], "books?a+b=c%2Bd&a="),
        ("https://h/books#top", [URLQueryItem(name: "a", value: "b")], "https://h/books?a=b#top"),
        ("books", [], "books"),
    ])
    func queryItemsComeBehindWhatIsThere(_ url: String, _ items: [URLQueryItem], _ expected: String) {
        #expect(get(URL(string: url)!, queryItems: items).url?.absoluteString == expected)
    }

    @Test func headersWhoseNamesDifferInCaseAreJoined() {
        let request = get(
            URL(string: "books")!,
            headers: ["X-A": "1", "x-a": "2", "ACCEPT": "a", "X-a": "3", "accept": "b"]
        )
        #expect(request.value(forHTTPHeaderField: "x-a") == "1, 3, 2")
        #expect(request.value(forHTTPHeaderField: "Accept") == "a, b")
    }
}
