/// When a client sends a request again.
///
/// ```swift
/// var policies = ClientPolicies()
/// policies.retry = HTTPRetryPolicy()                      // 3 attempts, for what can be repeated
/// ```
///
/// An attempt is repeated if all of this holds: its method can be repeated, or it has an `Idempotency-Key`; it failed in the transport, at
/// the limit of an attempt's time, or with one of ``statuses``; what it sent can be sent again; attempts are left; the host's
/// `RetryBudget` can pay for it. The server's `Retry-After`, in seconds or as a date, lifts the delay as `RetryAfterProviding` says.
///
/// One of these statuses fails the call also at the last attempt: with what the endpoint's `validate` says of it, or with
/// ``HTTPError/Reason/status``.
///
/// A response that is streamed or written to a file is only asked for again before its body begins.
public struct HTTPRetryPolicy: Sendable {
    /// How many attempts there may be, the first included: 1 or more, or the call traps. By default 3, as in the AWS SDKs.
    public var attempts = 3

    /// How long to wait after a failure. By default 50 ms, doubled each time, 20 s at most, and of that a random part: as in the AWS SDKs.
    public var backoff = RetryBackoff.exponential(base: .milliseconds(50)).capped(at: .seconds(20)).jittered(.full)

    /// From the call on: a retry whose delay would end later is not begun. `nil`: no limit.
    public var maxElapsed: Duration?

    /// What can be repeated without harm: by default the methods that are idempotent by RFC 9110 (9.2.2).
    public var methods: Set<String> = ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"]

    /// Which statuses are worth another attempt: by default 408, 425, 429, 500, 502, 503 and 504.
    public var statuses: Set<Int> = [408, 425, 429, 500, 502, 503, 504]

    /// Makes the budget of a host, when the first request goes there. `nil`: retries are not limited. By default a bucket as in the AWS
    /// SDKs.
    public var budget: (@Sendable (_ host: String) -> RetryBudget)? = { _ in RetryBudget() }

    /// Three attempts, with the delays and budgets of the defaults, unless it says otherwise.
    ///
    /// - Parameters:
    ///   - attempts: How many attempts there may be, the first included.
    ///   - backoff: How long to wait after a failure; `nil`: as long as by default.
    ///   - budget: Pays for the retries of all hosts; `nil`: each host has its own, as by default.
    public init(attempts: Int = 3, backoff: RetryBackoff? = nil, budget: RetryBudget? = nil) {
        self.attempts = attempts
        if let backoff { self.backoff = backoff }
        if let budget { self.budget = { _ in budget } }
    }

    func allows(_ request: URLRequest) -> Bool {
        methods.contains(request.httpMethod?.uppercased() ?? "GET")
            || request.value(forHTTPHeaderField: "Idempotency-Key") != nil
    }

    /// Whether what a transport threw may be gone next time.
    static func mayPass(_ error: any Error) -> Bool {
        switch error {
        case is UploadStreamConsumed, is CocoaError: false
        case let error as URLError:
            switch error.code {
            case .badURL, .unsupportedURL, .cancelled, .userAuthenticationRequired, .serverCertificateHasBadDate,
                .serverCertificateUntrusted,
                .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
                .clientCertificateRequired,
                .httpTooManyRedirects, .fileDoesNotExist, .noPermissionsToReadFile, .fileIsDirectory:
                false
            default: true
            }
        default: true
        }
    }
}
