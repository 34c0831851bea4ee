public import Dispatch
public import Foundation

/// A client that sends the requests of endpoints and returns their contents.
///
/// ```swift
/// let books = try await client.request(BookListEndpoint())
/// let book = try await client.get("books/\(id)", as: Book.self)
/// ```
///
/// ``EndpointClient`` is the client that sends requests to a server. For a test of code that depends on this protocol,
/// you can write another conforming type, which needs two methods: `request(_:onProgress:)` and
/// `upload(_:onProgress:)`.
///
/// ## Cancellation
/// If the caller is cancelled, the call throws `CancellationError`, and its exchange (the request and its response) is
/// cancelled, unless other callers share the exchange (``ClientPolicies/coalescesGETRequests``). The functions with a
/// completion handler return a `Progress`: cancelling the progress cancels the call in the same way, and the completion
/// handler is called with `CancellationError`.
public protocol APIClient: Sendable {
    /// Sends a request, and returns the decoded content of the response.
    ///
    /// - Parameters:
    ///   - endpoint: Creates the request, and decodes the content of the response.
    ///   - onProgress: If the client reports progress, called from any thread when more bytes have been sent or
    ///     received; `nil` for no reports.
    /// - Returns: The content that the endpoint decodes.
    /// - Throws: ``EndpointError`` for a failure of the request, the transport or the response. An error that the endpoint,
    ///   a ``URLRequestAdapter``, an ``EndpointAuthenticator`` or a policy throws, such as `TimeoutError`, is passed on unchanged;
    ///   if it is an ``EndpointError``, the client adds the request and the response to it. `CancellationError` if the
    ///   caller is cancelled, even if the endpoint or one of the others throws another error.
    func request<E: Endpoint>(
        _ endpoint: E,
        onProgress: (@Sendable (TransferProgress) -> Void)?
    ) async throws -> E.Content

    /// Uploads a body, and returns the decoded content of the response.
    ///
    /// - Parameters:
    ///   - endpoint: Creates the request, and decodes the content of the response.
    ///   - onProgress: If the client reports progress, called from any thread when more bytes have been sent or
    ///     received; `nil` for no reports.
    /// - Returns: The content that the endpoint decodes.
    /// - Throws: The same errors as ``request(_:onProgress:)``.
    func upload<E: UploadEndpoint>(
        _ endpoint: E,
        onProgress: (@Sendable (TransferProgress) -> Void)?
    ) async throws -> E.Content

    /// The queue on which completion handlers are called. By default the main queue.
    var completionQueue: DispatchQueue { get }

    /// Sends a request, and passes the content of the response, or the error, to a completion handler.
    ///
    /// The default implementation calls `request(_:onProgress:)` in a new task.
    ///
    /// - Parameters:
    ///   - endpoint: Creates the request, and decodes the content of the response.
    ///   - completionHandler: Receives the content or the error. Called once, asynchronously, on ``completionQueue``.
    /// - Returns: A progress that counts the received bytes of the response, if the client reports progress. Cancelling
    ///   the progress cancels the request.
    @discardableResult
    func request<E: Endpoint>(
        _ endpoint: E,
        completionHandler: @escaping @Sendable (Result<E.Content, any Error>) -> Void
    ) -> Progress

    /// Uploads a body, and passes the content of the response, or the error, to a completion handler.
    ///
    /// The default implementation calls `upload(_:onProgress:)` in a new task.
    ///
    /// - Parameters:
    ///   - endpoint: Creates the request, and decodes the content of the response.
    ///   - completionHandler: Receives the content or the error. Called once, asynchronously, on ``completionQueue``.
    /// - Returns: A progress that counts the sent bytes, if the client reports progress. Cancelling the progress
    ///   cancels the upload.
    @discardableResult
    func upload<E: UploadEndpoint>(
        _ endpoint: E,
        completionHandler: @escaping @Sendable (Result<E.Content, any Error>) -> Void
    ) -> Progress
}

// Requests that need no endpoint type. The functions of `EndpointClient` with the same names accept bodies and contents whose conformances belong to the
// caller's actor, too.

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
            } read: { response, body in
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
    /// An ``EndpointClient`` decodes the content off the caller's actor, which can do other work while a large body is
    /// decoded. A content whose conformance to `Decodable` belongs to an actor needs the function of ``EndpointClient``
    /// with the same name.
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
        try await content("GET", url, queryItems, headers) { nil }
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
        try await content("POST", url, queryItems, headers) { try .json(encoding: body) }
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
        try await content("POST", url, queryItems, headers) { body }
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
        try await content("PUT", url, queryItems, headers) { try .json(encoding: body) }
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
        try await content("PUT", url, queryItems, headers) { body }
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
        try await content("PATCH", url, queryItems, headers) { try .json(encoding: body) }
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
        try await content("PATCH", url, queryItems, headers) { body }
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
        try await content("DELETE", url, queryItems, headers) { body }
    }

    /// Sends a request, and decodes the content of the response.
    private func content<Content: Decodable & Sendable>(
        _ method: String,
        _ url: RequestURL,
        _ queryItems: [URLQueryItem],
        _ headers: [String: String],
        body: @escaping @Sendable () throws -> EndpointBody?
    ) async throws -> Content {
        try await request(RequestEndpoint { URLRequest(method, url.url, queryItems, headers, try body()) })
    }
}

// The members of a client that every client has, and those that a client need not implement.

extension APIClient {
    /// Sends a request, and returns the decoded content of the response.
    ///
    /// Calls ``request(_:onProgress:)`` without a progress closure, and throws the same errors.
    public func request<E: Endpoint>(_ endpoint: E) async throws -> E.Content {
        try await request(endpoint, onProgress: nil)
    }

    /// Uploads a body, and returns the decoded content of the response.
    ///
    /// Calls ``upload(_:onProgress:)`` without a progress closure, and throws the same errors.
    public func upload<E: UploadEndpoint>(_ endpoint: E) async throws -> E.Content {
        try await upload(endpoint, onProgress: nil)
    }

    /// The main queue: the default queue on which completion handlers are called. A client can implement this property to
    /// use another queue.
    public var completionQueue: DispatchQueue { .main }

    /// Sends a request in a new task, and passes the content or the error to a completion handler.
    ///
    /// - Parameters:
    ///   - endpoint: Creates the request, and decodes the content of the response.
    ///   - completionHandler: Receives the content or the error. Called once, asynchronously, on ``completionQueue``.
    /// - Returns: A progress that counts the received bytes of the response, if the client reports progress. Cancelling
    ///   the progress cancels the request.
    @discardableResult
    public func request<E: Endpoint>(
        _ endpoint: E,
        completionHandler: @escaping @Sendable (Result<E.Content, any Error>) -> Void
    ) -> Progress {
        Progress.start(completionQueue: completionQueue) { progress in
            try await self.request(endpoint, onProgress: { progress.show($0.received, of: $0.expectedToReceive) })
        } completionHandler: {
            completionHandler($0)
        }
    }

    /// Uploads a body in a new task, and passes the content or the error to a completion handler.
    ///
    /// - Parameters:
    ///   - endpoint: Creates the request, and decodes the content of the response.
    ///   - completionHandler: Receives the content or the error. Called once, asynchronously, on ``completionQueue``.
    /// - Returns: A progress that counts the sent bytes, if the client reports progress. Cancelling the progress
    ///   cancels the upload.
    @discardableResult
    public func upload<E: UploadEndpoint>(
        _ endpoint: E,
        completionHandler: @escaping @Sendable (Result<E.Content, any Error>) -> Void
    ) -> Progress {
        Progress.start(completionQueue: completionQueue) { progress in
            try await self.upload(endpoint, onProgress: { progress.show($0.sent, of: $0.expectedToSend) })
        } completionHandler: {
            completionHandler($0)
        }
    }
}

extension Progress {
    /// Sets the unit counts to numbers of bytes, unless the progress is finished.
    ///
    /// - Parameters:
    ///   - done: The number of bytes that were sent or received.
    ///   - all: The total number of bytes; `nil` if it is not known.
    fileprivate func show(_ done: Int64, of all: Int64?) {
        guard !isFinished else { return }
        // An unknown total is −1, which is how a progress says that it does not know.
        let total = all ?? -1
        if totalUnitCount != total { totalUnitCount = total }
        completedUnitCount = done
    }
}
