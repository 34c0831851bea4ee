/// A group of tasks within a queue that can be cancelled all together: those that run, and those that wait.
///
/// ```swift
/// let uploads = CancellableQueue(underlyingQueue: FIFOQueue())
/// for photo in photos {
///     Task(on: uploads) { try await upload(photo) }
/// }
/// uploads.cancelTasks()
/// ```
///
/// It cancels what was sent through it. What others send to the underlying queue takes its turn in the same line, and is not concerned;
/// so one line can have several groups.
///
/// Safe to use from any thread and any isolation. Releasing it cancels nothing: what was sent still runs.
///
/// ## Ordering
/// That of the underlying queue.
///
/// ## Cancellation
/// As for each task's own handle. Once ``cancelTasks()`` has begun, no *throwing* operation begins that was sent before.
public final class CancellableQueue<UnderlyingQueue: Sendable>: Sendable {
    @usableFromInline let underlyingQueue: UnderlyingQueue
    /// Known by the name of its queue.
    let group: TaskRegistry

    /// Creates a queue that can cancel what is sent through it to a ``FIFOQueue``.
    public init(underlyingQueue: FIFOQueue) where UnderlyingQueue == FIFOQueue {
        self.underlyingQueue = underlyingQueue
        group = TaskRegistry(.cancellableQueue, name: underlyingQueue.name)
    }

    /// Creates a queue that can cancel what is sent through it to an ``ActorQueue``, which may adopt its actor later.
    public init<ActorType: Actor>(
        underlyingQueue: ActorQueue<ActorType>
    ) where UnderlyingQueue == ActorQueue<ActorType> {
        self.underlyingQueue = underlyingQueue
        group = TaskRegistry(.cancellableQueue, name: underlyingQueue.name)
    }

    deinit {
        if Diagnostics.isOn { group.tell(.deallocated) }
    }

    /// What diagnostics know it by: the name of its queue.
    public var name: String? { group.name }

    /// How many tasks that were sent through this queue run or wait, and have not been cancelled by ``cancelTasks()``.
    public var count: Int { group.liveCount }

    /// Cancels every task that was sent through this queue and has not ended. Those that are sent later are not concerned.
    ///
    /// Cancellation handlers run before this returns, in no particular order, without a lock: one of them may send tasks here, or call this.
    ///
    /// - Complexity: O(*n*) in the number of tasks.
    public func cancelTasks() {
        group.cancelAll()
    }

    /// Waits until all that was sent through this queue has ended: what is there now, what is sent meanwhile, and what was cancelled and still
    /// runs. What others have sent to the underlying queue is waited for only as far as it comes before.
    ///
    /// A task of this queue that drains it waits for itself, until it is cancelled.
    ///
    /// What is there when the wait begins is raised to the caller's priority, where the system can (macOS 26, Linux).
    ///
    /// ## Cancellation
    /// A caller that is cancelled leaves at once. What was sent goes on.
    ///
    /// - Throws: `CancellationError` if the caller is cancelled, nothing else.
    public func drain() async throws {
        try await group.drain()
    }
}

extension CancellableQueue where UnderlyingQueue == FIFOQueue {
    @usableFromInline
    func turn(name: String?, priority: TaskPriority?) -> Turn {
        Turn(in: underlyingQueue.turns, name: name, priority: priority, group: group)
    }
}

extension CancellableQueue {
    @usableFromInline
    func turn<ActorType: Actor>(name: String?, priority: TaskPriority?) -> (Turn, ActorType)?
    where UnderlyingQueue == ActorQueue<ActorType> {
        underlyingQueue.turn(name: name, priority: priority, group: group)
    }

    @usableFromInline
    func turnOrTrap<ActorType: Actor>(name: String?, priority: TaskPriority?) -> (Turn, ActorType)
    where UnderlyingQueue == ActorQueue<ActorType> {
        underlyingQueue.turnOrTrap(name: name, priority: priority, group: group)
    }
}
