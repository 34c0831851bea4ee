/// An error that says when to come back, such as a response with a `Retry-After` header.
///
/// ```swift
/// struct Refused: Error, RetryAfterProviding {
///     let status: Int
///     let retryAfter: Duration?          // .seconds(2) for "Retry-After: 2", nil without the header
/// }
/// ```
///
/// The delay of the ``RetryBackoff`` is lifted to the hint, and by 5 seconds at most: it ends up between the backoff's own delay and that
/// plus 5 s, as in the AWS SDKs (retry behavior 2.1). So no server can make its clients hang, and none can make them come back sooner than they
/// meant to. A cap limits the backoff's own delay: the hint may go beyond it, by those 5 s.
///
/// A hint that lifts a delay takes its jitter away: those who were given the same hint at the same time come back together. A server that wants
/// them apart gives them different hints.
///
/// To honor longer waits, say so in ``RetryBackoff/custom(_:)``: its closure sees the error.
///
/// An error that gives a hint counts as throttled: its retry takes less from a ``RetryBudget``.
public protocol RetryAfterProviding: Error {
    /// How long to wait before the next attempt, counted from now. `nil`: the error does not say. A negative one means at once.
    var retryAfter: Duration? { get }
}
