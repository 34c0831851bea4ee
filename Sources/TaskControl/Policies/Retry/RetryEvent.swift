/// An attempt that failed and will be followed by another: what `onRetry` is told, before the delay begins.
///
/// ```swift
/// let feed = try await retry(attempts: 3, backoff: .fixed(.seconds(1)), onRetry: { event in
///     print("attempt \(event.attempt) failed: \(event.error); the next is in \(event.delay)")
/// }) {
///     try await fetchFeed()
/// }
/// ```
public struct RetryEvent: Sendable {
    /// Which attempt failed, counted from 1.
    public let attempt: Int

    /// What it threw.
    public let error: any Error

    /// How long the delay is that now begins, with jitter and hint.
    public let delay: Duration
}
