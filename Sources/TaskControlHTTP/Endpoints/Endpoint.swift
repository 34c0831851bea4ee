#if canImport(FoundationNetworking)
internal import Foundation
#else
public import Foundation
#endif

/// A request to a server, and the type of its response.
///
/// ```swift
/// struct BookListEndpoint: Endpoint {
///     typealias Content = [Book]
///
///     func makeRequest() throws -> URLRequest {
///         get("books")
///     }
/// }
///
/// let books = try await client.request(BookListEndpoint())
/// ```
///
/// The URL may be relative: the client's ``URLRequestAdapter`` completes it with the URL of the server.
///
/// An error that an endpoint throws reaches the caller unchanged, except that the client adds the request and the
/// response to an ``EndpointError``. If the caller is cancelled, or the call reaches a time limit, the caller receives
/// `CancellationError` or `TimeoutError` instead.
///
/// The methods of an endpoint run in the caller's isolation. So the response to a request that is made on the main
/// actor is also decoded there. To decode a large body elsewhere, make the request in a `@concurrent` function. The
/// methods themselves belong to no actor: a `Decodable` type whose conformance belongs to one, such as an unmarked type in
/// a module that isolates its types to the main actor by default, cannot be the content. Declare it as `nonisolated`.
public protocol Endpoint: ResponseEndpoint {
    /// Returns the request, without the parts that the client adds: the URL of the server (``URLRequestAdapter``) and the
    /// credentials (``EndpointAuthenticator``).
    ///
    /// The call fails with ``EndpointError/Reason/request`` if the request is a GET with a body, or if its URL, its method
    /// or one of its headers is not valid. The client ignores a `Content-Length` header of the request. Note that
    /// Foundation's `setValue` drops a value with a line break without an error, before the client can see it.
    ///
    /// Called once per call of the client, even if the request is sent more than once. So an idempotency key that is
    /// created here is the same in all attempts.
    func makeRequest() throws -> URLRequest
}
