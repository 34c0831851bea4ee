package import TaskControl

/// A part whose decisions depend on earlier calls for a limited time. After this time without calls, the part decides as a
/// new one would.
package protocol PartWithHistory: Sendable {
    /// Whether the part decides otherwise than a new part because of earlier calls, or calls hold its passes. It may have
    /// changed by the time the caller uses it.
    var hasHistory: Bool { get }
}

/// A semaphore has a history while its permits are in use.
extension AsyncSemaphore: PartWithHistory {
    package var hasHistory: Bool { !_isUnused }
}

/// A breaker has a history while its window contains failures, and while it is open or half-open, but not for longer than
/// the failures that have opened it would count in a closed breaker.
extension CircuitBreaker: PartWithHistory {}

/// A limiter has a history until its bucket is full again.
extension RateLimiter: PartWithHistory {}
