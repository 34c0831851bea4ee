/// Returns the time until the deadline of the current task; `nil` without a deadline.
///
/// Every wait and every lease of this module is limited by it. Tasks have no deadlines yet, so there is no limit.
func remainingTime() -> Duration? { nil }
