public import TaskControlResilience

/// The protection of the hosts that a client talks to, and of the client when the hosts fail: a `ResiliencePolicy` per
/// host, or one for all hosts.
///
/// ```swift
/// let client = EndpointClient(
///     baseURL: "https://books.example/v1",
///     policies: ClientPolicies(resilience: .perHost { host in .standard(name: host) })
/// )
/// ```
///
/// A *transfer* is an upload, a response that is streamed, or a download to a file: its duration depends on its length.
/// An *exchange* is one request on the network, and its response.
///
/// The parts of the policy apply to a call as follows, from the outside in:
///
/// | part | applies to |
/// |---|---|
/// | `concurrency`, `rate`, `throttle`, `breaker` | each call, once, regardless of its attempts |
/// | `adaptiveLimit` | each call; a transfer only until the response's head arrives: the rest depends on the length |
/// | `retry` | each request that ``HTTPRetryPolicy`` allows to be sent again, if ``ClientPolicies/retry`` is `nil` |
/// | `attemptTimeout` | each attempt, if ``ClientPolicies/attemptTimeLimit`` is `nil` and the call is no transfer |
/// | `hedging` | each exchange, if the method is idempotent by RFC 9110 (9.2.2) and the call is no transfer |
///
/// A call holds its permit of `concurrency` until it has ended, even while a streamed response is read.
///
/// ## Attempts
/// If ``ClientPolicies/retry`` is set, the `retry` of the `ResiliencePolicy` is not used. Otherwise that `retry`, if it
/// is set, gives the number of attempts, the delays, the budget and `maxElapsed`, and its `shouldRetry` can exclude
/// errors; the other rules, such as those for methods, bodies and statuses, are those of ``HTTPRetryPolicy`` with its
/// default values. If the `ResiliencePolicy` has a throttle, all retries and hedges are paid from the budget of the
/// throttle, in place of any other budget.
///
/// A hedge is a second exchange of the same attempt, with the same credential. For both exchanges together, the
/// ``ResponseObserver`` is called once, and there is one `attemptTimeLimit`. (In `withPolicy`, a hedge is a second call
/// with retries of its own.) The response that arrives first is returned after the other exchange has been cancelled
/// and has ended. Requests that share an exchange (``ClientPolicies/coalescesGETRequests``) share its hedge. For a
/// request that can be hedged, progress is reported only at the end.
///
/// ## Failures of the host
/// The throttle and the breaker count a call by its last attempt:
///
/// - A response with a 5xx status or 429 is a failure, even if the endpoint accepts that status. Any other response is
///   a success, even if the endpoint or the decoder throws.
/// - A transient error of the transport, and a `TimeoutError` of a time limit of the client, are failures.
/// - A call does not count if it is cancelled, ends at a deadline, has sent nothing, or fails with an error of the
///   transport that another attempt cannot change: ``HTTPRetryPolicy`` lists these errors. So a request does not
///   count that has waited in vain for a connection of the transport, because all of them were in use. (For a request to
///   an `https` URL, ``URLSessionTransport`` cannot tell.)
///
/// The closures `isFailure` of the throttle and of the breaker are called only for these failures, and can exclude some
/// of them: for example, for a response with the status 501 they receive an ``EndpointError`` whose
/// ``EndpointError/statusCode`` is 501.
///
/// A response that is streamed or downloaded to a file is counted when its head has arrived. Later errors of its body
/// are not counted, so a transfer that breaks off does not count as an outage.
///
/// ## Refused calls
/// A call that is refused throws the unchanged error of the part that refuses it: `CircuitOpenError`,
/// `RequestThrottledError`, `RateLimitExceededError` or `ConcurrencyLimitError`. Nothing is sent, the
/// ``ResponseObserver`` is not called, and the call is not retried.
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
    /// created again for the next request to its host. A policy that a running call uses, or whose breaker refuses
    /// calls, is not evicted, so a client can temporarily keep more than 64.
    ///
    /// - Parameter make: Creates the policy of a host when a request goes to a host for which the client has no policy.
    ///   The client has one policy per host, regardless of which closure created it: if an endpoint sets another
    ///   resilience per host in ``ResponseEndpoint/adjust(_:)`` and the client already has a policy for the host, that
    ///   policy applies, and the closure of the endpoint is not called.
    public static func perHost(_ make: @escaping @Sendable (_ host: String) -> ResiliencePolicy) -> HTTPResilience {
        HTTPResilience(kind: .perHost(make))
    }

    /// Returns a resilience that applies the same policy to all hosts. Other clients and calls of `withPolicy` may
    /// share that policy.
    public static func shared(_ policy: ResiliencePolicy) -> HTTPResilience { HTTPResilience(kind: .shared(policy)) }

    /// Calls an operation with the policy of a host. The table keeps the policy at least until the operation has ended.
    ///
    /// - Parameters:
    ///   - host: The host of the request; `nil` if it has none. With a policy per host, the operation then receives a
    ///     policy without limits, and the request is refused later.
    ///   - policies: The table of the policies of the hosts.
    ///   - operation: The operation.
    func withPolicy<Value>(
        for host: String?,
        in policies: HostTable<ResiliencePolicy>,
        _ operation: (ResiliencePolicy) async throws -> Value
    ) async throws -> Value {
        switch (kind, host) {
        case (.shared(let policy), _): try await operation(policy)
        case (.perHost(let make), let host?): try await policies.withValue(of: host, make: make, operation)
        case (.perHost, nil): try await operation(ResiliencePolicy())
        }
    }
}
