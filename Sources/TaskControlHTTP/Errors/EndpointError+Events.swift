// Events show the method and the URL of a request, and its outcome. They never show a header or a part of a body.

extension EndpointError: EventDescribable {
    package var eventText: String { line(nil, cause: underlyingError.map(Redaction.eventText(of:))) }
}

extension Redaction {
    /// Returns the text of a request in an event, such as `GET https://books.example/v1/search?q=…`.
    static func text(of request: URLRequest) -> String {
        let url = request.url.map { text(of: $0) } ?? ""
        return (request.shownMethod ?? "GET") + " " + url
    }
}

extension URLRequest {
    /// The method of the request, for events; `nil` if it is not a valid method, since it may then contain a secret.
    var shownMethod: String? { httpMethod.flatMap { HeaderField.isToken($0) ? $0 : nil } }
}
