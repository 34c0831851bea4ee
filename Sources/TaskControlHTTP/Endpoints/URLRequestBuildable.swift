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
    /// A GET request. The items come after those that the URL has; a `+` in a value is sent as `%2B`, since servers read a bare
    /// one as a space.
    public func get(_ url: URL, queryItems: [URLQueryItem]? = nil) -> URLRequest {
        request("GET", url.appending(queryItems ?? []), body: nil)
    }

    /// A POST request. Without a body it has an empty one.
    public func post(_ url: URL, body: HTTPBody? = nil) -> URLRequest { request("POST", url, body: body) }

    /// A PATCH request. Without a body it has an empty one.
    public func patch(_ url: URL, body: HTTPBody? = nil) -> URLRequest { request("PATCH", url, body: body) }

    /// A PUT request. Without a body it has an empty one, or what an upload sends.
    public func put(_ url: URL, body: HTTPBody? = nil) -> URLRequest { request("PUT", url, body: body) }

    /// A DELETE request, which may have a body.
    public func delete(_ url: URL, body: HTTPBody? = nil) -> URLRequest { request("DELETE", url, body: body) }

    private func request(_ method: String, _ url: URL, body: HTTPBody?) -> URLRequest {
        var request = URLRequest(url: url)
        request.httpMethod = method
        if let body {
            request.httpBody = body.data
            // Not `setValue`, which drops an invalid value without an error: so the client finds it.
            request.allHTTPHeaderFields = ["Content-Type": body.contentType]
        }
        return request
    }
}
