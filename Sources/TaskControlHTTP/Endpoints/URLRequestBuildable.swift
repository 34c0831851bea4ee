/// Makes the usual requests: for endpoints, which inherit the methods.
///
/// ```swift
/// struct SearchEndpoint: Endpoint, URLRequestBuildable {
///     let text: String
///
///     func makeRequest() throws -> URLRequest {
///         get(URL(string: "books/search")!, queryItems: [URLQueryItem(name: "q", value: text)])
///     }
///     …
/// }
/// ```
public protocol URLRequestBuildable {}

extension URLRequestBuildable {
    /// - Parameter queryItems: Come after those that the URL has. A `+` in a value is sent as `%2B`: servers read a bare one as a space.
    public func get(_ url: URL, queryItems: [URLQueryItem]? = nil) -> URLRequest {
        request("GET", url.appending(queryItems ?? []), body: nil)
    }

    /// - Parameter body: `nil`: an empty one.
    public func post(_ url: URL, body: HTTPBody? = nil) -> URLRequest { request("POST", url, body: body) }

    /// - Parameter body: `nil`: an empty one.
    public func patch(_ url: URL, body: HTTPBody? = nil) -> URLRequest { request("PATCH", url, body: body) }

    /// - Parameter body: `nil`: an empty one, or what an upload sends.
    public func put(_ url: URL, body: HTTPBody? = nil) -> URLRequest { request("PUT", url, body: body) }

    /// - Parameter body: `nil`: none.
    public func delete(_ url: URL, body: HTTPBody? = nil) -> URLRequest { request("DELETE", url, body: body) }

    private func request(_ method: String, _ url: URL, body: HTTPBody?) -> URLRequest {
        var request = URLRequest(url: url)
        request.httpMethod = method
        if let body {
            request.httpBody = body.data
            request.setValue(body.contentType, forHTTPHeaderField: "Content-Type")
        }
        return request
    }
}
