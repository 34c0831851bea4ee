@_spi(Observers) public import TaskControl
internal import _TaskControlShared

/// The owners, tasks and calls of TaskControl that existed at one point in time, with the tasks and calls for which
/// each of them waited, and with probable problems such as deadlocks.
///
/// A snapshot can be printed, compared, encoded and decoded. ``current()`` returns a snapshot of the process.
///
/// The encoded form has a version, ``schemaVersion``. A snapshot of any version can be decoded: what only a later version has
/// is left out, and what an earlier version does not have is empty.
public struct TaskSnapshot: Sendable, Hashable {
    /// The version of the encoded form that this library writes, as `schemaVersion` beside the other values.
    public static let schemaVersion = 1

    /// The instances that own tasks or admit callers (such as lifetimes, stores, queues, flights and semaphores), in the order of their first events.
    public let owners: [Owner]
    /// The tasks and calls that belong to no owner, such as an `AsyncTask` without a lifetime, or a call of `retry` in a task that was not started
    /// with this library.
    public let others: [Entry]
    /// The probable problems that were found in the snapshot.
    public let warnings: [Warning]
    /// The number of dropped tasks since tracking began. A dropped task is an `AsyncTask` whose last handle was
    /// released before the task was bound to a lifetime, stored or detached; it is then cancelled.
    public let droppedCount: Int
    /// The number of tasks and calls, since tracking began, that were not tracked because a limit was reached when they
    /// began. The limits are 65,536 tracked tasks and calls, and 65,536 tracked owners.
    public let omittedCount: Int
    /// Whether tasks were tracked when the snapshot was taken. If `false`, the snapshot is empty.
    public let isTracking: Bool

    static var untracked: TaskSnapshot {
        TaskSnapshot(owners: [], others: [], warnings: [], droppedCount: 0, omittedCount: 0, isTracking: false)
    }

    /// An instance that owns tasks or admits callers, such as a lifetime, a store, a queue or a semaphore.
    public struct Owner: Sendable, Hashable, Identifiable {
        /// The identity of the owner, which its events also contain.
        public let id: TaskEvent.Identity
        /// The type of the owner, such as `TaskStore`.
        public let primitive: TaskEvent.Primitive
        /// The name of the owner; `nil` if it was created without one.
        public let name: String?
        /// The time since the owner was created. If tracking began later, the time since the first tracked event of the
        /// owner.
        public let age: Duration
        /// Whether the owner is closed: it accepts no more tasks.
        public let isClosed: Bool
        /// Whether the owner, a store or a queue, is paused: no task begins until `resume()` is called, so those that wait are
        /// no hang.
        public let isPaused: Bool
        /// Whether the owner has been deallocated while some of its tasks still run.
        public let isDeallocated: Bool
        /// The number of permits of an `AsyncSemaphore` that were taken by `acquire` or `tryAcquire`, and are not yet
        /// released. The permits of `withPermit` and `acquirePermit` are not included: they are among the ``entries``.
        /// Zero if the owner is not a semaphore.
        public let permitsOut: Int
        /// The state of a circuit breaker that is open or half-open; `nil` if the breaker is closed and so admits all
        /// calls, or if the owner is not a circuit breaker.
        public let circuit: Circuit?
        /// The number of calls that the owner, if it is a circuit breaker or a limiter, has refused
        /// since the first of its events that was tracked (see ``startTracking()``). Zero for other owners.
        public let refusedCount: Int
        /// The time since the owner last refused a call; `nil` if ``refusedCount`` is zero.
        public let lastRefusalAge: Duration?
        /// The tasks of the owner, the calls that wait for or have its permission to run (such as a turn of a queue, or
        /// a permit of a semaphore), and the callers that wait with `drain()` until the owner is empty, in the order in
        /// which they began.
        public let entries: [Entry]
    }

    /// The state of a circuit breaker that does not admit all calls.
    @nonexhaustive
    public enum Circuit: Sendable, Hashable {
        /// The breaker has been open for the given time, and no probe (a call that tests whether the service works
        /// again) has begun.
        case open(for: Duration)
        /// The breaker is half-open: it has admitted a probe (a call that tests whether the service works again), and
        /// has neither closed nor opened since then. The latest probe began the given time ago.
        case halfOpen(for: Duration)
    }

    /// A task or a call in a snapshot, such as a task of a store, a flight (one run of an operation that several
    /// callers share), or a call of `retry`.
    public struct Entry: Sendable, Hashable, Identifiable {
        /// The identity of the task or call, which its events also contain.
        public let id: TaskEvent.Identity
        /// The type or function of the library to which the task or call belongs, such as `FIFOQueue` or `retry`.
        public let primitive: TaskEvent.Primitive
        /// The name of the task or call; `nil` if it has none.
        public let name: String?
        /// The key of the task or call, such as the key of a task in a `TaskStore`, after redaction by
        /// `TaskDiagnostics.Configuration.redact`; `nil` if the task or call has no key.
        public let key: String?
        /// The HTTP request that the call sends, or the place in the source where the task or call began, after
        /// redaction by `TaskDiagnostics.Configuration.redact`; `nil` if neither is known.
        public let detail: String?
        /// The task or call in which this task or call began, if that one has not ended and is known; otherwise `nil`.
        /// Also `nil` for the ``calls``, which began in the entry that contains them.
        public let begunIn: TaskEvent.Identity?
        /// The number of the current attempt, beginning with 1; `nil` if the task or call makes no attempts.
        public let attempt: Int?
        /// The phase of the task or call: whether it waits or runs.
        public let phase: TaskEvent.Phase
        /// The time since the beginning of the task or call.
        public let age: Duration
        /// The time since the task or call entered its ``phase``.
        public let phaseAge: Duration
        /// The whole duration of the current wait, if the task or call only waits until a time has passed, such as the
        /// delay of a retry; otherwise `nil`.
        public let delay: Duration?
        /// The time since the cancellation of the task or call; `nil` if the task or call was not cancelled.
        public let cancelledAge: Duration?
        /// The cause of the cancellation, after redaction by `TaskDiagnostics.Configuration.redact`; `nil` if the task
        /// or call was not cancelled, or the cause is unknown. For example, "superseded: draft" means that a newer task
        /// with the key "draft" has replaced the task.
        public let cancellationCause: String?
        /// The tasks and calls for which this task or call waits: they hold a permit or a turn that it needs, or must
        /// run or end first. At most eight of them are listed.
        public let waitsFor: [TaskEvent.Identity]
        /// The number of callers that wait for this task or call, such as the callers that share a flight.
        public let waiterCount: Int
        /// The calls of this library that run within this task or call, such as a `retry`, in the order in which they
        /// began.
        public let calls: [Entry]
    }

    /// A probable problem that was found in a snapshot.
    @nonexhaustive
    public enum Warning: Sendable, Hashable {
        /// The task was cancelled, the given time ago, and still runs: it does not check for cancellation, or its
        /// cleanup takes long.
        case cancelledButRunning(TaskEvent.Identity, since: Duration)
        /// The task, an `AsyncTask`, was cancelled and still runs. It was cancelled because its last handle was
        /// released before the task was bound to a lifetime, stored or detached.
        case dropped(TaskEvent.Identity)
        /// The tasks and calls are in a deadlock: each of them waits for the next, and the last one for the first. None
        /// of them will ever continue.
        case waitsForItself([TaskEvent.Identity])
    }
}

extension TaskSnapshot {
    /// Returns the part of the snapshot that concerns the given tasks and calls: their entries, the entries for which
    /// they wait directly or indirectly, and the owners and the warnings of these entries. The counts of the snapshot
    /// (``droppedCount`` and ``omittedCount``) remain the same.
    ///
    /// - Parameter ids: The identities of the tasks and calls.
    /// - Complexity: O(*n*) in the number of entries and waits.
    ///
    /// - Note: Only with `@_spi(Observers) import TaskControlSnapshot`.
    @_spi(Observers) public func concerning(_ ids: Set<TaskEvent.Identity>) -> TaskSnapshot {
        var waits: [TaskEvent.Identity: [TaskEvent.Identity]] = [:]
        for entry in owners.flatMap(\.entries) + others { entry.collectWaits(&waits) }
        var (kept, rest) = (ids, Array(ids))
        while let id = rest.popLast() {
            for other in waits[id] ?? [] where kept.insert(other).inserted { rest.append(other) }
        }
        return TaskSnapshot(
            owners: owners.compactMap { $0.concerning(kept) },
            others: others.filter { $0.concerns(kept) },
            warnings: warnings.filter { !kept.isDisjoint(with: $0.ids) },
            droppedCount: droppedCount,
            omittedCount: omittedCount,
            isTracking: isTracking
        )
    }
}

extension TaskSnapshot.Entry {
    /// Adds to `waits`, for the entry and each of its nested calls, the tasks and calls for which it waits, and its own
    /// nested calls.
    fileprivate func collectWaits(_ waits: inout [TaskEvent.Identity: [TaskEvent.Identity]]) {
        waits[id] = waitsFor + calls.map(\.id)
        for call in calls { call.collectWaits(&waits) }
    }

    fileprivate func concerns(_ ids: Set<TaskEvent.Identity>) -> Bool {
        ids.contains(id) || calls.contains { $0.concerns(ids) }
    }
}

extension TaskSnapshot.Owner {
    fileprivate func concerning(_ ids: Set<TaskEvent.Identity>) -> Self? {
        let entries = entries.filter { $0.concerns(ids) }
        guard !entries.isEmpty else { return nil }
        return Self(
            id: id,
            primitive: primitive,
            name: name,
            age: age,
            isClosed: isClosed,
            isPaused: isPaused,
            isDeallocated: isDeallocated,
            permitsOut: permitsOut,
            circuit: circuit,
            refusedCount: refusedCount,
            lastRefusalAge: lastRefusalAge,
            entries: entries
        )
    }
}

extension TaskSnapshot.Warning {
    fileprivate var ids: [TaskEvent.Identity] {
        switch self {
        case .cancelledButRunning(let id, _), .dropped(let id): [id]
        case .waitsForItself(let ids): ids
        }
    }
}

extension TaskSnapshot {
    private static let trackerOfProcess = Guarded<TaskTracker?>(nil)

    /// The tracker of this process, or of a simulated one.
    private static var tracker: Guarded<TaskTracker?> {
        TaskDiagnostics.processValue(of: Self.self, trackerOfProcess) { Guarded(nil) }
    }

    /// The tracker of ``startTracking()``; `nil` if that was not called.
    static var processTracker: TaskTracker? { tracker.withLock { $0 } }

    /// Starts to track the owners, tasks and calls of this process, so that ``current()`` can return them. Only the
    /// first call has an effect.
    ///
    /// ```swift
    /// TaskSnapshot.startTracking()       // when the program begins
    /// // … and when something hangs:
    /// print(TaskSnapshot.current())
    /// ```
    ///
    /// If you configure the clock or the redaction of diagnostics (with `TaskDiagnostics.configure(_:)`), do it before
    /// this call: times and texts that were recorded before are not changed.
    public static func startTracking() {
        let fresh = TaskTracker()
        let isFirst = tracker.withLock { tracker in
            guard tracker == nil else { return false }
            tracker = fresh
            return true
        }
        if isFirst { TaskDiagnostics.install(fresh) }
    }

    /// Returns a snapshot of the owners, tasks and calls that currently exist in this process, with the tasks and calls
    /// for which each of them waits, and with probable problems such as deadlocks.
    ///
    /// Call ``startTracking()`` when the program begins: tasks that began before that call are not included. If
    /// ``startTracking()`` was never called, the snapshot is empty, and its ``isTracking`` is `false`.
    ///
    /// - Complexity: O(*n* log *n*) for *n* existing tasks, owners and calls.
    public static func current() -> TaskSnapshot {
        (tracker.withLock { $0 } ?? trackerOfProcess.withLock { $0 })?.snapshot() ?? .untracked
    }
}
