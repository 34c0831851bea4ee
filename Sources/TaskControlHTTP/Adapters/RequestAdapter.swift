/// A type that completes an endpoint's request, before it is sent, with the parts that all requests of a client have in
/// common, such as the URL of the server.
///
/// ```swift
/// struct APIKey: RequestAdapter {
///     let base: BaseRequestAdapter
///     let key: String
///
///     func adapt(_ request: URLRequest) async throws -> URLRequest {
///         var request = try base.adapt(request)
///         request.setValue(key, forHTTPHeaderField: "X-API-Key")
///         return request
///     }
/// }
/// ```
///
/// For credentials that expire, use an ``Authenticator``, which is called after the adapter.
public protocol RequestAdapter: Sendable {
    /// Completes a request. Called once per call of the client, even if the request is sent more than once.
    ///
    /// An error that this method throws fails the call, and reaches the caller unchanged unless the caller is
    /// cancelled.
    ///
    /// The method is called in the caller's isolation, and stays there if it is declared `nonisolated(nonsending)`.
    ///
    /// ## Cancellation
    /// If the caller is cancelled, this method is cancelled too, and the caller receives `CancellationError`,
    /// regardless of the error that this method throws.
    ///
    /// - Parameter request: The request of the endpoint, without the credential of an ``Authenticator``.
    /// - Returns: The request to send.
    func adapt(_ request: URLRequest) async throws -> URLRequest
}
