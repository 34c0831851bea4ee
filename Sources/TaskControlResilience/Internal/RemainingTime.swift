internal import TaskControl

/// Returns the time until the deadline of the current task; `nil` without a deadline.
///
/// This time limits every wait and every lease of this module.
func remainingTime() -> Duration? { Task.currentDeadline?.remaining }
