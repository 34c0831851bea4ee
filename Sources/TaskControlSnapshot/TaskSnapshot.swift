public import TaskControl

/// The owners, tasks and calls that lived at a moment: which task waits for which, and the problems.
///
/// A snapshot can be printed, compared, encoded and decoded. ``current()`` returns a snapshot of the process.
public struct TaskSnapshot: Sendable, Hashable, Codable {
    /// The instances that have tasks or give turns: lifetimes, stores, queues, flights, semaphores; in the order of their first events.
    public let owners: [Owner]
    /// The tasks and calls that belong to no owner, such as an `AsyncTask` without a lifetime, or a `retry` in a task that is not the library's.
    public let others: [Entry]
    /// The problems that the snapshot shows.
    public let warnings: [Warning]
    /// The number of tasks without an owner that were dropped, and cancelled, since tracking began.
    public let droppedCount: Int
    /// The number of tasks and calls that are not included, since there were too many when they began.
    public let omittedCount: Int
    /// Whether there was anything to see.
    public let isTracking: Bool

    static var untracked: TaskSnapshot {
        TaskSnapshot(owners: [], others: [], warnings: [], droppedCount: 0, omittedCount: 0, isTracking: false)
    }

    /// A lifetime, a store, a queue, flights, a semaphore.
    public struct Owner: Sendable, Hashable, Codable, Identifiable {
        /// The identity of the owner in events.
        public let id: TaskEvent.Identity
        /// The primitive of the owner.
        public let primitive: TaskEvent.Primitive
        /// The name that it was given.
        public let name: String?
        /// The time since the owner was created; if tracking began later, the time since its first event.
        public let age: Duration
        /// Whether it takes in nothing more.
        public let isClosed: Bool
        /// Whether the owner has been deallocated while some of its tasks still run.
        public let isDeallocated: Bool
        /// Permits that were got by a call that says nothing of their return.
        public let permitsOut: Int
        /// The state of a circuit breaker that does not admit all calls; `nil`: it does, or this is no breaker.
        public let circuit: Circuit?
        /// The number of calls that a breaker, a throttle or a limiter has refused, since its first event.
        public let refusedCount: Int
        /// The time since the last call was refused; `nil`: none was.
        public let lastRefusalAge: Duration?
        /// The tasks and turns of the owner, and the callers that wait for it to be empty, in the order in which they came.
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

    /// A task, a turn, a flight, a call.
    public struct Entry: Sendable, Hashable, Codable, Identifiable {
        /// The identity of the task or call in events.
        public let id: TaskEvent.Identity
        /// The primitive of the task or call.
        public let primitive: TaskEvent.Primitive
        /// The name of its task.
        public let name: String?
        /// The key, redacted.
        public let key: String?
        /// The request, or the place in the source, redacted.
        public let detail: String?
        /// The number of the current attempt.
        public let attempt: Int?
        /// Whether it waits or runs.
        public let phase: TaskEvent.Phase
        /// The time since the beginning of the task or call.
        public let age: Duration
        /// The time since the task or call began to wait, or to run.
        public let phaseAge: Duration
        /// The length of the current wait, if it is a wait for time alone.
        public let delay: Duration?
        /// The time since the cancellation of the task or call; `nil`: it was not cancelled.
        public let cancelledAge: Duration?
        /// The cause of the cancellation, such as "superseded: draft", redacted; `nil`: it was not cancelled, or the cause is unknown.
        public let cancellationCause: String?
        /// The subjects that it waits for: they run before it, hold what it needs, or must end first.
        public let waitsFor: [TaskEvent.Identity]
        /// The number of tasks that wait for it, such as the callers that have joined a flight.
        public let waiterCount: Int
        /// The calls that its task is in, the outermost first.
        public let calls: [Entry]
    }

    /// A problem that a snapshot shows.
    @nonexhaustive
    public enum Warning: Sendable, Hashable, Codable {
        /// A task that was cancelled a while ago and still runs: it does not check for cancellation, or takes its time to clean up.
        case cancelledButRunning(TaskEvent.Identity, since: Duration)
        /// A task whose last handle was released before its lifetime was stated, and that still runs.
        case dropped(TaskEvent.Identity)
        /// A deadlock: each waits for the next, and the last for the first. None of them will ever continue.
        case waitsForItself([TaskEvent.Identity])
    }
}
