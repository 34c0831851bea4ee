public import TaskControl

/// The owners, tasks and calls that existed at a moment: which task waits for which, and the problems.
///
/// A snapshot can be printed, compared, encoded and decoded. ``current()`` returns a snapshot of the process.
public struct TaskSnapshot: Sendable, Hashable, Codable {
    /// The instances that have tasks or give turns: lifetimes, stores, queues, flights, semaphores; in the order of their first events.
    public let owners: [Owner]
    /// The tasks and calls that belong to no owner, such as an `AsyncTask` without a lifetime, or a `retry` in a task that is not the library's.
    public let others: [Entry]
    /// The problems that the snapshot shows.
    public let warnings: [Warning]
    /// The number of tasks, since tracking began, that were cancelled because their last handle was released before their lifetime was stated.
    public let droppedCount: Int
    /// The number of tasks and calls that are not included, since there were too many when they began.
    public let omittedCount: Int
    /// Whether tasks were tracked when the snapshot was taken. If not, the snapshot is empty.
    public let isTracking: Bool

    static var untracked: TaskSnapshot {
        TaskSnapshot(owners: [], others: [], warnings: [], droppedCount: 0, omittedCount: 0, isTracking: false)
    }

    /// An instance that has tasks or gives turns, such as a lifetime, a store, a queue or a semaphore.
    public struct Owner: Sendable, Hashable, Codable, Identifiable {
        /// The identity of the owner in events.
        public let id: TaskEvent.Identity
        /// The primitive of the owner, such as `TaskStore`.
        public let primitive: TaskEvent.Primitive
        /// The name of the owner; `nil` if it was created without one.
        public let name: String?
        /// The time since the owner was created; if tracking began later, the time since its first event.
        public let age: Duration
        /// Whether the owner is closed: it accepts no more tasks.
        public let isClosed: Bool
        /// Whether the owner has been deallocated while some of its tasks still run.
        public let isDeallocated: Bool
        /// The number of permits of a semaphore that were acquired, and not yet released, by separate calls.
        public let permitsOut: Int
        /// The state of a circuit breaker that does not admit all calls; `nil` if the breaker admits all calls, or if the owner is not a
        /// breaker.
        public let circuit: Circuit?
        /// The number of calls that a breaker, a throttle or a limiter has refused, since its first event.
        public let refusedCount: Int
        /// The time since the last call was refused; `nil` if no call was refused.
        public let lastRefusalAge: Duration?
        /// The tasks and turns of the owner, and the callers that wait for the owner to be empty, in the order in which they began.
        public let entries: [Entry]
    }

    /// A circuit breaker that does not admit all calls.
    @nonexhaustive
    public enum Circuit: Sendable, Hashable, Codable {
        /// The breaker has been open for the given time, and no probe has begun.
        case open(for: Duration)
        /// The breaker has been half-open for the given time: a probe has begun, and the breaker has neither closed nor opened again.
        case halfOpen(for: Duration)
    }

    /// A task, a turn, a flight or a call in a snapshot.
    public struct Entry: Sendable, Hashable, Codable, Identifiable {
        /// The identity of the task or call in events.
        public let id: TaskEvent.Identity
        /// The primitive of the task or call.
        public let primitive: TaskEvent.Primitive
        /// The name of the task; `nil` if it has none.
        public let name: String?
        /// The key of the task or call, redacted; `nil` if it has none.
        public let key: String?
        /// The request, or the place in the source, redacted; `nil` if neither is known.
        public let detail: String?
        /// The number of the current attempt, counted from 1; `nil` if there are no attempts.
        public let attempt: Int?
        /// Whether the task or call waits or runs.
        public let phase: TaskEvent.Phase
        /// The time since the beginning of the task or call.
        public let age: Duration
        /// The time since the task or call began to wait, or to run.
        public let phaseAge: Duration
        /// The length of the current wait if it only waits for time, such as the delay of a retry; otherwise `nil`.
        public let delay: Duration?
        /// The time since the cancellation of the task or call; `nil` if it was not cancelled.
        public let cancelledAge: Duration?
        /// The cause of the cancellation, such as "superseded: draft", redacted; `nil` if it was not cancelled, or the cause is unknown.
        public let cancellationCause: String?
        /// The tasks and calls for which this one waits: they run before it, hold a permit or a turn that it needs, or must end first.
        public let waitsFor: [TaskEvent.Identity]
        /// The number of tasks that wait for this task or call, such as the callers that have joined a flight.
        public let waiterCount: Int
        /// The calls that run in the task, such as a `retry`, the outermost first.
        public let calls: [Entry]
    }

    /// A problem that a snapshot shows.
    @nonexhaustive
    public enum Warning: Sendable, Hashable, Codable {
        /// A task that was cancelled a while ago and still runs: it does not check for cancellation, or its cleanup takes long.
        case cancelledButRunning(TaskEvent.Identity, since: Duration)
        /// A task whose last handle was released before its lifetime was stated, and that still runs.
        case dropped(TaskEvent.Identity)
        /// A deadlock: each task or call waits for the next, and the last for the first. None of them will ever continue.
        case waitsForItself([TaskEvent.Identity])
    }
}
