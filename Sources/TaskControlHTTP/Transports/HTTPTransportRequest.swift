/// A request as a transport sends it.
public struct HTTPTransportRequest: Sendable {
    /// The method, the URL, the headers, `timeoutInterval`, and the body if it is in memory.
    ///
    /// The transports of this package throw ``HTTPError/Reason/request`` if the method or the name of a header is not a
    /// token (RFC 9110, 5.6.2), if the value of a header contains a control character other than the tabulator, or if a
    /// GET has a body. They ignore `Content-Length` and `Transfer-Encoding`, which follow from the body.
    public var request: URLRequest

    /// The body that is sent instead of the request's own body; `nil`: the request's own body is sent.
    public var body: UploadEndpointBody?

    /// The names of headers that are not sent to another origin after a redirect, although ``HTTPTransport`` lists them as
    /// harmless.
    public var credentialHeaders: Set<String>

    /// A closure that receives how much of the body has been sent, and its length if that is known, in bytes. The first number
    /// never falls, except when the body is sent again, after a redirect or on a new connection. Called from any
    /// thread, one call after another, and not after the exchange. With ``URLSessionTransport`` on Linux it is called on the queue
    /// of the session: a closure that blocks delays every exchange of the transport.
    public var didSend: (@Sendable (_ sent: Int64, _ expected: Int64?) -> Void)?

    /// The closure that is called before the transport follows a redirect; `nil` for no call.
    var willFollowRedirect: (@Sendable () -> Void)?

    /// Creates a request for a transport.
    ///
    /// - Parameters:
    ///   - request: The request. Its URL is absolute.
    ///   - body: The body that is sent instead of the request's own body.
    ///   - credentialHeaders: The names of headers that are never sent to another origin after a redirect.
    ///   - didSend: Receives how much of the body has been sent.
    public init(
        _ request: URLRequest,
        body: UploadEndpointBody? = nil,
        credentialHeaders: Set<String> = [],
        didSend: (@Sendable (_ sent: Int64, _ expected: Int64?) -> Void)? = nil
    ) {
        self.request = request
        self.body = body
        self.credentialHeaders = credentialHeaders
        self.didSend = didSend
    }
}
