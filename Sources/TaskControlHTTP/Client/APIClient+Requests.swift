// Requests that need no endpoint type.

extension APIClient {
    /// Sends a `URLRequest`, and returns the body and the head of the response.
    ///
    /// ```swift
    /// let (data, response) = try await client.data(for: URLRequest(url: link))
    /// ```
    ///
    /// The client's ``URLRequestAdapter`` and ``ClientPolicies`` apply. With a ``BaseURLAdapter``, a relative URL is
    /// joined to the base URL, and a URL that is not below the base URL fails the call, unless
    /// ``BaseURLAdapter/allowsOtherServers`` is `true`.
    ///
    /// - Parameters:
    ///   - request: The request, with its body if it has one.
    ///   - acceptedStatuses: The statuses of the responses that the call returns, by default 200 to 299. Any other
    ///     status fails the call. Two policies fail calls with accepted statuses too: see ``AcceptedStatuses``.
    /// - Returns: The whole body, and the head of the response.
    /// - Throws: The same errors as ``request(_:onProgress:)``: for a status that is not accepted, an ``EndpointError``
    ///   with the reason ``EndpointError/Reason/status``.
    public func data(
        for request: URLRequest,
        accepting acceptedStatuses: AcceptedStatuses = .successful
    ) async throws -> (Data, HTTPURLResponse) {
        try await self.request(
            RequestEndpoint(accepting: acceptedStatuses) {
                request
            } read: { _, response, body in
                guard let response = response as? HTTPURLResponse else {
                    throw EndpointError(.content, detail: "the response is not an HTTP response")
                }
                return (body, response)
            }
        )
    }

    /// Sends a GET request, and decodes the content of the response.
    ///
    /// ```swift
    /// let books = try await client.get("books", as: [Book].self)
    /// ```
    ///
    /// - Parameters:
    ///   - url: A path below the client's base URL, or an absolute URL; see ``RequestURL``. Interpolated values are
    ///     escaped.
    ///   - queryItems: Query items, appended to those of `url`.
    ///   - headers: Headers of the request.
    ///   - type: The type of the content. `Data`, the default, returns the body, and `String` returns the body as text
    ///     in UTF-8. Any other type is decoded from JSON with the client's decoder.
    /// - Returns: The content of the response.
    /// - Throws: The same errors as ``request(_:onProgress:)``.
    public func get<Content: Decodable & Sendable>(
        _ url: RequestURL,
        queryItems: [URLQueryItem] = [],
        headers: [String: String] = [:],
        as type: Content.Type = Data.self
    ) async throws -> Content {
        try await request(RequestEndpoint { URLRequest("GET", url.url, queryItems, headers, nil) })
    }

    /// Sends a POST request with an encoded body, and decodes the content of the response.
    ///
    /// ```swift
    /// let book = try await client.post("books", body: NewBook(title: "Emma"), as: Book.self)
    /// ```
    ///
    /// - Parameters:
    ///   - url: A path below the client's base URL, or an absolute URL; see ``RequestURL``. Interpolated values are
    ///     escaped.
    ///   - queryItems: Query items, appended to those of `url`.
    ///   - headers: Headers of the request.
    ///   - body: The value to send, which the client's encoder encodes as JSON.
    ///   - type: The type of the content, as in ``get(_:queryItems:headers:as:)``.
    /// - Returns: The content of the response.
    /// - Throws: The same errors as ``request(_:onProgress:)``, and the error of the encoder, unchanged.
    @discardableResult
    public func post<Content: Decodable & Sendable>(
        _ url: RequestURL,
        queryItems: [URLQueryItem] = [],
        headers: [String: String] = [:],
        body: some Encodable & Sendable,
        as type: Content.Type = Data.self
    ) async throws -> Content {
        try await request(
            RequestEndpoint { URLRequest("POST", url.url, queryItems, headers, try .json(encoding: body)) }
        )
    }

    /// Sends a POST request, and decodes the content of the response.
    ///
    /// - Parameters:
    ///   - url: A path below the client's base URL, or an absolute URL; see ``RequestURL``. Interpolated values are
    ///     escaped.
    ///   - queryItems: Query items, appended to those of `url`.
    ///   - headers: Headers of the request.
    ///   - body: The body and its media type; `nil` for no body.
    ///   - type: The type of the content, as in ``get(_:queryItems:headers:as:)``.
    /// - Returns: The content of the response.
    /// - Throws: The same errors as ``request(_:onProgress:)``.
    @discardableResult
    public func post<Content: Decodable & Sendable>(
        _ url: RequestURL,
        queryItems: [URLQueryItem] = [],
        headers: [String: String] = [:],
        body: EndpointBody? = nil,
        as type: Content.Type = Data.self
    ) async throws -> Content {
        try await request(RequestEndpoint { URLRequest("POST", url.url, queryItems, headers, body) })
    }

    /// Sends a PUT request with an encoded body, and decodes the content of the response.
    ///
    /// - Parameters:
    ///   - url: A path below the client's base URL, or an absolute URL; see ``RequestURL``. Interpolated values are
    ///     escaped.
    ///   - queryItems: Query items, appended to those of `url`.
    ///   - headers: Headers of the request.
    ///   - body: The value to send, which the client's encoder encodes as JSON.
    ///   - type: The type of the content, as in ``get(_:queryItems:headers:as:)``.
    /// - Returns: The content of the response.
    /// - Throws: The same errors as ``request(_:onProgress:)``, and the error of the encoder, unchanged.
    @discardableResult
    public func put<Content: Decodable & Sendable>(
        _ url: RequestURL,
        queryItems: [URLQueryItem] = [],
        headers: [String: String] = [:],
        body: some Encodable & Sendable,
        as type: Content.Type = Data.self
    ) async throws -> Content {
        try await request(
            RequestEndpoint { URLRequest("PUT", url.url, queryItems, headers, try .json(encoding: body)) }
        )
    }

    /// Sends a PUT request, and decodes the content of the response.
    ///
    /// - Parameters:
    ///   - url: A path below the client's base URL, or an absolute URL; see ``RequestURL``. Interpolated values are
    ///     escaped.
    ///   - queryItems: Query items, appended to those of `url`.
    ///   - headers: Headers of the request.
    ///   - body: The body and its media type; `nil` for no body.
    ///   - type: The type of the content, as in ``get(_:queryItems:headers:as:)``.
    /// - Returns: The content of the response.
    /// - Throws: The same errors as ``request(_:onProgress:)``.
    @discardableResult
    public func put<Content: Decodable & Sendable>(
        _ url: RequestURL,
        queryItems: [URLQueryItem] = [],
        headers: [String: String] = [:],
        body: EndpointBody? = nil,
        as type: Content.Type = Data.self
    ) async throws -> Content {
        try await request(RequestEndpoint { URLRequest("PUT", url.url, queryItems, headers, body) })
    }

    /// Sends a PATCH request with an encoded body, and decodes the content of the response.
    ///
    /// - Parameters:
    ///   - url: A path below the client's base URL, or an absolute URL; see ``RequestURL``. Interpolated values are
    ///     escaped.
    ///   - queryItems: Query items, appended to those of `url`.
    ///   - headers: Headers of the request.
    ///   - body: The value to send, which the client's encoder encodes as JSON.
    ///   - type: The type of the content, as in ``get(_:queryItems:headers:as:)``.
    /// - Returns: The content of the response.
    /// - Throws: The same errors as ``request(_:onProgress:)``, and the error of the encoder, unchanged.
    @discardableResult
    public func patch<Content: Decodable & Sendable>(
        _ url: RequestURL,
        queryItems: [URLQueryItem] = [],
        headers: [String: String] = [:],
        body: some Encodable & Sendable,
        as type: Content.Type = Data.self
    ) async throws -> Content {
        try await request(
            RequestEndpoint { URLRequest("PATCH", url.url, queryItems, headers, try .json(encoding: body)) }
        )
    }

    /// Sends a PATCH request, and decodes the content of the response.
    ///
    /// - Parameters:
    ///   - url: A path below the client's base URL, or an absolute URL; see ``RequestURL``. Interpolated values are
    ///     escaped.
    ///   - queryItems: Query items, appended to those of `url`.
    ///   - headers: Headers of the request.
    ///   - body: The body and its media type; `nil` for no body.
    ///   - type: The type of the content, as in ``get(_:queryItems:headers:as:)``.
    /// - Returns: The content of the response.
    /// - Throws: The same errors as ``request(_:onProgress:)``.
    @discardableResult
    public func patch<Content: Decodable & Sendable>(
        _ url: RequestURL,
        queryItems: [URLQueryItem] = [],
        headers: [String: String] = [:],
        body: EndpointBody? = nil,
        as type: Content.Type = Data.self
    ) async throws -> Content {
        try await request(RequestEndpoint { URLRequest("PATCH", url.url, queryItems, headers, body) })
    }

    /// Sends a DELETE request, and decodes the content of the response.
    ///
    /// - Parameters:
    ///   - url: A path below the client's base URL, or an absolute URL; see ``RequestURL``. Interpolated values are
    ///     escaped.
    ///   - queryItems: Query items, appended to those of `url`.
    ///   - headers: Headers of the request.
    ///   - body: The body and its media type; `nil` for no body.
    ///   - type: The type of the content, as in ``get(_:queryItems:headers:as:)``.
    /// - Returns: The content of the response.
    /// - Throws: The same errors as ``request(_:onProgress:)``.
    @discardableResult
    public func delete<Content: Decodable & Sendable>(
        _ url: RequestURL,
        queryItems: [URLQueryItem] = [],
        headers: [String: String] = [:],
        body: EndpointBody? = nil,
        as type: Content.Type = Data.self
    ) async throws -> Content {
        try await request(RequestEndpoint { URLRequest("DELETE", url.url, queryItems, headers, body) })
    }
}
