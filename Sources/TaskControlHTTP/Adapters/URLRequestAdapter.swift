#if canImport(FoundationNetworking)
internal import Foundation
#else
public import Foundation
#endif

/// A type that completes an endpoint's request, before it is sent, with the parts that all requests of a client have in
/// common, such as the URL of the server.
///
/// ```swift
/// struct APIKey: URLRequestAdapter {
///     let base: BaseURLAdapter
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
/// For credentials that expire, use an ``EndpointAuthenticator``, which is called after the adapter.
public protocol URLRequestAdapter: Sendable {
    /// Completes a request. Called once for each request that a caller makes with the client, even if the client sends
    /// it more than once.
    ///
    /// An error that this method throws fails the call, and reaches the caller unchanged; if it is an ``EndpointError``,
    /// the client adds the request to it. After a cancellation, the caller receives another error, as described below.
    ///
    /// The method is called in the caller's isolation, and stays there if it is declared `nonisolated(nonsending)`.
    ///
    /// ## Cancellation
    /// If the caller is cancelled, or the call reaches ``ClientPolicies/timeout``, the task that runs this method is
    /// cancelled. The caller then receives `CancellationError` or `TimeoutError`, regardless of the error that this
    /// method throws.
    ///
    /// - Parameter request: The request of the endpoint, without the credential of an ``EndpointAuthenticator``.
    /// - Returns: The request to send.
    func adapt(_ request: URLRequest) async throws -> URLRequest
}
