internal import TaskControl

/// The work of an iterator: a task that pulls the source, from the first call of `next()` to the release of the iterator.
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
    /// The phase, which calls of `next()` change, one at a time, and the end of this object.
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

    /// Returns the next result.
    ///
    /// - Returns: `nil`: the source has ended, or an error was thrown before.
    @usableFromInline
    nonisolated(nonsending) func next() async throws -> _FanOutValue? {
        guard let task = task() else { return nil }
        while true {
            if _isTaskCancelled {
                // The text of a key is code of the client: not called while the lock is held.
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

    /// Returns the task of the work, which begins here if it has not begun; `nil` after the end.
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
