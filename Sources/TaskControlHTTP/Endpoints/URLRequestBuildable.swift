/// A type with methods that create GET, POST, PUT, PATCH and DELETE requests. Every endpoint inherits these methods.
///
/// ```swift
/// struct CoverEndpoint: Endpoint {
///     typealias Content = Data
///     let book: Book.ID
///
///     func makeRequest() throws -> URLRequest {
///         get("books/\(book)/cover", headers: ["Accept": "image/png"])
///     }
/// }
/// ```
///
/// Query items are appended to those of the URL; a `+` in a value is sent as `%2B`, since servers read a `+` as a
/// space. If a header is invalid, or the text of a ``RequestURL`` is not a URL, the call of the client fails with
/// ``EndpointError/Reason/request``, and nothing is sent.
public protocol URLRequestBuildable {}

extension URLRequestBuildable {
    /// Creates a GET request.
    public func get(
        _ url: RequestURL,
        queryItems: [URLQueryItem] = [],
        headers: [String: String] = [:]
    ) -> URLRequest {
        URLRequest("GET", url.url, queryItems, headers, nil)
    }

    /// Creates a POST request. If `body` is `nil`, the request has no body.
    public func post(
        _ url: RequestURL,
        queryItems: [URLQueryItem] = [],
        headers: [String: String] = [:],
        body: EndpointBody? = nil
    ) -> URLRequest {
        URLRequest("POST", url.url, queryItems, headers, body)
    }

    /// Creates a PATCH request. If `body` is `nil`, the request has no body.
    public func patch(
        _ url: RequestURL,
        queryItems: [URLQueryItem] = [],
        headers: [String: String] = [:],
        body: EndpointBody? = nil
    ) -> URLRequest {
        URLRequest("PATCH", url.url, queryItems, headers, body)
    }

    /// Creates a PUT request. If `body` is `nil`, the request has no body. An ``UploadEndpoint`` passes `nil`, since it
    /// returns its body separately.
    public func put(
        _ url: RequestURL,
        queryItems: [URLQueryItem] = [],
        headers: [String: String] = [:],
        body: EndpointBody? = nil
    ) -> URLRequest {
        URLRequest("PUT", url.url, queryItems, headers, body)
    }

    /// Creates a DELETE request. If `body` is `nil`, the request has no body.
    public func delete(
        _ url: RequestURL,
        queryItems: [URLQueryItem] = [],
        headers: [String: String] = [:],
        body: EndpointBody? = nil
    ) -> URLRequest {
        URLRequest("DELETE", url.url, queryItems, headers, body)
    }

    /// Creates a GET request.
    public func get(_ url: URL, queryItems: [URLQueryItem] = [], headers: [String: String] = [:]) -> URLRequest {
        URLRequest("GET", url, queryItems, headers, nil)
    }

    /// Creates a POST request. If `body` is `nil`, the request has no body.
    public func post(
        _ url: URL,
        queryItems: [URLQueryItem] = [],
        headers: [String: String] = [:],
        body: EndpointBody? = nil
    ) -> URLRequest {
        URLRequest("POST", url, queryItems, headers, body)
    }

    /// Creates a PATCH request. If `body` is `nil`, the request has no body.
    public func patch(
        _ url: URL,
        queryItems: [URLQueryItem] = [],
        headers: [String: String] = [:],
        body: EndpointBody? = nil
    ) -> URLRequest {
        URLRequest("PATCH", url, queryItems, headers, body)
    }

    /// Creates a PUT request. If `body` is `nil`, the request has no body. An ``UploadEndpoint`` passes `nil`, since it
    /// returns its body separately.
    public func put(
        _ url: URL,
        queryItems: [URLQueryItem] = [],
        headers: [String: String] = [:],
        body: EndpointBody? = nil
    ) -> URLRequest {
        URLRequest("PUT", url, queryItems, headers, body)
    }

    /// Creates a DELETE request. If `body` is `nil`, the request has no body.
    public func delete(
        _ url: URL,
        queryItems: [URLQueryItem] = [],
        headers: [String: String] = [:],
        body: EndpointBody? = nil
    ) -> URLRequest {
        URLRequest("DELETE", url, queryItems, headers, body)
    }
}

extension URLRequest {
    /// Creates a request with a method, a URL, query items, headers and a body.
    ///
    /// - Parameters:
    ///   - url: The URL; `nil` if the endpoint has given a text that is not a URL: the client then fails the call.
    ///   - body: The body; `nil` for none.
    init(
        _ method: String,
        _ url: URL?,
        _ queryItems: [URLQueryItem],
        _ headers: [String: String],
        _ body: EndpointBody?
    ) {
        let placeholder = URL(fileURLWithPath: "/")
        self.init(url: url?.appending(queryItems) ?? placeholder)
        if url == nil { self.url = nil }
        httpMethod = method
        httpBody = body?.data
        var headers = headers
        if let body, !headers.keys.contains(where: { $0.lowercased() == "content-type" }) {
            headers["Content-Type"] = body.contentType
        }
        // Not `setValue`, which drops an invalid value without an error: the client must find the invalid value.
        if !headers.isEmpty { allHTTPHeaderFields = HeaderField.joined(headers) }
    }
}
