internal import TaskControl

/// A child as it was added: its operation, its rules, its owner, and the state that others see.
final class SupervisedChild: Sendable {
    typealias Operation = @isolated(any) @Sendable (SupervisedRun) async throws -> Void

    /// A struct, since a generic type whose parameter is a function of an isolation needs the runtime of macOS 15.
    private struct Work {
        let operation: Operation
    }

    /// The number of the child in its group, which is never used again.
    let index: Int
    let name: String
    let backoff: RetryBackoff
    let priority: TaskPriority?
    /// `nil` after the end: the child keeps nothing alive that its operation has captured.
    private let work: Locked<Work?>
    /// The identity of the child in events.
    let subject = TaskEvent.Identity(Diagnostics.nextNumber())
    /// Owns the task of the run.
    let lifetime: AsyncLifetime
    let publication = StatePublication<SupervisedWork.State>(.starting)
    /// The priority to which waiting tasks have raised the child; `nil`: none since it was ready.
    private let raisedTo = Locked<TaskPriority?>(nil)

    init(
        _ index: Int,
        _ name: String,
        _ backoff: RetryBackoff,
        _ priority: TaskPriority?,
        _ operation: @escaping Operation
    ) {
        self.index = index
        self.name = name
        self.backoff = backoff
        self.priority = priority
        work = Locked(Work(operation: operation))
        lifetime = AsyncLifetime(name: name)
    }

    /// Runs the operation.
    func run(_ run: SupervisedRun) async throws {
        guard let work = work.withLock({ $0 }) else { return }
        try await Self.call(work.operation, run, isolation: work.operation.isolation)
    }

    /// Checks for a cancellation in the isolation of the operation: a cancellation on the way there counts.
    private static func call(
        _ operation: Operation,
        _ run: SupervisedRun,
        isolation: isolated (any Actor)?
    ) async throws {
        try Task.checkCancellation()
        try await operation(run)
    }

    /// Raises the run, and those that follow until one is ready.
    func raise(to priority: TaskPriority) {
        raisedTo.withLock { $0 = max($0 ?? priority, priority) }
        lifetime.raise(to: priority)
    }

    /// Raises a run that has just been started.
    func raiseRun() {
        if let priority = raisedTo.withLock({ $0 }) { lifetime.raise(to: priority) }
    }

    /// The child is ready: no task waits for that any more.
    func forgetRaise() { raisedTo.withLock { $0 = nil } }

    /// Publishes the end. No run is under way.
    func end(_ state: SupervisedWork.State) {
        publication.publish(state, isFinal: state.isFinal)
        lifetime.close()
        let ended = work.withLock { work in
            defer { work = nil }
            return work
        }
        // Perhaps the last reference to what it has captured: released here, where the lock is free.
        withExtendedLifetime(ended) {}
    }

    /// The error of a caller that has waited for more than the child had.
    var error: SupervisionError {
        switch publication.state {
        case .failed(let causes): SupervisionError(name: name, reason: .failed, causes: causes)
        case .completed: SupervisionError(name: name, reason: .completed, causes: [])
        default: SupervisionError(name: name, reason: .stopped, causes: [])
        }
    }
}
