public import TaskControl

extension AsyncLifetime {
    /// Runs work until the lifetime ends, and restarts it when it fails or returns. The closure is retained until then: an
    /// object that owns the lifetime must not be captured, or only weakly.
    ///
    /// ```swift
    /// let feed = lifetime.keepRunning("feed") { run in
    ///     let connection = try await server.connect()
    ///     run.markReady()
    ///     for try await update in connection.updates { await log.append("\(update)") }
    /// }
    /// try await feed.waitUntilReady()
    /// ```
    ///
    /// After a failure the work waits for the delay of `backoff`, and runs again. The delays grow with each failure;
    /// after a run that was ready for `stableAfter`, they begin again with the first delay. When the work would need
    /// more restarts than `limit` allows, it fails permanently: its state is ``SupervisedWork/State/failed(_:)``, with
    /// its failures. If no task then waits for the work or reads its ``SupervisedWork/states``, the last error is
    /// reported to diagnostics as an unhandled error.
    ///
    /// The operation must be safe to repeat.
    ///
    /// Use `keepRunning(_:for:)` for work whose elements
    /// an object receives.
    ///
    /// ## Ordering
    /// A run begins after the previous run has returned or thrown.
    ///
    /// ## Cancellation
    /// The work ends with the lifetime: when the call that cancels or closes the lifetime returns, the run is cancelled,
    /// with the cause in `Task.cancellationCause`, and no run begins any more. A `CancellationError` that the operation
    /// throws without being cancelled is a failure like others.
    ///
    /// `shutdown(grace:)` of the lifetime asks the work to stop (see ``SupervisedRun/isStopping``), no longer restarts
    /// the work, and cancels it when the grace period of the shutdown is over. An error that a run throws after it was
    /// asked to stop, and before it is cancelled, is reported to diagnostics as an unhandled error.
    ///
    /// - Parameters:
    ///   - name: The name, which debuggers and diagnostics show.
    ///   - restart: The rule for when the work is restarted. By default ``RestartRule/always``, in every form of
    ///     `keepRunning`: a connection that the other side closes often ends without an error, and must not stay closed
    ///     unnoticed. The default of a child in Erlang/OTP is the same (`permanent`). Work that may end has
    ///     ``RestartRule/onFailure``.
    ///   - limit: The largest number of restarts per period. By default 5 in 60 seconds. For comparison, Erlang/OTP
    ///     allows 1 in 5 seconds, and Elixir 3 in 5 seconds, without a delay between them.
    ///   - backoff: The delay before each restart: see ``TaskControl/RetryBackoff/supervision`` for the default. A
    ///     custom backoff that returns `nil` for an error fails the work permanently. An error that conforms to
    ///     `RetryAdvising` can make the delay longer, even longer than a cap of the backoff.
    ///   - stableAfter: After a run that was ready for this time, the delays begin again with the first one.
    ///   - condition: Returns the reports of a condition for which the work waits before it is restarted, such as whether the
    ///     network can be reached: first its state, and then each change. While the last report is `false`, and before the
    ///     first report, no run begins, also after the delay; a `true` after a `false` ends the delay. A stream that ends
    ///     holds up nothing. Runs on no actor. The first run does not wait. `nil`, the default: no condition.
    ///   - grace: The time for which the run can continue after ``SupervisedWork/stop()`` before it is cancelled. By
    ///     default, the run is cancelled at once. Give work that calls ``SupervisedRun/waitForStop()`` the time that it
    ///     needs, for example 5 seconds, as in Erlang/OTP.
    ///   - priority: The priority; `nil` for that of the caller. A task that waits for the work, or drains the
    ///     lifetime, raises the priority of the work to its own.
    ///   - clock: Measures the delays, the period of the limit, and the grace period. If its `sleep` fails while the
    ///     work waits for its restart, the work fails permanently.
    ///   - operation: Receives the run, and calls ``SupervisedRun/markReady()`` when the work is ready. Runs in a task
    ///     of its own, in the isolation and with the task-locals of the code that calls this function. A deadline of
    ///     that code (see `withDeadline`) does not apply to the operation.
    /// - Returns: A handle with which the state of the work can be observed, and the work stopped. If the lifetime is
    ///   closed, the operation never runs, and the state is ``SupervisedWork/State/stopped``.
    /// - Complexity: O(1), and O(*n*) in the limit for each restart.
    @discardableResult
    public func keepRunning(
        _ name: String,
        restart: RestartRule = .always,
        limit: RestartLimit = .restarts(5, per: .seconds(60)),
        backoff: RetryBackoff = .supervision,
        stableAfter: Duration = .seconds(60),
        waitingFor condition: (@Sendable () async -> AsyncStream<Bool>)? = nil,
        grace: Duration = .zero,
        priority: TaskPriority? = nil,
        clock: some Clock<Duration> = ContinuousClock(),
        @_inheritActorContext operation:
            @escaping @isolated(any) @Sendable (_ run: SupervisedRun) async throws -> Void
    ) -> SupervisedWork {
        let engine = SupervisionEngine(.keepRunning, name: name, .one, limit)
        let rules = SupervisionEngine.Machine.Rules(restart, stableAfter, grace)
        let work = engine.add(name, rules, backoff, priority, condition, operation)
        let token = CoordinatorToken(
            engine,
            onEnd { end in
                switch end {
                // A shutdown refuses first: the work is asked to stop, and continues for as long as the shutdown lets it.
                case .refuses(let waiting):
                    engine.close(isAbrupt: false, graceIsOfOwner: true, waiting: waiting)
                // The lifetime owns only the task of the coordinator.
                case .cancels(let cause): engine.cancelAll(for: cause)
                }
            }
        )
        addTask(name: "\(name): supervision", priority: priority) {
            // Its error is the state of the work.
            try? await token.engine.coordinate(on: clock)
        }
        return work
    }
}

extension RetryBackoff {
    /// The default delays between the restarts of supervised work. They double from 200 ms up to a cap of 30 s, as in
    /// the backoff supervisor of Akka, with `RetryJitter.equal` as jitter: each delay is random, from half
    /// of the capped delay to all of it.
    public static var supervision: RetryBackoff {
        .exponential(base: .milliseconds(200)).capped(at: .seconds(30)).jittered(.equal)
    }
}

extension SupervisionStateMachine.Rules {
    init(_ restart: RestartRule, _ stableAfter: Duration, _ grace: Duration) {
        self.restart = restart
        self.stableAfter = stableAfter.saturated
        self.grace = max(.zero, grace).saturated
    }
}

/// An object that the task that supervises work retains. If the task is released before it has begun, because the
/// lifetime was closed, the `deinit` of the object ends the supervision.
private final class CoordinatorToken: Sendable {
    let engine: SupervisionEngine
    private let registration: EndRegistration

    init(_ engine: SupervisionEngine, _ registration: EndRegistration) {
        self.engine = engine
        self.registration = registration
    }

    deinit { engine.abandon() }
}
