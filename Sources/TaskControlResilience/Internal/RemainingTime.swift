internal import TaskControl

/// Returns the time until the deadline of the current task; `nil` without a deadline.
///
/// Every wait and every lease of this module is limited by it.
func remainingTime() -> Duration? { Task.currentDeadline?.remaining }
