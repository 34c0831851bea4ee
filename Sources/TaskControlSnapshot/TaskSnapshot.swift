public import TaskControl

/// The owners, tasks and calls that lived at a moment: which task waits for which, and what looks wrong.
///
/// It can be printed, compared, encoded and decoded. ``current()`` returns that of the process.
public struct TaskSnapshot: Sendable, Hashable, Codable {
    /// What has tasks, or takes turns: lifetimes, stores, queues, flights, semaphores; in the order in which they were first heard of.
    public let owners: [Owner]
    /// What belongs to none of them, such as an `AsyncTask` without a lifetime, or a `retry` in a task that is not the library's.
    public let others: [Entry]
    /// What looks wrong.
    public let warnings: [Warning]
    /// How many tasks that nobody had an owner for were dropped, and cancelled, since tracking began.
    public let droppedCount: Int
    /// How many tasks and calls are not here, since there were too many when they began.
    public let omittedCount: Int
    /// Whether there was anything to see.
    public let isTracking: Bool

    static var untracked: TaskSnapshot {
        TaskSnapshot(owners: [], others: [], warnings: [], droppedCount: 0, omittedCount: 0, isTracking: false)
    }

    /// A lifetime, a store, a queue, flights, a semaphore.
    public struct Owner: Sendable, Hashable, Codable, Identifiable {
        /// By what events know it.
        public let id: TaskEvent.Identity
        /// What it is.
        public let primitive: TaskEvent.Primitive
        /// The name that it was given.
        public let name: String?
        /// How long it has been there; if tracking began later, how long it has been heard of.
        public let age: Duration
        /// Whether it takes in nothing more.
        public let isClosed: Bool
        /// Whether it has been let go of, and some of its tasks still run.
        public let isDeallocated: Bool
        /// Permits that were got by a call that says nothing of their return.
        public let permitsOut: Int
        /// The state of a circuit breaker that does not admit all calls; `nil`: it does, or this is no breaker.
        public let circuit: Circuit?
        /// The number of calls that a breaker, a throttle or a limiter has refused, since it was first heard of.
        public let refusedCount: Int
        /// How long ago the last call was refused; `nil`: none was.
        public let lastRefusalAge: Duration?
        /// Its tasks and turns, and who waits for it to be empty, in the order in which they came.
        public let entries: [Entry]
    }

    /// A circuit breaker that does not admit all calls.
    @nonexhaustive
    public enum Circuit: Sendable, Hashable, Codable {
        /// It has opened, and no probe has begun since.
        case open(for: Duration)
        /// A probe has begun since it opened, and the breaker has neither closed nor opened again.
        case halfOpen(for: Duration)
    }

    /// A task, a turn, a flight, a call.
    public struct Entry: Sendable, Hashable, Codable, Identifiable {
        /// By what events know it.
        public let id: TaskEvent.Identity
        /// What it is.
        public let primitive: TaskEvent.Primitive
        /// The name of its task.
        public let name: String?
        /// Its key, redacted.
        public let key: String?
        /// The request, or the place in the source, redacted.
        public let detail: String?
        /// Which attempt it is at.
        public let attempt: Int?
        /// Whether it waits or runs.
        public let phase: TaskEvent.Phase
        /// Since it began.
        public let age: Duration
        /// Since it waits, or runs.
        public let phaseAge: Duration
        /// How long the wait will be that it is in, if that is for time alone.
        public let delay: Duration?
        /// Since its cancellation was asked for; `nil`: it was not.
        public let cancelledAge: Duration?
        /// Why it was cancelled, such as "superseded: draft", redacted; `nil`: it was not, or the cause is unknown.
        public let cancellationCause: String?
        /// For whom it waits: who runs before it, holds what it needs, or is to end.
        public let waitsFor: [TaskEvent.Identity]
        /// How many tasks wait for it, as those that have joined a flight.
        public let waiterCount: Int
        /// What its task is doing, the outermost first.
        public let calls: [Entry]
    }

    /// What looks wrong.
    @nonexhaustive
    public enum Warning: Sendable, Hashable, Codable {
        /// It was cancelled a while ago, and still runs: it does not look, or takes its time to clean up.
        case cancelledButRunning(TaskEvent.Identity, since: Duration)
        /// Nobody had said what it lives for when its last handle went, and it still runs.
        case dropped(TaskEvent.Identity)
        /// Each waits for the next, and the last for the first: none of them will ever go on.
        case waitsForItself([TaskEvent.Identity])
    }
}
