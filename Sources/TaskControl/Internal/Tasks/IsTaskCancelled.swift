private import CTaskControl

/// Whether the current task was cancelled: `Task.isCancelled`, at a third of its cost.
@usableFromInline package var _isTaskCancelled: Bool { tc_isTaskCancelled() }
