@_spi(Observers) public import TaskControl
internal import _TaskControlShared

/// An observer that tracks the owners, tasks and calls of TaskControl that currently exist, and creates snapshots of them at any time.
///
/// ```swift
/// let tracker = TaskTracker()
/// let observation = TaskDiagnostics.observe(tracker)
/// // … and when something hangs:
/// print(tracker.snapshot())
/// observation.end()
/// ```
///
/// The tracker does not know tasks and calls that began before it was added as an observer. Its memory is bounded: it
/// tracks at most 65,536 tasks and calls, and as many owners, at a time. Further tasks and calls are only counted, in
/// ``TaskSnapshot/omittedCount``. To track a whole program, call ``TaskSnapshot/startTracking()`` instead.
public final class TaskTracker: TaskObserver {
    private let state = Guarded(TrackerStateMachine(limit: TaskTracker.limit))

    static var limit: Int { 65_536 }

    /// Creates a tracker. Pass it to `TaskDiagnostics.observe(_:)`.
    public init() {}

    /// Updates the tracked tasks for an event. Called by TaskControl.
    public func receive(_ event: TaskEvent) {
        state.withLock { $0.receive(event) }
    }

    /// Returns a snapshot of the tasks and calls that currently exist and that began after this tracker was added as an
    /// observer, and of their owners.
    ///
    /// This function may be called from any context, also from an observer while it receives an event: if the observer
    /// was added after the tracker, the snapshot includes that event. An event that another thread reports at the same
    /// time is either included as a whole or not included.
    ///
    /// - Complexity: O(*n* log *n*) for *n* existing tasks, owners and calls. The tracker's lock is held for O(1); the
    ///   next event then copies the tracked data, in O(*n*).
    public func snapshot() -> TaskSnapshot {
        books.snapshot(at: TaskDiagnostics.eventTime ?? .zero)
    }

    /// A copy of the tracked data. The next event copies the data.
    var books: TrackerStateMachine { state.withLock { $0 } }

    /// Returns the waits that began at or before a time, without a copy of the tracked data.
    func waits(since latest: Duration) -> [HangStateMachine.Wait] { state.withLock { $0.waits(since: latest) } }
}
