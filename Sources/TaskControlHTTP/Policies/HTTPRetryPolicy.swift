/// The rule for when a client sends a request again.
///
/// ```swift
/// let policies = ClientPolicies(retry: HTTPRetryPolicy())            // 3 attempts, for what can be repeated
/// let patient = HTTPRetryPolicy(attempts: 5, maxElapsed: .seconds(60))
/// ```
///
/// An attempt is repeated if all of this holds: its method can be repeated, or it has an `Idempotency-Key`; it failed in the transport with an
/// error that may be transient, at the limit of an attempt's time, or with one of ``statuses``; what it sent can be sent again; attempts are
/// left; the host's `RetryBudget` can pay for it. The server's `Retry-After`, in seconds or as a date, increases the delay as described at
/// `RetryAfterProviding`. A `Retry-After` that is longer than the cap of ``backoff``, which is 20 seconds by default, fails the call at once
/// with an error whose ``HTTPError/retryAfter`` says when to try again.
///
/// Errors that another attempt cannot change are not repeated, and cost the budget nothing: a certificate that is not trusted, a URL that is
/// not supported, a redirect to a location that is not valid, an upload whose length is not the given one, a header that cannot be sent. Every
/// other error of a transport counts as transient.
///
/// One of these statuses fails the call also at the last attempt: with the error that the endpoint's `validate` throws for it, or with
/// ``HTTPError/Reason/status``. For a request that cannot be repeated, such a status is handled like any other.
///
/// A response that is streamed is requested again only before its body begins. A download to a file is also requested again
/// when its body breaks off, and continues there if the server can; see ``DownloadResumption``. A download to a device or a
/// pipe is not.
///
/// With a throttle in ``ClientPolicies/resilience``, the budget of the throttle pays for the retries in place of ``budget``.
///
/// Two requests count as part of the attempt of the request before: the one with a new credential, which the
/// ``Authenticator`` attaches, and the one for the whole content, which a download sends if the server cannot continue
/// it, for example after a 416.
public struct HTTPRetryPolicy: Sendable {
    /// The maximum number of attempts, including the first. Less than 1 counts as 1. By default 3, as in the AWS SDKs.
    public var attempts: Int

    /// The delays after failed attempts. By default a random time up to 50 ms, a limit that doubles each time up to 20 s: as in the AWS SDKs.
    public var backoff: RetryBackoff

    /// The budget that limits retries. By default each host has a bucket as in the AWS SDKs.
    public var budget: HTTPRetryBudget

    /// The longest time from the call to the beginning of an attempt: a retry whose delay would end later is not begun. `nil`: no limit.
    public var maxElapsed: Duration?

    /// The methods of requests that can be repeated without harm: by default the methods that are idempotent by RFC 9110 (9.2.2).
    public var methods: Set<String>

    /// The statuses that are worth another attempt: by default 408, 425, 429, 500, 502, 503 and 504.
    public var statuses: Set<Int>

    /// Creates a policy. By default: three attempts, with the delays and budgets of the AWS SDKs.
    ///
    /// - Parameters:
    ///   - attempts: The maximum number of attempts, including the first. Less than 1 counts as 1.
    ///   - backoff: The delays after failed attempts.
    ///   - budget: The budget that limits retries.
    ///   - maxElapsed: The longest time from the call to the beginning of an attempt: a retry whose delay would end later is not begun. `nil`:
    ///     no limit.
    ///   - methods: The methods of requests that can be repeated without harm.
    ///   - statuses: The statuses that are worth another attempt.
    public init(
        attempts: Int = 3,
        backoff: RetryBackoff = .exponential(base: .milliseconds(50)).capped(at: .seconds(20)).jittered(.full),
        budget: HTTPRetryBudget = .perHost(),
        maxElapsed: Duration? = nil,
        methods: Set<String> = ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"],
        statuses: Set<Int> = [408, 425, 429, 500, 502, 503, 504]
    ) {
        self.attempts = attempts
        self.backoff = backoff
        self.budget = budget
        self.maxElapsed = maxElapsed
        self.methods = methods
        self.statuses = statuses
    }

    /// The methods that are idempotent by RFC 9110 (9.2.2).
    static let idempotentMethods: Set = ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"]

    /// Creates a policy with the default methods and statuses of HTTP, and the attempts, delays and budget of a `RetryPolicy`.
    init(_ policy: RetryPolicy) {
        self.init(
            attempts: policy.attempts,
            backoff: policy.backoff,
            budget: policy.budget.map(HTTPRetryBudget.shared) ?? .unlimited,
            maxElapsed: policy.maxElapsed
        )
    }

    /// Returns whether the method of a request is idempotent by RFC 9110 (9.2.2).
    static func isIdempotent(_ request: URLRequest) -> Bool {
        idempotentMethods.contains(request.httpMethod?.uppercased() ?? "GET")
    }

    func allows(_ request: URLRequest) -> Bool {
        methods.contains(request.httpMethod?.uppercased() ?? "GET")
            || request.value(forHTTPHeaderField: "Idempotency-Key") != nil
    }
}
