#if canImport(FoundationNetworking)
internal import Foundation
#else
public import Foundation
#endif

/// A type that sends a client's requests to servers. Each call of ``withResponse(to:_:)`` sends one request, and the
/// requests to which its redirects lead.
///
/// Clients use ``URLSessionTransport`` by default. With the package trait `AsyncHTTPClient` there is
/// also `AsyncHTTPClientTransport`, for servers. For tests there is ``MockTransport``.
///
/// The client is responsible for authentication, retries, time limits and the sharing of exchanges, and the transport
/// for redirects. The transport follows up to 16 redirects of a request. If a redirect leads to another origin (scheme,
/// host and port), the transport removes headers from the request, which stay removed even if a later redirect leads
/// back. A redirect within the origin keeps the user and the password of the URL. A redirect from HTTPS to HTTP is not
/// followed, and fails the exchange, unless ``HTTPTransportRequest/allowsInsecureRedirects`` is `true`.
///
/// Only the following headers are sent to another origin, since any other header may be a credential: `Accept`,
/// `Accept-Charset`, `Accept-Encoding`, `Accept-Language`, `Range`;
/// `Cache-Control`, `Pragma`, `If-Match`, `If-None-Match`, `If-Modified-Since`, `If-Unmodified-Since`, `If-Range`;
/// `Idempotency-Key`, `traceparent`, `tracestate`; `User-Agent`; and, with a body that is sent again, `Content-Type`,
/// `Content-Encoding`, `Content-Language`, `Content-Location`, `Content-Disposition`, `Content-Digest`, `Content-MD5`
/// and `Content-Range`. None of the request's ``HTTPTransportRequest/credentialHeaders`` are sent, regardless of their
/// names.
public protocol HTTPTransport: Sendable {
    /// Sends one request, and passes the response to a closure as it arrives.
    ///
    /// When this function returns, the exchange is over. If `receive` has not read the body to its end, the function
    /// does not wait for the rest, and the connection is not used again.
    ///
    /// ## Cancellation
    /// If the caller is cancelled, the exchange ends, and the server sees the connection end. This function then throws
    /// `CancellationError`, or the error with which a layer below reports the cancellation.
    ///
    /// - Parameters:
    ///   - request: The request to send. Its URL is absolute.
    ///   - receive: Called once, when the head has arrived, in the caller's isolation.
    /// - Returns: The value of `receive`.
    /// - Throws: The error of `receive`, unchanged; an error of the network, as the library of the transport reports
    ///   it (of a transport of another module, `URLError` or `POSIXError`: a client treats no other type as transient); or
    ///   `URLError` with one of the following codes. For the URL of the request: `unsupportedURL` if the scheme
    ///   is not supported, such as `ftp`; `badURL` if the URL has no host, or a port outside 1...65535. For the target
    ///   of a redirect: `unsupportedURL` if the scheme is neither `http` nor `https`; `redirectToNonExistentLocation`
    ///   if the target is not a valid URL with a host, or has a port outside 1...65535, or if there are several
    ///   different targets; `appTransportSecurityRequiresSecureConnection` if it leads from HTTPS to HTTP, unless
    ///   ``HTTPTransportRequest/allowsInsecureRedirects`` is `true`; `httpTooManyRedirects` if it would be the 17th
    ///   redirect.
    nonisolated(nonsending) func withResponse<Value>(
        to request: HTTPTransportRequest,
        _ receive: nonisolated(nonsending) (HTTPTransportResponse) async throws -> Value
    ) async throws -> Value

    /// Returns the cookies that the transport would add to a request, such as those of a cookie jar. By default `nil`:
    /// none.
    ///
    /// A client with ``ClientPolicies/coalescesGETRequests`` lets requests share an exchange only if this function
    /// returns the same text for them: different texts can mean different users. A transport that adds credentials of
    /// another kind must include them in the text, and a transport that wraps another transport must return the text of
    /// that transport. The client compares the text, keeps it for as long as the exchange lasts, and shows it nowhere.
    ///
    /// - Parameter request: A request that is about to be sent. Its URL is absolute.
    /// - Returns: The names and values of the cookies, always in the same order for the same cookies; `nil` if there
    ///   are none.
    func cookies(for request: URLRequest) -> String?

    /// Refuses later requests, and releases the connections when the present exchanges have ended. By default, does nothing.
    ///
    /// An ``EndpointClient`` calls this function at the end of its own shutdown, also if it is not the only client of the
    /// transport. A transport that wraps another transport must call the function of that transport. May be called more than
    /// once.
    ///
    /// ## Cancellation
    /// Returns when the connections are released, also if the caller is cancelled.
    func shutdown() async
}

extension HTTPTransport {
    /// Does nothing, also in a cancelled task: the transport has no connections, or other code releases them.
    public func shutdown() async {}

    /// Returns `nil`: the transport adds no cookies.
    public func cookies(for request: URLRequest) -> String? { nil }
}
