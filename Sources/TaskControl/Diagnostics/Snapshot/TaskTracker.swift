/// Keeps the books of what lives, from what it is told.
final class TaskTracker: TaskObserver {
    private let state = Locked(TrackerStateMachine(limit: TaskTracker.limit))

    /// How many tasks, turns and calls it knows at once. What comes then is counted.
    static var limit: Int { 65_536 }

    func receive(_ event: TaskEvent) {
        state.withLock { $0.receive(event) }
    }

    func snapshot(at time: Duration) -> TaskSnapshot {
        // A copy, which costs nothing: all else is done without the lock.
        state.withLock { $0 }.snapshot(at: time)
    }
}
