internal import TaskControl

/// The tasks of one fan-out that have not ended: when they are cancelled, they learn why.
///
/// Causes are recorded at the cancellation and not at the beginning of each task: a task that is not cancelled costs two short sections under a lock.
@usableFromInline
final class _FanOutScope: Sendable {
    private static let failed = CancellationCause.requested(reason: "another operation has failed")

    private enum Phase {
        case running
        /// The caller was cancelled: the tasks have its cause.
        case callerCancelled
        case cancelled(CancellationCause)
    }

    private struct State {
        var phase = Phase.running
        var tasks = SlotTable<TaskAddress>()
    }

    private let caller = TaskAddress.running
    private let state = Locked(State())

    /// Begins a fan-out of the running task.
    @usableFromInline init() {}

    /// Adds the running task.
    ///
    /// - Returns: The place of the task, for `end`.
    @usableFromInline
    func begin() -> Int32 {
        let task = TaskAddress.running
        return state.withLock { state in
            switch state.phase {
            case .running: break
            case .callerCancelled: CancellationCauses.link(task, to: caller)
            case .cancelled(let cause): CancellationCauses.record(cause, for: task)
            }
            return state.tasks.insert(task)
        }
    }

    /// Removes the running task, which ends.
    @usableFromInline
    func end(_ place: Int32) {
        state.withLock { $0.tasks.discard(place) }
        CancellationCauses.forget(.running)
    }

    /// Records, before the tasks are cancelled, that they are cancelled because one of them has failed.
    @usableFromInline
    func fail() { cancel(because: Self.failed) }

    /// Records the cause of the tasks' cancellation, before they are cancelled. The first cause counts.
    func cancel(because cause: CancellationCause) {
        state.withLock { state in
            guard case .running = state.phase else { return }
            state.phase = .cancelled(cause)
            // Under the lock, under which the tasks are known to have their ends before them.
            forEachTask(of: state) { CancellationCauses.record(cause, for: $0) }
        }
    }

    /// Records that the caller is being cancelled, and with it the tasks. Called by the cancellation handler of the caller; perhaps more than once.
    @usableFromInline
    func callerIsCancelled() {
        state.withLock { state in
            guard case .running = state.phase else { return }
            state.phase = .callerCancelled
            forEachTask(of: state) { CancellationCauses.link($0, to: caller) }
        }
    }

    private func forEachTask(of state: State, _ body: (TaskAddress) -> Void) {
        for place in 0..<state.tasks.extent where state.tasks.isOccupied(place) { body(state.tasks[place]) }
    }
}
