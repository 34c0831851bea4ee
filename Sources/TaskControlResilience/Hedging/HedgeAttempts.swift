internal import TaskControl

/// The tasks of the attempts of one hedged call that have not ended: when the call is decided, they receive the cause of their cancellation.
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

    /// An attempt begins in the running task.
    @usableFromInline
    func begin() {
        let task = TaskAddress.running
        CancellationCauses.link(task, to: caller)
        state.withLock { state in
            state.tasks.insert(task)
            if state.isDecided { CancellationCauses.record(Self.cause, for: task) }
        }
    }

    /// The attempt of the running task has ended.
    @usableFromInline
    func end() {
        let task = TaskAddress.running
        state.withLock { _ = $0.tasks.remove(task) }
        CancellationCauses.forget(task)
    }

    /// The call is decided: the tasks of the other attempts are cancelled after this.
    @usableFromInline
    func decide() {
        state.withLock { state in
            state.isDecided = true
            // Under the lock, under which the tasks are known to have their ends before them.
            for task in state.tasks { CancellationCauses.record(Self.cause, for: task) }
        }
    }
}
