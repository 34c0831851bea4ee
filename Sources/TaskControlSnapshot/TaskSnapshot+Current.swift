internal import TaskControl
internal import TaskControlSupport

extension TaskSnapshot {
    private static let tracker = Guarded<TaskTracker?>(nil)

    /// Starts to track the tasks of this process, which ``current()`` needs. Later calls have no effect.
    ///
    /// ```swift
    /// TaskSnapshot.startTracking()       // when the program begins
    /// // … and when something hangs:
    /// print(TaskSnapshot.current())
    /// ```
    ///
    /// Configure the clock and the redaction of diagnostics before this call: the tracker keeps the texts of events as it received them.
    public static func startTracking() {
        let fresh = TaskTracker()
        let isFirst = tracker.withLock { tracker in
            guard tracker == nil else { return false }
            tracker = fresh
            return true
        }
        if isFirst { TaskDiagnostics.install(fresh) }
    }

    /// Returns a snapshot of the owners, tasks and calls that currently exist in this process, with the tasks for which each waits, and probable
    /// problems such as deadlocks.
    ///
    /// Call ``startTracking()`` first: tasks that began earlier are not included. Without tracking, the snapshot is empty, and ``isTracking`` is
    /// `false`.
    ///
    /// - Complexity: O(*n* log *n*) for *n* existing tasks, owners and calls.
    public static func current() -> TaskSnapshot { tracker.withLock { $0 }?.snapshot() ?? .untracked }
}
