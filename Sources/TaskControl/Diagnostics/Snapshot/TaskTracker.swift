/// Keeps the books of what lives, from what it is told.
package final class TaskTracker: TaskObserver {
    private let state = Locked(TrackerStateMachine(limit: TaskTracker.limit))

    package init() {}

    /// How many tasks, turns and calls it knows at once. What comes then is counted.
    static var limit: Int { 65_536 }

    package func receive(_ event: TaskEvent) {
        state.withLock { $0.receive(event) }
    }

    /// What lives now, as far as it began while this observed.
    package func snapshot() -> TaskSnapshot { snapshot(at: Observation.current.time) }

    func snapshot(at time: Duration) -> TaskSnapshot {
        // A copy, which costs nothing: all else is done without the lock.
        state.withLock { $0 }.snapshot(at: time)
    }
}
