internal import Foundation

/// The policies of a client: credentials, retries, and limits. All of them are off by default, except ``bodyLimit``.
///
/// The policies apply in this order, from the outside in: ``timeout`` for the whole call; the client's
/// ``URLRequestAdapter``; the parts of ``resilience`` around a call, and its breaker; ``retry``; the repetition of a
/// request whose credential was rejected; the ``authenticator``, which attaches the credential; ``coalescesGETRequests``;
/// the hedging of ``resilience``, its permit, its token and its parts around an exchange; ``attemptTimeout``;
/// ``silenceLimit``. The innermost step is the exchange: one request on the network, and its response.
public struct ClientPolicies: Sendable {
    /// The authenticator that attaches credentials; `nil` for none.
    public var authenticator: EndpointAuthenticator?

    /// The rule for when another attempt is made after a request has failed. `nil`: there is only one attempt.
    public var retry: HTTPRetryPolicy?

    /// The protection of the hosts: limits, breaker and hedging, with one ``HostPolicy`` per host or one for
    /// all hosts; `nil` for none.
    public var resilience: HTTPResilience?

    /// The longest time that a call may take, including all of its attempts and delays, and the time in which a
    /// streamed response is read. At the limit the call throws `TimeoutError`. `nil`: no limit.
    public var timeout: Duration?

    /// The longest time that an exchange of an attempt may take, including the time in which a streamed response is read,
    /// and without the waits before: for a credential, a permit or a token. At the limit the exchange fails with
    /// `TimeoutError`. After this error another attempt can follow (see ``retry``), except if the body of a streamed
    /// response had begun. If a request is sent again, with a new credential or as a hedge, the time begins again. All
    /// callers of a shared exchange (``coalescesGETRequests``) have its limit. `nil`: no limit.
    public var attemptTimeout: Duration?

    /// The longest time for which the reader of a response waits for the next part of its body. At the limit, the exchange
    /// ends and the call throws `TimeoutError`: a connection whose other side has vanished neither fails nor ends by itself.
    /// `nil`: no limit.
    ///
    /// ```swift
    /// struct Prices: Endpoint {
    ///     typealias Content = Data
    ///     func makeRequest() throws -> URLRequest { get("prices") }
    ///     func adjust(_ policies: inout ClientPolicies) { policies.silenceLimit = .seconds(45) }
    /// }
    /// ```
    ///
    /// The time is measured while the reader waits, not while it works. Every part counts, also the comments with which a
    /// server keeps a stream of events alive. The limit applies to bodies that are read as they arrive, collected, or written
    /// to a file; the last two can be requested again (see ``retry``). Until the head of the response arrives, only
    /// ``attemptTimeout`` and the limits of the transport apply, such as the `timeoutInterval` of the request: for rare
    /// events, raise the latter.
    public var silenceLimit: Duration?

    /// Whether equivalent GET requests share one exchange (one request on the network, and its response) while it is in
    /// flight. `false`, the default: each request has an exchange of its own.
    ///
    /// Requests are equivalent if they have the same URL, the same headers, and the same cookies in the transport's
    /// cookie jar (``HTTPTransport/cookies(for:)``), and if ``EndpointAuthenticator/forget()`` was not called between them. So
    /// a response is not shared between users, even if their sessions are in cookies. No caller joins an exchange that
    /// has been redirected.
    ///
    /// A credential that `URLSession` obtains by itself, from its delegate or its credential storage, is not compared.
    /// Where such credentials change while the client is in use, leave this property `false`, or create an
    /// ``EndpointClient`` per user.
    ///
    /// ## Reading what was written
    /// A write is a request with any method except GET, HEAD, OPTIONS and TRACE. When a write has ended, later GET
    /// requests of the same client do not join an exchange that began before that end. So a caller whose PUT has
    /// returned reads what it has written. The writes of other clients and of other processes are not known to the
    /// client: a GET after such a write possibly shares an exchange that began before the write, and receives the
    /// earlier content.
    ///
    /// ## What callers share
    /// Each caller's endpoint decodes the content for that caller, and the ``ResponseObserver`` is called for each
    /// caller. Progress is reported only at the end of the exchange. A response that is streamed or written to a file
    /// is not shared. A caller that is cancelled stops waiting, and the other callers are not affected. The exchange is
    /// cancelled when its last caller is cancelled.
    public var coalescesGETRequests: Bool

    /// The size in bytes, after decompression, of the largest response body that ``APIClient/request(_:)`` and
    /// ``APIClient/upload(_:)`` collect. If a body is larger, the exchange ends, and the call throws
    /// ``EndpointError/Reason/bodyTooLarge``, which is not retried. `nil`: no limit.
    ///
    /// By default 32 MiB: three times the limit of the gateways of large clouds (AWS: 10 MB), and small enough for the
    /// memory of an app extension. Without a limit, half a megabyte of gzip can become half a gigabyte. The limit does
    /// not apply to a body that is streamed or written to a file.
    public var bodyLimit: Int?

    /// Whether redirects from HTTPS to HTTP are followed. `false`, the default: a call that is redirected so fails with
    /// ``EndpointError/Reason/transport``, since the network between could read and change the redirected request and its
    /// response. No redirect takes credentials from HTTPS to HTTP, regardless of this property.
    public var allowsInsecureRedirects: Bool

    /// The header in which each attempt sends the time until the deadline of the calling task (`Task.currentDeadline`).
    /// `nil`, the default: no such header is sent.
    ///
    /// With ``coalescesGETRequests``, GET requests do not send the header, since callers with different deadlines can
    /// share an exchange.
    ///
    /// Regardless of this property, no attempt begins after the deadline: the call throws `DeadlineExceededError`.
    public var deadlineHeader: DeadlineHeader?

    /// The clock that measures the time limits and the delays before retries and hedges. By default the continuous
    /// clock.
    public var clock: any Clock<Duration>

    /// Whether the content is decoded off the caller's actor: set by an endpoint whose content can be decoded anywhere.
    var decodesConcurrently = false

    /// Creates policies. By default, only the limit for collected bodies is enabled. Each parameter is the property with its
    /// name.
    public init(
        authenticator: EndpointAuthenticator? = nil,
        retry: HTTPRetryPolicy? = nil,
        resilience: HTTPResilience? = nil,
        timeout: Duration? = nil,
        attemptTimeout: Duration? = nil,
        silenceLimit: Duration? = nil,
        coalescesGETRequests: Bool = false,
        bodyLimit: Int? = 32 << 20,
        allowsInsecureRedirects: Bool = false,
        deadlineHeader: DeadlineHeader? = nil,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.authenticator = authenticator
        self.retry = retry
        self.resilience = resilience
        self.timeout = timeout
        self.attemptTimeout = attemptTimeout
        self.silenceLimit = silenceLimit
        self.coalescesGETRequests = coalescesGETRequests
        self.bodyLimit = bodyLimit
        self.allowsInsecureRedirects = allowsInsecureRedirects
        self.deadlineHeader = deadlineHeader
        self.clock = clock
    }
}
