internal import TaskControl

/// Returns the time until the deadline of the current task; `nil` without a deadline.
///
/// A call whose wait would probably last longer than this time is refused, and a probe of a ``CircuitBreaker`` holds
/// its lease no longer than this time.
func remainingTime() -> Duration? { Task.currentDeadline?.remaining }
