internal import Foundation
internal import TaskControlResilience

/// The protection of the hosts that a client talks to, and of the client when the hosts fail: a ``HostPolicy`` per host,
/// or one for all hosts.
///
/// ```swift
/// let client = EndpointClient(
///     baseURL: "https://books.example/v1",
///     policies: ClientPolicies(retry: HTTPRetryPolicy(), resilience: .perHost { host in .standard(name: host) })
/// )
/// ```
///
/// A *transfer* is an upload, a response that is streamed, or a download to a file: its duration depends on its length.
/// An *exchange* is one request on the network, and its response.
///
/// The parts apply to a call as follows, from the outside in. They are those of `ResiliencePolicy`, in its order, except
/// that `hedging` is inside the retries: see *Attempts*.
///
/// | part | applies to |
/// |---|---|
/// | `callParts`, `breaker` | each call, once, regardless of its attempts |
/// | `hedging` | each exchange, if the method is idempotent by RFC 9110 (9.2.2) and the call is no transfer |
/// | `permits`, `rate`, `attemptParts` | each exchange: of each attempt, retry, repeated request and hedge |
///
/// The breaker admits a call when its first exchange has its permit. While the breaker refuses calls, no call waits for a
/// permit, and no credential is obtained.
///
/// All requests that a transport sends within one exchange count as one, also for the ``HTTPRetryPolicy/budget``: those
/// that follow redirects, and those that the transport sends again since the server has closed a kept connection (at most
/// two by `AsyncHTTPClientTransport`, and five by ``URLSessionTransport`` on Linux). So a server that closes each
/// connection after one response receives up to twice the ``HostPolicy/rate``.
///
/// An exchange holds its permit until its response has been read, which includes a streamed response, and not in the delay
/// before a retry. A call holds its passes of `callParts` until it has ended.
///
/// ## Attempts
/// The retries and the time limits are those of ``ClientPolicies``.
///
/// A hedge is a second exchange of the same attempt, with the same credential. For both exchanges together, the
/// ``ResponseObserver`` is called once. (In `withPolicy`, a hedge is a second call with retries of its own.) The response that arrives first is returned after the other exchange has been cancelled
/// and has ended. An error begins a hedge only if it is transient: see ``HTTPRetryPolicy``. Requests that share an
/// exchange (``ClientPolicies/coalescesGETRequests``) share its permit, its token and its hedge. For a request that can
/// be hedged, progress is reported only at the end.
///
/// ## Failures of the host
/// The breaker counts a call by its last attempt, and a shared exchange once, for all calls that share it:
///
/// - A response with a 5xx status or 429 is a failure, even if the endpoint accepts that status. Any other response is
///   a success, even if the endpoint, the decoder or the closure of `withResponse` throws, whatever error it throws.
/// - A transient error of the transport, and the `TimeoutError` of ``ClientPolicies/attemptTimeout``, are failures.
/// - A call that a deadline of its caller, ``ClientPolicies/timeout`` or another time limit around it has ended is a failure
///   if its exchanges were under way for at least half of its time: see `CircuitBreaker`.
/// - A call does not count if it is cancelled, has sent nothing, or fails with an error of the transport that another
///   attempt cannot change: ``HTTPRetryPolicy`` lists these errors. So a call does not count whose time ends while it waits
///   for a permit, a credential, a token or a connection of the transport, because all of them were in use. (For a
///   request to an `https` URL, ``URLSessionTransport`` cannot tell.)
///
/// The closure `isFailure` of the breaker is called only for these failures, and can exclude some of them: for example,
/// for a response with the status 501 it receives an ``EndpointError`` whose
/// ``EndpointError/statusCode`` is 501.
///
/// A body that breaks off before its end is a failure of a call that receives it whole: a response that is collected, or
/// downloaded to a file. A response that is streamed is counted by its head: its reader has received it, so later errors of
/// its body are not counted. A download is counted at its end; a time limit that ends during its body is no failure, and
/// `slowCall` measures the time until its first head, since its duration depends on its length. A breaker among the
/// ``HostPolicy/attemptParts`` counts exchanges by the same rules, when they end; its `slowCall` includes the body.
///
/// ## Refused calls
/// A call that a part refuses throws the unchanged `CallRefusedError` of the part, and is not retried. If a part refuses the call before its first attempt, the ``ResponseObserver`` is not called; if a part refuses
/// an exchange, the observer receives the error, as for any attempt.
public struct HTTPResilience: Sendable {
    private enum Kind {
        case perHost(@Sendable (_ host: String) -> ResiliencePolicy)
        case shared(ResiliencePolicy)
    }

    private let kind: Kind

    /// Returns a resilience that applies a separate policy to each host. The host is that of the original request, in
    /// lowercase, even if a redirect leads to another host.
    ///
    /// A client keeps the policies of 64 hosts. For further hosts it evicts other policies. An evicted policy is
    /// created again for the next request to its host. A policy is not evicted while it matters, so a client can
    /// temporarily keep more than 64: while a running call uses it, a permit is in use, the bucket of the limiter is not
    /// full, the window of the breaker contains failures, or the breaker is open (for its `openDuration` or its `window`,
    /// whichever is longer). This also holds for these parts among the ``HostPolicy/callParts`` and
    /// ``HostPolicy/attemptParts``. The history of ``HostPolicy/hedging`` and of parts of your own has no known end: it
    /// is lost with an eviction, unless `make` returns the same objects again.
    ///
    /// - Parameter make: Creates the policy of a host when a request goes to a host for which the client has no policy.
    ///   The client has one policy per host, regardless of which closure created it: if an endpoint sets another
    ///   resilience per host in ``ResponseEndpoint/adjust(_:)`` and the client already has a policy for the host, that
    ///   policy applies, and the closure of the endpoint is not called.
    public static func perHost(_ make: @escaping @Sendable (_ host: String) -> HostPolicy) -> HTTPResilience {
        HTTPResilience(kind: .perHost { make($0).policy })
    }

    /// Returns a resilience that applies the same policy to all hosts. Other clients, and the policies of `withPolicy`,
    /// may share its parts.
    public static func shared(_ policy: HostPolicy) -> HTTPResilience { HTTPResilience(kind: .shared(policy.policy)) }

    /// Returns the policy of a host. The table keeps it until it is returned.
    ///
    /// - Parameters:
    ///   - host: The host of the request; `nil` if it has none. There is then no policy per host, and the request is
    ///     refused later.
    ///   - policies: The table of the policies of the hosts.
    func policy(
        of host: String?,
        in policies: HostTable<ResiliencePolicy>
    ) -> HostTable<ResiliencePolicy>.Loan? {
        switch kind {
        case .shared(let policy): HostTable.Loan(policy)
        case .perHost(let make): host.map { policies.borrow(of: $0, make: make) }
        }
    }
}
