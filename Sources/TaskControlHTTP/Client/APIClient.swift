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
