internal import TaskControl
internal import TaskControlSupport

extension TaskSnapshot {
    private static let tracker = Guarded<TaskTracker?>(nil)

    /// Starts to track the tasks of this process, for ``current()``. Later calls have no effect.
    ///
    /// ```swift
    /// TaskSnapshot.startTracking()       // when the program begins
    /// // … and when something hangs:
    /// print(TaskSnapshot.current())
    /// ```
    ///
    /// Configure the clock and the redaction of diagnostics before this call: texts of earlier events are kept as they were
    /// received.
    public static func startTracking() {
        let fresh = TaskTracker()
        let isFirst = tracker.withLock { tracker in
            guard tracker == nil else { return false }
            tracker = fresh
            return true
        }
        if isFirst { TaskDiagnostics.install(fresh) }
    }

    /// Returns a snapshot of the owners and tasks that currently exist, of what each waits for, and of the problems.
    ///
    /// Tracking must have been started with ``startTracking()``. Otherwise the snapshot is empty, and ``isTracking`` is `false`.
    ///
    /// - Complexity: O(*n* log *n*) for *n* existing tasks, owners and calls.
    public static func current() -> TaskSnapshot { tracker.withLock { $0 }?.snapshot() ?? .untracked }
}
