// What events tell of requests: where to, and what came of it. Never a header, nor anything of a body.

extension HTTPError: EventDescribable {
    package var eventText: String { line(nil, cause: underlyingError.map(Diagnostics.text(of:))) }
}

extension FailedAttempt: EventDescribable {
    var eventText: String { Diagnostics.text(of: error) }
}

extension Redaction {
    /// A request in an event, as in `GET https://books.example/v1/search?q=…`.
    static func text(of request: URLRequest) -> String {
        let url = request.url.map { text(of: $0) } ?? ""
        return (request.shownMethod ?? "GET") + " " + url
    }
}

extension URLRequest {
    /// The method; `nil` if it is none: what else is in there may be anything.
    var shownMethod: String? { httpMethod.flatMap { HeaderField.isToken($0) ? $0 : nil } }
}
