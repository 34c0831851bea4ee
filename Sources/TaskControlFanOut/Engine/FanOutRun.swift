internal import TaskControl

/// The work of an iterator of ``ConcurrentMapSequence``: a task that takes the elements of the source and runs the
/// operations. The first call of `next()` starts the task, and the release of the iterator cancels it.
@usableFromInline
final class _FanOutRun: Sendable {
    @usableFromInline typealias Pump = @Sendable (_FanOutStorage, _ name: String?) async -> Void

    private enum Phase {
        case idle(Pump)
        case running(Task<Void, Never>)
        /// `next()` has returned `nil` or thrown.
        case over
    }

    private let storage: _FanOutStorage
    /// The state of the task: not started, running, or over. Calls of `next()` change it, one call at a time. `deinit`
    /// reads it.
    private let phase: Locked<Phase>

    @usableFromInline
    init(limit: Int, order: FanOutOrder, _ pump: @escaping Pump) {
        storage = _FanOutStorage(limit: limit, order: order)
        phase = Locked(.idle(pump))
    }

    deinit {
        guard case .running(let task) = phase.withLock({ $0 }) else { return }
        storage.stop(CancellationError()) { $0.cancel(because: .ownerDeallocated(name: nil)) }
        task.cancel()
    }

    /// Waits for the next result. Starts the work with the first call.
    ///
    /// - Returns: The next result; `nil` if the source has ended and all results were taken, or if an error was thrown
    ///   before.
    /// - Throws: The first error of an operation or of the source, or `CancellationError` if the caller is cancelled,
    ///   once all work has ended.
    @usableFromInline
    nonisolated(nonsending) func next() async throws -> _FanOutValue? {
        guard let task = task() else { return nil }
        while true {
            if _isTaskCancelled {
                // Read before the lock is taken: the cause may contain the description of a key, which is code of the
                // client.
                let cause = Task.cancellationCause
                storage.stop(CancellationError()) { scope in
                    if let cause, cause != .unknown { scope.cancel(because: cause) }
                }
            }
            switch storage.take() {
            case .value(let value): return value
            case .over:
                await end(task)
                return nil
            case .failed(let error):
                task.cancel()
                await end(task)
                // A cancelled caller receives CancellationError, whatever was thrown.
                try Task.checkCancellation()
                throw error
            case nil:
                await suspend { [storage] in
                    storage.park($0, leavingIfCancelled: true)
                } onCancel: { [storage] in
                    storage.wakeConsumer()
                } raising: {
                    raise([task], to: $0)
                }
            }
        }
    }

    /// Returns the task that takes the elements and runs the operations, and starts it if it has not been started.
    /// Returns `nil` if ``next()`` has already returned `nil` or thrown.
    private func task() -> Task<Void, Never>? {
        switch phase.withLock({ $0 }) {
        case .running(let task): return task
        case .over: return nil
        case .idle(let pump):
            let (storage, name) = (storage, _FanOut.callersName)
            let task = spawn(name: name) { await pump(storage, name) }
            // Released outside the lock.
            withExtendedLifetime(pump) { phase.withLock { $0 = .running(task) } }
            return task
        }
    }

    private nonisolated(nonsending) func end(_ task: Task<Void, Never>) async {
        await task.value
        // Released outside the lock.
        withExtendedLifetime(task) { phase.withLock { $0 = .over } }
    }
}
