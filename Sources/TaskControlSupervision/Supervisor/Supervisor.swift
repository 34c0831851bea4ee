public import TaskControl

/// A supervisor, which runs several long-lived operations (its children), restarts those that fail, and stops all of
/// them in order.
///
/// ```swift
/// let supervisor = Supervisor(name: "backend", strategy: .rest)
/// supervisor.keepRunning("database") { run in
///     try await database.serve { run.markReady() }
/// }
/// supervisor.keepRunning("queue", grace: .seconds(5)) { run in
///     try await queue.consume(from: database) { run.markReady() }
/// }
/// try await supervisor.run()                 // until `shutdown()`, a cancellation, or a permanent failure
/// ```
///
/// When a child fails, the strategy determines which children are restarted with it. A child fails permanently if it
/// has the rule ``RestartRule/never``, if its backoff allows no restart, or if its restart would exceed the limit of
/// restarts, which applies to all children together. The supervisor then stops the other children, and ``run(until:)``
/// throws.
///
/// Safe to use from any thread and any isolation. If a supervisor is deallocated before it has run, its children never
/// run: their state is ``SupervisedWork/State/stopped``.
///
/// ## Ordering
/// Children start in the order in which they were added. With the strategy ``Supervisor/Strategy/all`` or
/// ``Supervisor/Strategy/rest``, a child starts when the children before it are ready or have ended. With the strategy
/// ``Supervisor/Strategy/one``, the first run of a child begins when each child before it has been ready once or has
/// ended; later runs do not wait for other children. A run of a child never begins before the previous run of the child
/// has ended.
///
/// When the supervisor stops its children, they stop in reverse order, each after the children that were added later
/// have ended. In contrast, ``SupervisedWork/stop()`` stops a single child without waiting for any other child. If a
/// stopped child is not restarted, an error that it has thrown during its grace period is reported to diagnostics as an
/// unhandled error.
///
/// ## Cancellation
/// Cancelling the task that calls ``run(until:)`` stops all children, in reverse order and without a grace period: each is
/// cancelled when the children that were added later have ended, the last one when that task next gets a thread. ``cancelAll()`` and ``close()`` cancel them before they return.
///
/// As a `TaskOwner`, a supervisor can be drained, closed and shut down together with other owners.
public final class Supervisor: Sendable {
    let engine: SupervisionEngine
    private let clock: any Clock<Duration>

    /// Creates a supervisor without children.
    ///
    /// - Parameters:
    ///   - name: The name shown in diagnostics.
    ///   - strategy: The children that are restarted when one of them fails. By default, only the failed child, as in
    ///     Elixir.
    ///   - limit: The maximum number of restarts per period, of all children together. Only restarts of failed children
    ///     count, and not those of the children that the strategy restarts with them. By default 5 in 60 seconds.
    ///     Erlang/OTP allows 1 in 5 seconds, and Elixir 3 in 5 seconds, without a delay between them.
    ///   - clock: Measures the delays, the period of the limit, and the grace periods. If its `sleep` fails, a child
    ///     that waits for its restart fails permanently.
    public init(
        name: String? = nil,
        strategy: Supervisor.Strategy = .one,
        limit: RestartLimit = .restarts(5, per: .seconds(60)),
        clock: some Clock<Duration> = ContinuousClock()
    ) {
        engine = SupervisionEngine(.supervisor, name: name, strategy, limit)
        self.clock = clock
    }

    /// Stops the children of a supervisor that never ran: callers that wait for them are resumed. (While
    /// ``run(until:)`` runs, it retains the supervisor.)
    deinit { engine.abandon() }

    /// The name shown in diagnostics.
    public var name: String? { engine.source.name }

    /// Adds a child after the others. While the supervisor runs, the child starts when the children before it are
    /// ready or have ended: see "Ordering" in ``Supervisor``.
    ///
    /// - Parameters:
    ///   - name: The name, which debuggers and diagnostics show.
    ///   - restart: The rule for when the work is restarted. By default ``RestartRule/always``: also after a return. Work
    ///     that may end has ``RestartRule/onFailure``.
    ///   - backoff: The delay before each restart: see ``TaskControl/RetryBackoff/supervision`` for the default. A
    ///     custom backoff that returns `nil` for an error fails the child permanently, and with it the supervisor. An
    ///     error that conforms to `RetryAdvising` can make the delay longer, even longer than a cap of the
    ///     backoff.
    ///   - stableAfter: After a run that was ready for this time, the delays begin again with the first one.
    ///   - condition: Returns the reports of a condition for which the child waits before it is restarted, in the same way as
    ///     for ``TaskControl/AsyncLifetime/keepRunning(_:restart:limit:backoff:stableAfter:waitingFor:grace:priority:clock:operation:)``.
    ///   - grace: The time for which the run can continue after it was asked to stop, before it is cancelled. By
    ///     default, the run is cancelled at once. Give work that calls ``SupervisedRun/waitForStop()`` the time that it
    ///     needs, for example 5 seconds, as in Erlang/OTP.
    ///   - priority: The priority; `nil` for that of the task that calls ``run(until:)``. If that task is escalated
    ///     later, the child is escalated too, as a child task would be.
    ///   - operation: Receives the run, and calls ``SupervisedRun/markReady()`` when the work is ready. Runs in a task
    ///     of its own, in the isolation of the code that calls this function, and with the task-locals of the task that
    ///     calls ``run(until:)``. A deadline of that task (see `withDeadline`) does not apply to the operation.
    /// - Returns: A handle with which the state of the child can be observed, and the child stopped. If the supervisor
    ///   is stopping or has stopped, the operation never runs, and the state of the child is
    ///   ``SupervisedWork/State/stopped``.
    /// - Complexity: O(log *n*) in the number of children, amortized.
    @discardableResult
    public func keepRunning(
        _ name: String,
        restart: RestartRule = .always,
        backoff: RetryBackoff = .supervision,
        stableAfter: Duration = .seconds(60),
        waitingFor condition: (@Sendable () async -> AsyncStream<Bool>)? = nil,
        grace: Duration = .zero,
        priority: TaskPriority? = nil,
        @_inheritActorContext operation:
            @escaping @isolated(any) @Sendable (_ run: SupervisedRun) async throws -> Void
    ) -> SupervisedWork {
        let rules = SupervisionEngine.Machine.Rules(restart, stableAfter, grace)
        return engine.add(name, rules, backoff, priority, condition, operation)
    }

    /// Runs the children, and returns when all of them have completed or were stopped. If a child fails permanently,
    /// stops the others, and throws.
    ///
    /// A supervisor runs once: a second call does nothing, and returns at once. When the first call returns or throws,
    /// no child is running.
    ///
    /// If ``shutdown()`` was called before, the children never run, and this function returns at once.
    ///
    /// ## Cancellation
    /// If the caller is cancelled, this function stops the children in reverse order, without a grace period, and waits
    /// for them to end.
    ///
    /// - Parameter trigger: A function that waits for a reason to stop, such as a signal. When the trigger returns, the
    ///   children are stopped, as by ``shutdown()``. The trigger runs in a child task, which is cancelled if the caller
    ///   is cancelled or all children end first. `run(until:)` waits for this task, so the trigger must return when it
    ///   is cancelled. By default, there is no trigger.
    /// - Throws: `CancellationError` if the caller is cancelled; otherwise ``SupervisionError`` if a child fails
    ///   permanently, with the latest 32 failures of all children.
    /// - Complexity: To start and to stop *n* children, O(*n* log *n*). For each restart, O(*m* log *n*) if the strategy
    ///   restarts *m* children, plus O(*l*) in the limit of restarts.
    public func run(until trigger: (@Sendable () async -> Void)? = nil) async throws {
        guard let trigger else { return try await coordinate() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            // Only the first call has a trigger: that of a second call could stop the children of the first one.
            try await coordinate {
                group.addTask {
                    await trigger()
                    // Cancelled with the caller, which stops the children by itself, or because the children have ended.
                    guard !Task.isCancelled else { return }
                    await self.shutdown()
                }
            }
            group.cancelAll()
        }
    }

    private func coordinate(whenBegun: () -> Void = {}) async throws {
        do {
            try await engine.coordinate(on: clock, whenBegun: whenBegun)
        } catch {
            try Task.checkCancellation()
            throw error
        }
        try Task.checkCancellation()
    }

    /// Stops the children in the reverse of the order in which they were added, each with its grace period, and waits
    /// for them to end. No child starts or is restarted from now on. The priority of the children is raised to that of
    /// the caller.
    ///
    /// Never call this function from a child: the child would wait for itself.
    ///
    /// ## Cancellation
    /// If the caller is cancelled, the grace periods end early, and this function still waits for the children to end.
    ///
    /// - Parameters:
    ///   - waiting: The rule for further attempts of `retry` and `poll` in a child that is asked to stop. By default, they are
    ///     made.
    ///   - cancellationGrace: The time that each child has to end after it was cancelled, measured by the clock of the
    ///     supervisor; `nil` for any time. A child that takes longer is left behind: it still runs, its state is
    ///     ``SupervisedWork/State/stopped``, and no later child waits for it.
    /// - Returns: The names of the children that have a grace period, and were cancelled because it was over or the caller
    ///   was cancelled; and the children that were left behind.
    @discardableResult
    public func shutdown(
        waiting: WaitingWorkBehavior = .run,
        cancellationGrace: Duration? = nil
    ) async -> ShutdownReport {
        let (cutOff, left) = await engine.shutdown(waiting: waiting, cancellationGrace: cancellationGrace)
        return ShutdownReport(cancelled: cutOff.map(\.name), leftBehind: left)
    }
}
