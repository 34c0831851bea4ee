internal import Foundation

/// The rule for when a client sends a request again.
///
/// ```swift
/// let policies = ClientPolicies(retry: HTTPRetryPolicy())            // 3 attempts, for requests that can be repeated
/// let patient = HTTPRetryPolicy(attempts: 5, maxElapsed: .seconds(60))
/// ```
///
/// After a failed attempt, the request is sent again if all of these conditions hold:
/// - The method of the request is one of ``methods``, or the request has the header `Idempotency-Key`.
/// - The attempt failed with a transient error of the transport, at the time limit of an attempt, or with one of
///   ``statuses``.
/// - The body of the request can be sent again.
/// - Fewer than ``attempts`` attempts have been made, and the delay ends within ``maxElapsed``.
/// - The ``budget`` can pay for the retry.
///
/// The server's `Retry-After`, in seconds or as a date, increases the delay as described at `RetryAdvising`. A
/// `Retry-After` that is longer than the cap of ``backoff``, which is 20 seconds by default, fails the call at once
/// with an error whose ``EndpointError/retryAfter`` says when to try again.
///
/// After an error that another attempt cannot change, the request is not sent again, and nothing is taken from the
/// budget. These errors are: a certificate that is not trusted or is missing, a URL that is not supported, a redirect
/// to a location that is not valid, too many redirects, an upload whose file or stream cannot be opened or read,
/// whatever error it throws, or whose length is not the given one, a body over ``ClientPolicies/bodyLimit``, a body that
/// cannot be decompressed, and a header or another part of the request that cannot be sent. Every other error of the
/// transports of this module counts as transient. Of the errors of another ``HTTPTransport``, only `URLError` and
/// `POSIXError` count as transient: a type that is not known may be a mistake that each attempt repeats.
///
/// If the response to the last attempt has one of ``statuses``, the call fails with the error that the endpoint's
/// `validate` throws, or, if the endpoint accepts the status, with ``EndpointError/Reason/status``. But if the first of the
/// conditions above does not hold for the request, such a status is handled like any other.
///
/// A response that is streamed is requested again only before its body begins. A download to a file is also requested
/// again when its body breaks off. It then continues where it broke off, if the server supports that; see
/// ``DownloadResumption``. A download to a device or a pipe is not requested again once its body has begun.
///
/// Three kinds of repeated requests are not retries: they do not count toward ``attempts``, and take nothing from the
/// ``budget``. They are a request with a new credential after the server has rejected the old one (see
/// ``EndpointAuthenticator``), a request for the whole content after the server could not continue a download, for
/// example after a response with the status 416, and a request that the transport itself repeats since the server has
/// closed a kept connection (see ``HTTPResilience``).
public struct HTTPRetryPolicy: Sendable {
    /// The maximum number of attempts, including the first. Less than 1 counts as 1. By default 3, as in the AWS SDKs.
    public var attempts: Int

    /// The delays after failed attempts. By default a random time between zero and a limit, which is 50 ms at first and
    /// doubles with each attempt up to 20 s, as in the AWS SDKs.
    public var backoff: RetryBackoff

    /// The budget that limits retries, which other clients and calls of `retry` may share. By default each host has a budget
    /// with the capacity and the costs of the AWS SDKs: see `RetryBudget.perHost(capacity:cost:throttledCost:)`. `nil`: only
    /// ``attempts`` and ``maxElapsed`` limit the retries of a call.
    public var budget: RetryBudget?

    /// The longest time from the beginning of the call to the end of a delay: a retry whose delay would end later is
    /// not made. `nil`: no limit.
    public var maxElapsed: Duration?

    /// The methods of requests that can be sent again without harm, in upper or lower case. By default the methods that
    /// are idempotent by RFC 9110 (9.2.2): GET, HEAD, OPTIONS, TRACE, PUT and DELETE.
    public var methods: Set<String>

    /// The statuses that are worth another attempt: by default 408, 425, 429, 500, 502, 503 and 504.
    public var statuses: Set<Int>

    /// The closure that can exclude errors: if it returns `false`, no other attempt is made. It is called for errors
    /// after which the other rules allow one.
    public var shouldRetry: @Sendable (any Error) -> Bool

    /// Returns the reports of a condition, such as that the network is there, which ends a delay early, and holds up attempts
    /// while it is `false`: see `RetryPolicy.waitingFor`. `nil`: no condition.
    public var waitingFor: (@Sendable () async -> AsyncStream<Bool>)?

    /// Creates a policy, by default with the numbers of the AWS SDKs. Each parameter is the property with its name.
    public init(
        attempts: Int = 3,
        backoff: RetryBackoff = .exponential(base: .milliseconds(50)).capped(at: .seconds(20)).jittered(.full),
        budget: RetryBudget? = .perHost(),
        maxElapsed: Duration? = nil,
        methods: Set<String> = ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"],
        statuses: Set<Int> = [408, 425, 429, 500, 502, 503, 504],
        shouldRetry: @escaping @Sendable (any Error) -> Bool = { _ in true },
        waitingFor condition: (@Sendable () async -> AsyncStream<Bool>)? = nil
    ) {
        self.attempts = attempts
        self.backoff = backoff
        self.budget = budget
        self.maxElapsed = maxElapsed
        self.methods = methods
        self.statuses = statuses
        self.shouldRetry = shouldRetry
        waitingFor = condition
    }

    /// The methods that are idempotent by RFC 9110 (9.2.2).
    static let idempotentMethods: Set = ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"]

    /// Returns whether the method of a request is idempotent by RFC 9110 (9.2.2).
    static func isIdempotent(_ request: URLRequest) -> Bool {
        idempotentMethods.contains(request.httpMethod?.uppercased() ?? "GET")
    }

    func allows(_ request: URLRequest) -> Bool {
        let method = request.httpMethod?.uppercased() ?? "GET"
        return methods.contains { $0.uppercased() == method }
            || request.value(forHTTPHeaderField: "Idempotency-Key") != nil
    }
}

extension RetryBudget {
    /// Returns a budget of which a client has a copy for each host: for ``HTTPRetryPolicy/budget``. Anywhere else, it is one
    /// budget for all of its users.
    ///
    /// A client keeps the budgets of 64 hosts. For further hosts it evicts other budgets, full ones first. An evicted
    /// budget is created again for the next request to its host. The client has one budget per host: if an endpoint sets
    /// another budget per host in ``ResponseEndpoint/adjust(_:)`` and the client already has a budget for the host, that
    /// budget applies.
    ///
    /// - Parameters:
    ///   - capacity: The number of tokens of a full budget of a host, as for a budget that is created with these parameters.
    ///   - cost: The tokens that a retry takes after an error without a hint.
    ///   - throttledCost: The tokens that a retry takes after an error with a hint (see `RetryAdvising`).
    public static func perHost(capacity: Int = 500, cost: Int = 14, throttledCost: Int = 5) -> RetryBudget {
        let budget = RetryBudget(capacity: capacity, cost: cost, throttledCost: throttledCost)
        return RetryBudget(like: budget, isPerHost: true)
    }
}

extension Optional where Wrapped == RetryBudget {
    /// Returns the budget of the requests to a host; `nil` for no limit.
    func budget(for host: String?, in budgets: HostTable<RetryBudget>) -> RetryBudget? {
        guard let self, self.isPerHost else { return self }
        return host.map { budgets.value(of: $0) { _ in RetryBudget(like: self, isPerHost: false) } }
    }
}
