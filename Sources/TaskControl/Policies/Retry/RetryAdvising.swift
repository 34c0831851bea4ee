/// An error that states whether another attempt could succeed, and when to make it.
///
/// ```swift
/// enum UploadError: Error, RetryAdvising {
///     case tooLarge, connectionLost
///     case busy(retryAfter: Duration)         // .seconds(2) for a response with "Retry-After: 2"
///
///     var isWorthRetrying: Bool { if case .tooLarge = self { false } else { true } }
///     var retryAfter: Duration? { if case .busy(let time) = self { time } else { nil } }
/// }
/// ```
///
/// Both statements have a default. ``RetryPolicy/isWorthRetrying(_:)``, the default judgement of every policy, returns
/// ``isWorthRetrying``.
///
/// The time ``retryAfter`` is the hint of the error. The next attempt is not made before this time has passed: a shorter
/// delay of the ``RetryBackoff`` is extended to it (RFC 9110, 10.2.3). But a hint that would extend the delay beyond
/// the backoff's cap, or beyond one minute if the backoff has no cap, ends the retries of the call at once, and the
/// error is thrown: an attempt before the hinted time would be refused again, and a server must not be able to delay
/// its clients without limit. The caller can read the hint from ``retryAfter``, and try again later. The AWS SDKs
/// (retry behavior 2.1) differ: they wait at most 5 seconds longer than the backoff, and so may ask too early.
///
/// A hint that extends a delay removes the jitter of the delay: clients that receive the same hint at the same time
/// retry at the same time, unless the server sends them different hints.
///
/// To wait for longer hints, raise the cap with ``RetryBackoff/capped(at:)``, or return the hint in
/// ``RetryBackoff/custom(_:)``, whose closure sees the error.
///
/// The retry after an error that has a hint takes fewer tokens from a ``RetryBudget`` than other retries: the
/// `throttledCost` of the budget, by default 5 tokens instead of 14.
public protocol RetryAdvising: Error {
    /// Whether another attempt could succeed. By default, what ``RetryPolicy/isWorthRetrying(_:)`` returns for an error that
    /// does not conform to this protocol: `true`, unless the error is an interruption.
    var isWorthRetrying: Bool { get }

    /// The time to wait before the next attempt, counted from when the error is thrown. `nil`, the default: the error has no
    /// hint. A time that is shorter than the delay of the backoff, such as zero or a negative time, does not change the delay.
    var retryAfter: Duration? { get }
}

extension RetryAdvising {
    /// Whether another attempt could succeed: `true`, unless the error is an interruption.
    public var isWorthRetrying: Bool { RetryPolicy.isWorthRetryingWithoutAdvice(self) }

    /// `nil`: no hint.
    public var retryAfter: Duration? { nil }
}
