/// An error that states when to try again, such as a response with a `Retry-After` header.
///
/// ```swift
/// struct Refused: Error, RetryAfterProviding {
///     let status: Int
///     let retryAfter: Duration?          // .seconds(2) for "Retry-After: 2", nil without the header
/// }
/// ```
///
/// The time that the error states is its hint. The next attempt is not made before this time has passed: a shorter
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
public protocol RetryAfterProviding: Error {
    /// The time to wait before the next attempt, counted from when the error is thrown. `nil`: the error has no hint. A
    /// time that is shorter than the delay of the backoff, such as zero or a negative time, does not change the delay.
    var retryAfter: Duration? { get }
}
