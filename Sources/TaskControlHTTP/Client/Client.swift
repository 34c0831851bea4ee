/// What came of a call, for completion handlers.
public typealias APIResult<Value> = Result<Value, any Error>

/// Sends endpoints' requests and gets their contents.
///
/// ```swift
/// let books = try await client.request(BookListEndpoint())
/// ```
///
/// ``EndpointClient`` is the one to use. The protocol is there so that what calls servers can be tested without one: conform a type of your
/// own, with the two `async` methods that take an endpoint alone; the others come with it.
///
/// ## Cancellation
/// A caller that is cancelled gets `CancellationError`, and the exchange ends; the server sees the connection end. Cancelling the
/// `Progress` of a callback form does the same, and its completion handler is called with `CancellationError`.
public protocol Client: AnyObject, Sendable {
    /// Sends a request and gets its content.
    func request<E: Endpoint>(_ endpoint: E) async throws -> E.Content

    /// Uploads something and gets the content of the response.
    func upload<E: UploadEndpoint>(_ endpoint: E) async throws -> E.Content

    /// Sends a request and gets its content, and tells how far it has come, if the client knows that.
    func request<E: Endpoint>(_ endpoint: E, onProgress: @escaping @Sendable (TransferProgress) -> Void) async throws
        -> E.Content

    /// Uploads something and gets the content of the response, and tells how far it has come, if the client knows that.
    func upload<E: UploadEndpoint>(_ endpoint: E, onProgress: @escaping @Sendable (TransferProgress) -> Void)
        async throws -> E.Content

    /// Where completion handlers are called. By default the main queue.
    var completionQueue: DispatchQueue { get }

    /// Sends a request; gives its content to a completion handler.
    ///
    /// - Parameters:
    ///   - endpoint: What to ask for.
    ///   - completionHandler: Called once, on ``completionQueue``, and never synchronously.
    /// - Returns: How many bytes of the response have arrived, if the client knows that; cancelling it cancels the request.
    @discardableResult
    func request<E: Endpoint>(
        _ endpoint: E,
        completionHandler: @escaping @Sendable (APIResult<E.Content>) -> Void
    ) -> Progress

    /// Uploads something; gives the content of the response to a completion handler.
    ///
    /// - Parameters:
    ///   - endpoint: What to upload.
    ///   - completionHandler: Called once, on ``completionQueue``, and never synchronously.
    /// - Returns: How many bytes have been sent, if the client knows that; cancelling it cancels the upload.
    @discardableResult
    func upload<E: UploadEndpoint>(
        _ endpoint: E,
        completionHandler: @escaping @Sendable (APIResult<E.Content>) -> Void
    ) -> Progress
}
