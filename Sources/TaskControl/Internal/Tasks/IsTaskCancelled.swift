private import CTaskControl

/// Whether the current task was cancelled; `false` outside tasks. The same value as `Task.isCancelled`, read in about a
/// third of the time.
@usableFromInline package var _isTaskCancelled: Bool { tc_isTaskCancelled() }
