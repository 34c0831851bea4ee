internal import TaskControl

/// The tasks of those attempts of one hedged call that still run. When one attempt decides the call, the cause of the
/// cancellation is recorded for the tasks of the other attempts.
@usableFromInline
final class _HedgeAttempts: Sendable {
    private struct State {
        var isDecided = false
        var tasks: Set<TaskAddress> = []
    }

    private static let cause = CancellationCause.requested(reason: "another attempt has decided the call")

    private let caller = TaskAddress.running
    private let state = Locked(State())

    @usableFromInline init() {}

    /// Adds the current task, which begins an attempt.
    @usableFromInline
    func begin() {
        let task = TaskAddress.running
        CancellationCauses.link(task, to: caller)
        state.withLock { state in
            state.tasks.insert(task)
            if state.isDecided { CancellationCauses.record(Self.cause, for: task) }
        }
    }

    /// Removes the current task, which has ended its attempt.
    @usableFromInline
    func end() {
        let task = TaskAddress.running
        state.withLock { _ = $0.tasks.remove(task) }
        CancellationCauses.forget(task)
    }

    /// Records that the call is decided, and the cause of the cancellation for all tasks that still run. The caller
    /// must then cancel these tasks.
    @usableFromInline
    func decide() {
        state.withLock { state in
            state.isDecided = true
            // Under the lock, so that none of these tasks has ended: a task takes the lock in `end()` before it ends.
            for task in state.tasks { CancellationCauses.record(Self.cause, for: task) }
        }
    }
}
