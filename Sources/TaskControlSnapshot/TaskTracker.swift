public import TaskControl
internal import TaskControlSupport

/// An observer that tracks the owners, tasks and calls that currently exist, to show them at any time.
///
/// ```swift
/// let tracker = TaskTracker()
/// let observation = TaskDiagnostics.observe(tracker)
/// // … and when something hangs:
/// print(tracker.snapshot())
/// observation.end()
/// ```
///
/// Tasks, owners and calls that began before the tracker was added are not known to it. Its memory is bounded: it knows 65,536 tasks and calls at
/// once, and counts those that begin while there are that many. To track a whole program, call ``TaskSnapshot/startTracking()``.
public final class TaskTracker: TaskObserver {
    private let state = Guarded(TrackerStateMachine(limit: TaskTracker.limit))

    static var limit: Int { 65_536 }

    /// Creates a tracker, which must be added as an observer.
    public init() {}

    /// Records an event. Called by the library.
    public func receive(_ event: TaskEvent) {
        state.withLock { $0.receive(event) }
    }

    /// Returns a snapshot of the owners and tasks that currently exist, and that began while this tracker observed.
    ///
    /// This function may be called from anywhere, also from an observer that was added later than the tracker. Events of other threads at the same
    /// moment are included or not, each as a whole.
    ///
    /// - Complexity: O(*n* log *n*) for *n* existing tasks, owners and calls. The lock is held in O(1); the next event then copies the tables, in
    ///   O(*n*).
    public func snapshot() -> TaskSnapshot {
        state.withLock { $0 }.snapshot(at: TaskDiagnostics.eventTime ?? .zero)
    }
}
