/// A failed attempt of `retry`, after which another attempt is made unless the caller is cancelled during the delay.
/// The `onRetry` closure of `retry` receives this value before the delay begins.
///
/// ```swift
/// let feed = try await retry(attempts: 3, backoff: .fixed(.seconds(1)), onRetry: { event in
///     print("attempt \(event.attempt) failed: \(event.error); the next is in \(event.delay)")
/// }) {
///     try await fetchFeed()
/// }
/// ```
public struct RetryEvent: Sendable {
    /// The number of the failed attempt, counted from 1.
    public let attempt: Int

    /// The error of the attempt.
    public let error: any Error

    /// The time until the next attempt: the delay of the backoff with its jitter, or the hint of the error if the hint
    /// is longer than that delay (see ``RetryAdvising``).
    public let delay: Duration
}
