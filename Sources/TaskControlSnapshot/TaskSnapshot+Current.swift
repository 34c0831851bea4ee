internal import TaskControl
internal import _TaskControlShared

extension TaskSnapshot {
    private static let tracker = Guarded<TaskTracker?>(nil)

    /// Starts to track the owners, tasks and calls of this process, so that ``current()`` can return them. Only the
    /// first call has an effect.
    ///
    /// ```swift
    /// TaskSnapshot.startTracking()       // when the program begins
    /// // … and when something hangs:
    /// print(TaskSnapshot.current())
    /// ```
    ///
    /// If you configure the clock or the redaction of diagnostics (with `TaskDiagnostics.configure(_:)`), do it before
    /// this call: times and texts that were recorded before are not changed.
    public static func startTracking() {
        let fresh = TaskTracker()
        let isFirst = tracker.withLock { tracker in
            guard tracker == nil else { return false }
            tracker = fresh
            return true
        }
        if isFirst { TaskDiagnostics.install(fresh) }
    }

    /// Returns a snapshot of the owners, tasks and calls that currently exist in this process, with the tasks and calls
    /// for which each of them waits, and with probable problems such as deadlocks.
    ///
    /// Call ``startTracking()`` when the program begins: tasks that began before that call are not included. If
    /// ``startTracking()`` was never called, the snapshot is empty, and its ``isTracking`` is `false`.
    ///
    /// - Complexity: O(*n* log *n*) for *n* existing tasks, owners and calls.
    public static func current() -> TaskSnapshot { tracker.withLock { $0 }?.snapshot() ?? .untracked }
}
