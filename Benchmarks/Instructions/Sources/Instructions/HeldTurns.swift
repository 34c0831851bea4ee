import Synchronization

// A FIFO queue of another design: the first job of a task is held until its turn, so that a task that waits has not begun, and neither asks for its turn
// nor parks. Operations that are isolated or can throw cannot be held: the former are enqueued on their actor, and the latter must leave when they are
// cancelled. Without priorities, events, groups, draining or the end of the queue, so that its count is the least that the design takes.

final class HeldTurns: TaskExecutor {
    private struct State: ~Copyable {
        var ring: [UnownedJob?] = Array(repeating: nil, count: 128)
        var head = 0
        var count = 0
        var isRunning = false
        /// Whether the next job is the first one of a new task.
        var isCreating = false
    }

    private let state = Mutex(State())

    /// Creates the task of a turn, whose first job is the next one that comes to `enqueue(_:)`: `Task.init` enqueues it before it returns.
    func start(_ operation: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        state.withLock { $0.isCreating = true }
        return Task(executorPreference: self) { [self] in
            await operation()
            finish()
        }
    }

    /// Creates the task of a turn with a task-local that marks it.
    func startMarked(_ operation: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        state.withLock { $0.isCreating = true }
        return Task(executorPreference: self) { [self] in
            await Mark.current.withValue(Mark(queue: self, serial: 1, outer: [])) { await operation() }
            finish()
        }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isHeld = state.withLock { state in
            guard state.isCreating else { return false }
            state.isCreating = false
            guard state.isRunning else {
                state.isRunning = true
                return false
            }
            precondition(state.count < state.ring.count, "A measurement has at most \(state.ring.count) tasks at once.")
            state.ring[(state.head + state.count) % state.ring.count] = job
            state.count += 1
            return true
        }
        if !isHeld { globalConcurrentExecutor.enqueue(ExecutorJob(job)) }
    }

    private func finish() {
        let next: UnownedJob? = state.withLock { state in
            guard state.count > 0 else {
                state.isRunning = false
                return nil
            }
            defer { (state.head, state.count) = ((state.head + 1) % state.ring.count, state.count - 1) }
            return state.ring[state.head]
        }
        if let next { globalConcurrentExecutor.enqueue(ExecutorJob(next)) }
    }

    struct Mark: Sendable {
        let queue: HeldTurns?
        let serial: UInt64
        let outer: [UInt64]

        static let current = TaskLocal(wrappedValue: Mark(queue: nil, serial: 0, outer: []))
    }
}

/// Starts tasks in hundreds, and waits for the last one of each.
nonisolated func startHeldTurns(
    _ count: Int,
    _ start: @Sendable (HeldTurns, @escaping @Sendable () async -> Void) -> Task<Void, Never>
) async {
    let queue = HeldTurns()
    for _ in 0..<count / 100 {
        var last: Task<Void, Never>?
        for _ in 0..<100 { last = start(queue) { @concurrent in } }
        await last?.value
    }
}
