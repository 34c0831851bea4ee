/// An object that owns tasks: it counts them, cancels them, and waits for them to end.
///
/// ``AsyncLifetime``, ``TaskStore``, ``TaskSlot``, ``SingleFlight`` and ``CancellableQueue`` conform, and so do the caches,
/// supervisors and HTTP clients of other products. They differ in how a task is added; how their tasks are cancelled and awaited is
/// the same, and in this protocol. So a list of owners of different types can be shut down in order:
///
/// ```swift
/// let owners: [any TaskOwner] = [requests, uploads, lifetime]
/// for owner in owners {
///     await owner.shutdown(grace: .seconds(5))
/// }
/// ```
///
/// A type of your own can conform, for example one that has several owners and is shut down as a whole.
///
/// The protocol promises nothing for an owner that is deallocated: a lifetime, a store and a slot then cancel their tasks, a
/// single flight and a queue do not (<doc:Owners#When-an-owner-is-deallocated>).
///
/// Every member is safe to call from any thread and any isolation. Finished tasks are removed immediately.
///
/// ## Ordering
/// Tasks are cancelled in no particular order.
///
/// ## Cancellation
/// ``cancelAll()`` and ``close()`` return when the cancellation handlers of the tasks have run, not when the tasks have
/// ended. The owner holds no lock while the handlers run, so a handler may call the owner of its own task. It should not
/// cancel other tasks or owners, except in a `Task { }`: Swift calls it while it holds a lock of its task, and two
/// handlers that cancel each other's tasks wait for each other forever. A task that the owner has cancelled is no longer
/// part of ``count``, but may still run: ``drain()`` waits for it.
public protocol TaskOwner: AnyObject, Sendable {
    /// The name shown in diagnostics; `nil` if the owner has none.
    var name: String? { get }

    /// The number of tasks that have not ended and that the owner has not cancelled. A task that was cancelled by other
    /// code, for example through its `Task` handle, counts until it has ended.
    var count: Int { get }

    /// Cancels every task. The owner stays open: tasks added later are not affected.
    ///
    /// A task that the owner created and that has not started never runs its operation. The exception is a
    /// ``CancellableQueue``, which follows the ``CancelledTurnBehavior`` of the operation: `run`, the default of an
    /// operation that does not throw, lets the operation run when its turn comes.
    ///
    /// ``count`` is zero when this function returns, unless a task was added meanwhile. A cancellation handler that
    /// this function triggers may call the function again.
    ///
    /// - Complexity: O(*n*) in ``count``, amortized.
    func cancelAll()

    /// Cancels every task for a reason, which the tasks can read as `Task.cancellationCause`.
    ///
    /// In all other respects, this function is the same as ``cancelAll()``. The owners of this library record the
    /// reason. The default implementation, for types of your own, calls ``cancelAll()`` and ignores the reason.
    ///
    /// - Parameter reason: A description of the reason, for logs.
    /// - Complexity: O(*n*) in ``count``, amortized.
    func cancelAll(because reason: String)

    /// Cancels every task, and refuses later tasks. A closed owner cannot be opened again.
    ///
    /// A refused operation is not started, and a refused task that was started elsewhere is cancelled. Each function
    /// that adds a task documents what it returns if the owner is closed. The exception is a ``CancellableQueue``: it
    /// follows the ``CancelledTurnBehavior`` of a refused operation, as ``cancelAll()`` does.
    ///
    /// - Complexity: O(*n*) in the number of tasks.
    func close()

    /// Waits until all tasks of the owner have ended: those present, those added meanwhile, and those that the owner
    /// has cancelled.
    ///
    /// A task that drains its own owner waits for itself, until it is cancelled. The values that a task has captured
    /// are released with the task, perhaps a moment after this function has returned.
    ///
    /// The tasks present when the wait begins are escalated to the caller's priority, where the system supports it
    /// (<doc:Ordering#Priorities>).
    ///
    /// ## Cancellation
    /// A cancelled caller returns immediately. The tasks continue.
    ///
    /// - Throws: `CancellationError` if the caller is cancelled, and no other error.
    func drain() async throws(CancellationError)

    /// Refuses later tasks, gives the present ones some time to end, cancels the rest, and waits for them to end.
    ///
    /// ```swift
    /// let report = await uploads.shutdown(grace: .seconds(10), cancellationGrace: .seconds(5))
    /// if !report.isEmpty { print(report) }
    /// ```
    ///
    /// Without a `cancellationGrace`, the call waits for the cancelled tasks however long they take: when it returns, the
    /// owner has no tasks and accepts none. With it, work that ignores its cancellation is left behind, and the report
    /// names it. A task of `addTask(mustFinish: true)` is not cancelled, and has both times together.
    ///
    /// Never call this function from a task of this owner: the task would wait for itself, without a `cancellationGrace`
    /// forever.
    ///
    /// ## Cancellation
    /// Cancelling the caller ends the grace period early; the call still waits for the tasks to end.
    ///
    /// - Parameters:
    ///   - grace: The time that the present tasks have to end. If zero or negative, they are cancelled at once.
    ///   - waiting: The rule for tasks that have not begun, and for further attempts of `retry` and `poll` in tasks that run.
    ///   - cancellationGrace: The time that the tasks have to end after they were cancelled; `nil` for any time. If zero or
    ///     negative, the call waits for no cancelled task.
    ///   - clock: Measures the times. Its `sleep` must end when its task is cancelled, as the `Clock` protocol requires:
    ///     otherwise the call lasts as long as `grace`, even if all tasks have ended before.
    /// - Returns: The tasks that were cancelled because the grace period was over, or because the caller was cancelled, and
    ///   those that were left behind.
    @discardableResult
    func shutdown(
        grace: Duration,
        waiting: WaitingWorkBehavior,
        cancellationGrace: Duration?,
        clock: any Clock<Duration>
    ) async -> ShutdownReport
}

extension TaskOwner {
    /// Cancels every task and ignores the reason: the default implementation calls ``cancelAll()``.
    public func cancelAll(because reason: String) { cancelAll() }

    /// Whether ``count`` is zero. Tasks that the owner has cancelled may still run: ``drain()`` waits for them.
    public var isEmpty: Bool { count == 0 }

    /// Does the same as ``shutdown(grace:waiting:cancellationGrace:clock:)`` with a `ContinuousClock`.
    @discardableResult
    public func shutdown(
        grace: Duration,
        waiting: WaitingWorkBehavior = .run,
        cancellationGrace: Duration? = nil
    ) async -> ShutdownReport {
        await shutdown(grace: grace, waiting: waiting, cancellationGrace: cancellationGrace, clock: ContinuousClock())
    }

    /// Does the same as ``shutdown(grace:waiting:cancellationGrace:clock:)``, and waits for the cancelled tasks however long
    /// they take.
    @discardableResult
    public func shutdown(
        grace: Duration,
        waiting: WaitingWorkBehavior = .run,
        clock: any Clock<Duration>
    ) async -> ShutdownReport {
        await shutdown(grace: grace, waiting: waiting, cancellationGrace: nil, clock: clock)
    }

    /// Does the same as ``shutdown(grace:waiting:cancellationGrace:clock:)`` with ``WaitingWorkBehavior/run``.
    @discardableResult
    public func shutdown(
        grace: Duration,
        cancellationGrace: Duration?,
        clock: any Clock<Duration>
    ) async -> ShutdownReport {
        await shutdown(grace: grace, waiting: .run, cancellationGrace: cancellationGrace, clock: clock)
    }
}
