/// A type with functions that create GET, POST, PUT, PATCH and DELETE requests for a `URL`.
///
/// An endpoint has these functions for the text of a URL, such as `get("books")`, without this protocol.
public protocol URLRequestBuildable {}

extension URLRequestBuildable {
    /// Creates a GET request. The query items are appended to those of the URL.
    public func get(_ url: URL, queryItems: [URLQueryItem]? = nil) -> URLRequest {
        URLRequest("GET", url, queryItems ?? [], [:], nil)
    }

    /// Creates a POST request. If `body` is `nil`, the request has no body.
    public func post(_ url: URL, body: EndpointBody?) -> URLRequest { URLRequest("POST", url, [], [:], body) }

    /// Creates a PATCH request.
    public func patch(_ url: URL, body: EndpointBody) -> URLRequest { URLRequest("PATCH", url, [], [:], body) }

    /// Creates a PUT request.
    public func put(_ url: URL, body: EndpointBody) -> URLRequest { URLRequest("PUT", url, [], [:], body) }

    /// Creates a DELETE request.
    public func delete(_ url: URL) -> URLRequest { URLRequest("DELETE", url, [], [:], nil) }
}
