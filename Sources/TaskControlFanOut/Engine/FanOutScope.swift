internal import TaskControl

/// The running tasks of one fan-out. Records the cause of their cancellation, so that `Task.cancellationCause` returns
/// it in each of them.
///
/// The causes are recorded when the tasks are cancelled, and not when each task begins. So a task that is not cancelled
/// costs only two short critical sections.
@usableFromInline
final class _FanOutScope: Sendable {
    private static let failed = CancellationCause.requested(reason: "another operation has failed")

    private enum Phase {
        case running
        /// The caller of the fan-out was cancelled. The tasks have the same cause of cancellation as the caller.
        case callerCancelled
        case cancelled(CancellationCause)
    }

    private struct State {
        var phase = Phase.running
        var tasks = SlotTable<TaskAddress>()
    }

    private let caller = TaskAddress.running
    private let state = Locked(State())

    /// Creates the scope of a fan-out whose caller is the running task.
    @usableFromInline init() {}

    /// Adds the running task, which has just begun. If the fan-out is already cancelled, records the cause for the
    /// task.
    ///
    /// - Returns: The index of the task in the scope, which the task passes to ``end(_:)``.
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

    /// Removes the running task, which is about to end.
    ///
    /// - Parameter place: The index that ``begin()`` returned.
    @usableFromInline
    func end(_ place: Int32) {
        state.withLock { $0.tasks.discard(place) }
        CancellationCauses.forget(.running)
    }

    /// Records, before the tasks are cancelled, that they are cancelled because one of them has failed.
    @usableFromInline
    func fail() { cancel(because: Self.failed) }

    /// Records the cause of the tasks' cancellation. Does not cancel the tasks: the caller must cancel them afterwards.
    /// Has no effect if a cause was already recorded.
    func cancel(because cause: CancellationCause) {
        state.withLock { state in
            guard case .running = state.phase else { return }
            state.phase = .cancelled(cause)
            // While the lock is held, no task can leave the scope and be deallocated.
            forEachTask(of: state) { CancellationCauses.record(cause, for: $0) }
        }
    }

    /// Records that the caller is being cancelled, so that the tasks have the same cause as the caller. Called by the
    /// cancellation handler of the caller, perhaps more than once.
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
