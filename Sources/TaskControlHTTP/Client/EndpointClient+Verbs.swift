public import Foundation

// Requests that need no endpoint type, as those of `APIClient`. Of each verb there are two functions, and the content selects one of them:
// - If it is Sendable, its conformance to Decodable belongs to no actor, and it is decoded off the caller's actor.
// - Otherwise it is decoded in the caller's isolation, to whose actor the conformance may belong.
//
// They are not in an extension of the protocol, and the order of the generic parameters matters: if a conformance belongs to an actor, the compiler
// (Swift 6.3) refuses its use elsewhere only if no other conformance of the call is before it, such as that of `Self`. In a function without a
// requirement of Sendable, the content is first. In the other, only the body can have such a conformance, and is first.

extension EndpointClient {
    /// Sends a GET request, and decodes the content of the response.
    ///
    /// ```swift
    /// let books = try await client.get("books", as: [Book].self)
    /// ```
    ///
    /// The content is decoded off the caller's actor, which can do other work while a large body is decoded.
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
        try await call(decoding: type, "GET", url, queryItems, headers) { nil }
    }

    /// Sends a GET request, and decodes the content of the response in the caller's isolation.
    ///
    /// For a content whose conformance to `Decodable` belongs to the caller's actor, or that is not `Sendable`. The actor
    /// can do no other work while a large body is decoded: a `nonisolated` and `Sendable` type is decoded elsewhere.
    ///
    /// The parameters and errors are those of the function for other contents.
    public func get<Content: Decodable>(
        _ url: RequestURL,
        queryItems: [URLQueryItem] = [],
        headers: [String: String] = [:],
        as type: Content.Type
    ) async throws -> Content {
        try await call(isolatedDecoding: type, "GET", url, queryItems, headers) { nil }
    }

    /// Sends a POST request with an encoded body, and decodes the content of the response.
    ///
    /// ```swift
    /// let book = try await client.post("books", body: NewBook(title: "Emma"), as: Book.self)
    /// ```
    ///
    /// The content is decoded off the caller's actor, which can do other work while a large body is decoded.
    ///
    /// - Parameters:
    ///   - url: A path below the client's base URL, or an absolute URL; see ``RequestURL``. Interpolated values are
    ///     escaped.
    ///   - queryItems: Query items, appended to those of `url`.
    ///   - headers: Headers of the request.
    ///   - body: The value to send, which the client's encoder encodes as JSON, in the caller's isolation.
    ///   - type: The type of the content. `Data`, the default, returns the body, and `String` returns the body as text
    ///     in UTF-8. Any other type is decoded from JSON with the client's decoder.
    /// - Returns: The content of the response.
    /// - Throws: The same errors as ``request(_:onProgress:)``, and the error of the encoder, unchanged.
    @discardableResult
    public func post<Body: Encodable, Content: Decodable & Sendable>(
        _ url: RequestURL,
        queryItems: [URLQueryItem] = [],
        headers: [String: String] = [:],
        body: Body,
        as type: Content.Type = Data.self
    ) async throws -> Content {
        try await call(decoding: type, "POST", url, queryItems, headers) { try .json(encoding: body) }
    }

    /// Sends a POST request with an encoded body, and decodes the content of the response in the caller's isolation.
    ///
    /// For a content whose conformance to `Decodable` belongs to the caller's actor, or that is not `Sendable`. The actor
    /// can do no other work while a large body is decoded: a `nonisolated` and `Sendable` type is decoded elsewhere.
    ///
    /// The parameters and errors are those of the function for other contents.
    @discardableResult
    public func post<Content: Decodable, Body: Encodable>(
        _ url: RequestURL,
        queryItems: [URLQueryItem] = [],
        headers: [String: String] = [:],
        body: Body,
        as type: Content.Type
    ) async throws -> Content {
        try await call(isolatedDecoding: type, "POST", url, queryItems, headers) { try .json(encoding: body) }
    }

    /// Sends a POST request, and decodes the content of the response.
    ///
    /// The content is decoded off the caller's actor, which can do other work while a large body is decoded.
    ///
    /// - Parameters:
    ///   - url: A path below the client's base URL, or an absolute URL; see ``RequestURL``. Interpolated values are
    ///     escaped.
    ///   - queryItems: Query items, appended to those of `url`.
    ///   - headers: Headers of the request.
    ///   - body: The body and its media type; `nil` for no body.
    ///   - type: The type of the content. `Data`, the default, returns the body, and `String` returns the body as text
    ///     in UTF-8. Any other type is decoded from JSON with the client's decoder.
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
        try await call(decoding: type, "POST", url, queryItems, headers) { body }
    }

    /// Sends a POST request, and decodes the content of the response in the caller's isolation.
    ///
    /// For a content whose conformance to `Decodable` belongs to the caller's actor, or that is not `Sendable`. The actor
    /// can do no other work while a large body is decoded: a `nonisolated` and `Sendable` type is decoded elsewhere.
    ///
    /// The parameters and errors are those of the function for other contents.
    @discardableResult
    public func post<Content: Decodable>(
        _ url: RequestURL,
        queryItems: [URLQueryItem] = [],
        headers: [String: String] = [:],
        body: EndpointBody? = nil,
        as type: Content.Type
    ) async throws -> Content {
        try await call(isolatedDecoding: type, "POST", url, queryItems, headers) { body }
    }

    /// Sends a PUT request with an encoded body, and decodes the content of the response.
    ///
    /// The content is decoded off the caller's actor, which can do other work while a large body is decoded.
    ///
    /// - Parameters:
    ///   - url: A path below the client's base URL, or an absolute URL; see ``RequestURL``. Interpolated values are
    ///     escaped.
    ///   - queryItems: Query items, appended to those of `url`.
    ///   - headers: Headers of the request.
    ///   - body: The value to send, which the client's encoder encodes as JSON, in the caller's isolation.
    ///   - type: The type of the content. `Data`, the default, returns the body, and `String` returns the body as text
    ///     in UTF-8. Any other type is decoded from JSON with the client's decoder.
    /// - Returns: The content of the response.
    /// - Throws: The same errors as ``request(_:onProgress:)``, and the error of the encoder, unchanged.
    @discardableResult
    public func put<Body: Encodable, Content: Decodable & Sendable>(
        _ url: RequestURL,
        queryItems: [URLQueryItem] = [],
        headers: [String: String] = [:],
        body: Body,
        as type: Content.Type = Data.self
    ) async throws -> Content {
        try await call(decoding: type, "PUT", url, queryItems, headers) { try .json(encoding: body) }
    }

    /// Sends a PUT request with an encoded body, and decodes the content of the response in the caller's isolation.
    ///
    /// For a content whose conformance to `Decodable` belongs to the caller's actor, or that is not `Sendable`. The actor
    /// can do no other work while a large body is decoded: a `nonisolated` and `Sendable` type is decoded elsewhere.
    ///
    /// The parameters and errors are those of the function for other contents.
    @discardableResult
    public func put<Content: Decodable, Body: Encodable>(
        _ url: RequestURL,
        queryItems: [URLQueryItem] = [],
        headers: [String: String] = [:],
        body: Body,
        as type: Content.Type
    ) async throws -> Content {
        try await call(isolatedDecoding: type, "PUT", url, queryItems, headers) { try .json(encoding: body) }
    }

    /// Sends a PUT request, and decodes the content of the response.
    ///
    /// The content is decoded off the caller's actor, which can do other work while a large body is decoded.
    ///
    /// - Parameters:
    ///   - url: A path below the client's base URL, or an absolute URL; see ``RequestURL``. Interpolated values are
    ///     escaped.
    ///   - queryItems: Query items, appended to those of `url`.
    ///   - headers: Headers of the request.
    ///   - body: The body and its media type; `nil` for no body.
    ///   - type: The type of the content. `Data`, the default, returns the body, and `String` returns the body as text
    ///     in UTF-8. Any other type is decoded from JSON with the client's decoder.
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
        try await call(decoding: type, "PUT", url, queryItems, headers) { body }
    }

    /// Sends a PUT request, and decodes the content of the response in the caller's isolation.
    ///
    /// For a content whose conformance to `Decodable` belongs to the caller's actor, or that is not `Sendable`. The actor
    /// can do no other work while a large body is decoded: a `nonisolated` and `Sendable` type is decoded elsewhere.
    ///
    /// The parameters and errors are those of the function for other contents.
    @discardableResult
    public func put<Content: Decodable>(
        _ url: RequestURL,
        queryItems: [URLQueryItem] = [],
        headers: [String: String] = [:],
        body: EndpointBody? = nil,
        as type: Content.Type
    ) async throws -> Content {
        try await call(isolatedDecoding: type, "PUT", url, queryItems, headers) { body }
    }

    /// Sends a PATCH request with an encoded body, and decodes the content of the response.
    ///
    /// The content is decoded off the caller's actor, which can do other work while a large body is decoded.
    ///
    /// - Parameters:
    ///   - url: A path below the client's base URL, or an absolute URL; see ``RequestURL``. Interpolated values are
    ///     escaped.
    ///   - queryItems: Query items, appended to those of `url`.
    ///   - headers: Headers of the request.
    ///   - body: The value to send, which the client's encoder encodes as JSON, in the caller's isolation.
    ///   - type: The type of the content. `Data`, the default, returns the body, and `String` returns the body as text
    ///     in UTF-8. Any other type is decoded from JSON with the client's decoder.
    /// - Returns: The content of the response.
    /// - Throws: The same errors as ``request(_:onProgress:)``, and the error of the encoder, unchanged.
    @discardableResult
    public func patch<Body: Encodable, Content: Decodable & Sendable>(
        _ url: RequestURL,
        queryItems: [URLQueryItem] = [],
        headers: [String: String] = [:],
        body: Body,
        as type: Content.Type = Data.self
    ) async throws -> Content {
        try await call(decoding: type, "PATCH", url, queryItems, headers) { try .json(encoding: body) }
    }

    /// Sends a PATCH request with an encoded body, and decodes the content of the response in the caller's isolation.
    ///
    /// For a content whose conformance to `Decodable` belongs to the caller's actor, or that is not `Sendable`. The actor
    /// can do no other work while a large body is decoded: a `nonisolated` and `Sendable` type is decoded elsewhere.
    ///
    /// The parameters and errors are those of the function for other contents.
    @discardableResult
    public func patch<Content: Decodable, Body: Encodable>(
        _ url: RequestURL,
        queryItems: [URLQueryItem] = [],
        headers: [String: String] = [:],
        body: Body,
        as type: Content.Type
    ) async throws -> Content {
        try await call(isolatedDecoding: type, "PATCH", url, queryItems, headers) { try .json(encoding: body) }
    }

    /// Sends a PATCH request, and decodes the content of the response.
    ///
    /// The content is decoded off the caller's actor, which can do other work while a large body is decoded.
    ///
    /// - Parameters:
    ///   - url: A path below the client's base URL, or an absolute URL; see ``RequestURL``. Interpolated values are
    ///     escaped.
    ///   - queryItems: Query items, appended to those of `url`.
    ///   - headers: Headers of the request.
    ///   - body: The body and its media type; `nil` for no body.
    ///   - type: The type of the content. `Data`, the default, returns the body, and `String` returns the body as text
    ///     in UTF-8. Any other type is decoded from JSON with the client's decoder.
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
        try await call(decoding: type, "PATCH", url, queryItems, headers) { body }
    }

    /// Sends a PATCH request, and decodes the content of the response in the caller's isolation.
    ///
    /// For a content whose conformance to `Decodable` belongs to the caller's actor, or that is not `Sendable`. The actor
    /// can do no other work while a large body is decoded: a `nonisolated` and `Sendable` type is decoded elsewhere.
    ///
    /// The parameters and errors are those of the function for other contents.
    @discardableResult
    public func patch<Content: Decodable>(
        _ url: RequestURL,
        queryItems: [URLQueryItem] = [],
        headers: [String: String] = [:],
        body: EndpointBody? = nil,
        as type: Content.Type
    ) async throws -> Content {
        try await call(isolatedDecoding: type, "PATCH", url, queryItems, headers) { body }
    }

    /// Sends a DELETE request, and decodes the content of the response.
    ///
    /// The content is decoded off the caller's actor, which can do other work while a large body is decoded.
    ///
    /// - Parameters:
    ///   - url: A path below the client's base URL, or an absolute URL; see ``RequestURL``. Interpolated values are
    ///     escaped.
    ///   - queryItems: Query items, appended to those of `url`.
    ///   - headers: Headers of the request.
    ///   - body: The body and its media type; `nil` for no body.
    ///   - type: The type of the content. `Data`, the default, returns the body, and `String` returns the body as text
    ///     in UTF-8. Any other type is decoded from JSON with the client's decoder.
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
        try await call(decoding: type, "DELETE", url, queryItems, headers) { body }
    }

    /// Sends a DELETE request, and decodes the content of the response in the caller's isolation.
    ///
    /// For a content whose conformance to `Decodable` belongs to the caller's actor, or that is not `Sendable`. The actor
    /// can do no other work while a large body is decoded: a `nonisolated` and `Sendable` type is decoded elsewhere.
    ///
    /// The parameters and errors are those of the function for other contents.
    @discardableResult
    public func delete<Content: Decodable>(
        _ url: RequestURL,
        queryItems: [URLQueryItem] = [],
        headers: [String: String] = [:],
        body: EndpointBody? = nil,
        as type: Content.Type
    ) async throws -> Content {
        try await call(isolatedDecoding: type, "DELETE", url, queryItems, headers) { body }
    }

    // MARK: What the verbs share

    /// Sends a request, and decodes the content of the response off the caller's actor.
    private func call<Content: Decodable & Sendable>(
        decoding type: Content.Type,
        _ method: String,
        _ url: RequestURL,
        _ queryItems: [URLQueryItem],
        _ headers: [String: String],
        body: @escaping () throws -> EndpointBody?
    ) async throws -> Content {
        let decoder = coding.decoder
        return try await call(
            type.isDecoded
                ? .concurrent { try decoder.content(type, of: $1) } : .isolated { try decoder.content(type, of: $1) },
            method,
            url,
            queryItems,
            headers,
            body
        )
    }

    /// Sends a request, and decodes the content of the response in the caller's isolation.
    private func call<Content: Decodable>(
        isolatedDecoding type: Content.Type,
        _ method: String,
        _ url: RequestURL,
        _ queryItems: [URLQueryItem],
        _ headers: [String: String],
        body: @escaping () throws -> EndpointBody?
    ) async throws -> Content {
        let decoder = coding.decoder
        return try await call(.isolated { try decoder.content(type, of: $1) }, method, url, queryItems, headers, body)
    }

    private func call<Content>(
        _ decoding: Decoding<Content>,
        _ method: String,
        _ url: RequestURL,
        _ queryItems: [URLQueryItem],
        _ headers: [String: String],
        _ body: @escaping () throws -> EndpointBody?
    ) async throws -> Content {
        try await Call(self, policies, coding).content(
            { (URLRequest(method, url.url, queryItems, headers, try body()), nil) },
            { try EndpointError.validateStatus(of: $1, to: $0, data: $2) },
            decoding
        )
    }
}
