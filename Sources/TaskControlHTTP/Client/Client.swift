/// The outcome of a call, for completion handlers.
public typealias APIResult<Value> = Result<Value, any Error>

/// Sends the requests of endpoints and returns their contents.
///
/// ```swift
/// let books = try await client.request(BookListEndpoint())
/// let book = try await client.get("books/\(id)", as: Book.self)
/// ```
///
/// ``EndpointClient`` is the one to use. Code that depends on the protocol can be tested with a client of the test's
/// own, which needs two methods: `request(_:onProgress:)` and `upload(_:onProgress:)`.
///
/// ## Cancellation
/// A cancelled caller receives `CancellationError`, and the exchange ends; the server sees the connection end.
/// Cancelling the `Progress` of a callback form does the same, and its completion handler is called with
/// `CancellationError`.
public protocol Client: Sendable {
    /// Sends a request and returns its content.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint.
    ///   - onProgress: Called when more has been sent or received, if the client knows that. `nil`: the caller does not
    ///     need it, which is the default of the form without this parameter.
    func request<E: Endpoint>(
        _ endpoint: E,
        onProgress: (@Sendable (TransferProgress) -> Void)?
    ) async throws -> E.Content

    /// Uploads a body and returns the content of the response.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint.
    ///   - onProgress: Called when more has been sent or received, if the client knows that. `nil`: the caller does not
    ///     need it, which is the default of the form without this parameter.
    func upload<E: UploadEndpoint>(
        _ endpoint: E,
        onProgress: (@Sendable (TransferProgress) -> Void)?
    ) async throws -> E.Content

    /// The queue of completion handlers. By default the main queue.
    var completionQueue: DispatchQueue { get }

    /// Sends a request; gives its content to a completion handler. By default with `request(_:onProgress:)`, in a task
    /// of its own.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint.
    ///   - completionHandler: Called once, on ``completionQueue``, and never synchronously.
    /// - Returns: The progress in bytes of the response that have arrived, if the client knows that; cancelling it cancels the
    ///   request.
    @discardableResult
    func request<E: Endpoint>(
        _ endpoint: E,
        completionHandler: @escaping @Sendable (APIResult<E.Content>) -> Void
    ) -> Progress

    /// Uploads something; gives the content of the response to a completion handler. By default with
    /// `upload(_:onProgress:)`, in a task of its own.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint.
    ///   - completionHandler: Called once, on ``completionQueue``, and never synchronously.
    /// - Returns: The progress in bytes that have been sent, if the client knows that; cancelling it cancels the upload.
    @discardableResult
    func upload<E: UploadEndpoint>(
        _ endpoint: E,
        completionHandler: @escaping @Sendable (APIResult<E.Content>) -> Void
    ) -> Progress
}
