private import CTaskControl

/// Whether the current task was cancelled: `Task.isCancelled`, at a third of its cost.
var isTaskCancelled: Bool { tc_isTaskCancelled() }
