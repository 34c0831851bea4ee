internal import TaskControl

/// A child of a ``SupervisionEngine``, that is, work that is restarted when it fails: its operation, its backoff, the
/// owner of its tasks, and its state with the streams of this state.
///
/// It is Sendable because `index` is written once, under the lock of the engine, before that lock makes the child visible
/// to other tasks.
final class SupervisedChild: @unchecked Sendable {
    typealias Operation = @isolated(any) @Sendable (SupervisedRun) async throws -> Void
    typealias Condition = @Sendable () async -> AsyncStream<Bool>

    /// The operation of the child, wrapped in a struct: `Locked<Operation?>`, whose generic argument is an
    /// `@isolated(any)` function, would need the runtime of macOS 15.
    private struct Work {
        let operation: Operation
    }

    /// The number of the child among all children that were added to its ``SupervisionEngine``, counted from 0. Never
    /// reused. -1 if the engine has refused the child.
    @exclusivity(unchecked) var index = -1
    let name: String
    /// The time for which a run can continue after it was asked to stop.
    let grace: Duration
    let backoff: RetryBackoff
    let priority: TaskPriority?
    /// The operation; `nil` after the end of the child, so that the captures of the operation are released.
    private let work: Locked<Work?>
    /// The identity of the child in events.
    let subject = TaskEvent.Identity(Diagnostics.nextNumber())
    /// The owner of the task of each run.
    let lifetime: AsyncLifetime
    /// The condition for which the child waits before it is restarted; `nil` for none.
    let condition: Condition?
    /// The owner of the task that reads the reports of the condition; `nil` without a condition.
    let conditions: AsyncLifetime?
    private let storedRun = Locked<SupervisedRunStorage?>(nil)
    let publication = StatePublication<SupervisedWork.State>(.starting)
    private let failure = Locked<SupervisionError.FailedRun?>(nil)

    init(
        _ name: String,
        _ grace: Duration,
        _ backoff: RetryBackoff,
        _ priority: TaskPriority?,
        _ condition: Condition?,
        _ operation: @escaping Operation
    ) {
        self.name = name
        self.grace = grace
        self.backoff = backoff
        self.priority = priority
        self.condition = condition
        conditions = condition == nil ? nil : AsyncLifetime(name: name)
        work = Locked(Work(operation: operation))
        lifetime = AsyncLifetime(name: name)
    }

    /// The current run of the child, or its last one; `nil` before the first run, and when the child was removed. Set only
    /// by the coordinator.
    var latestRun: SupervisedRunStorage? {
        get { storedRun.withLock(\.self) }
        set {
            let old = storedRun.withLock { run in
                defer { run = newValue }
                return run
            }
            // Released here, where the lock is free.
            withExtendedLifetime(old) {}
        }
    }

    /// The last failure because of which no run of the child is ready; `nil` if there is none.
    var lastFailure: SupervisionError.FailedRun? {
        get { failure.withLock(\.self) }
        set {
            let old = failure.withLock { failure in
                defer { failure = newValue }
                return failure
            }
            // Released here, where the lock is free.
            withExtendedLifetime(old) {}
        }
    }

    /// Calls the operation for one run of the child, and throws the error of the operation. Has no effect after the end
    /// of the child.
    ///
    /// - Parameter run: The value that the operation receives.
    func run(_ run: SupervisedRun) async throws {
        guard let work = work.withLock({ $0 }) else { return }
        try await Self.call(work.operation, run, isolation: work.operation.isolation)
    }

    /// Calls the operation, or throws `CancellationError` if the current task is cancelled. The check runs in the
    /// isolation of the operation, so it also detects a cancellation that happens while the task switches to that
    /// isolation.
    ///
    /// - Parameters:
    ///   - run: The value that the operation receives.
    ///   - isolation: The isolation of the operation.
    private static func call(
        _ operation: Operation,
        _ run: SupervisedRun,
        isolation: isolated (any Actor)?
    ) async throws {
        try Task.checkCancellation()
        try await operation(run)
    }

    /// Publishes the last state of the child, and releases its operation. Must not be called while a run is in
    /// progress.
    func end(_ state: SupervisedWork.State) {
        publication.publish(state, isFinal: state.isFinal)
        lifetime.close()
        conditions?.close()
        let ended = work.withLock { work in
            defer { work = nil }
            return work
        }
        // This may be the last reference to the captures of the operation. It is released here, where the lock is free.
        withExtendedLifetime(ended) {}
    }

    /// The error that a caller receives if it waits for the child to become ready, but the child ends instead.
    var error: SupervisionError { SupervisionError(of: publication.state, name: name) }
}

extension SupervisionError {
    /// Creates the error of a caller that waits for work that has ended with a state.
    init(of state: SupervisedWork.State, name: String) {
        switch state {
        case .failed(let causes): self.init(name: name, reason: .failed, causes: causes)
        case .completed: self.init(name: name, reason: .completed, causes: [])
        default: self.init(name: name, reason: .stopped, causes: [])
        }
    }
}
