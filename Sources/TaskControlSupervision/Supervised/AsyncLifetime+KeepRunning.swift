public import TaskControl

extension AsyncLifetime {
    /// Runs work until the lifetime ends, and restarts it when it fails.
    ///
    /// ```swift
    /// let feed = lifetime.keepRunning("feed") { ready in
    ///     let connection = try await server.connect()
    ///     ready()
    ///     for try await update in connection.updates { await model.apply(update) }
    /// }
    /// try await feed.waitUntilReady()
    /// ```
    ///
    /// After a failure the work waits for the delay of `backoff`, and runs again. The delays grow with each failure, and begin again after a run
    /// that was ready for `stableAfter`. When more restarts than `limit` would be needed, the work fails permanently: its state is
    /// ``SupervisedWork/State/failed(_:)``, with its failures. If no task waits for the work or follows its states then, the last error is reported
    /// as an unhandled one.
    ///
    /// The operation must be safe to repeat. An operation that captures the object that declares the lifetime retains the object: capture it weakly.
    ///
    /// ## Ordering
    /// A run begins after the run before it has returned or thrown.
    ///
    /// ## Cancellation
    /// The work ends with the lifetime, which cancels its run, and is not restarted then; `Task.cancellationCause` has the cause. A
    /// `CancellationError` that the operation throws without being cancelled is a failure like others.
    ///
    /// `shutdown(grace:)` of the lifetime asks the work to stop, no longer restarts it, and cancels it when the grace is over.
    /// An error that a run throws after it was asked to stop, and before it is cancelled, is reported as an unhandled one.
    ///
    /// - Parameters:
    ///   - name: The name, which debuggers and diagnostics show.
    ///   - restart: When the work is restarted: after an error, also after a return, or never.
    ///   - limit: The number of restarts per time. By default 5 in 60 seconds. OTP allows 1 in 5 seconds, and Elixir 3, without a delay between
    ///     them.
    ///   - backoff: The delay before each restart: see ``TaskControl/RetryBackoff/supervision`` for the default. A custom backoff that returns
    ///     `nil` for an error fails the work permanently.
    ///   - stableAfter: The time for which a run must be ready for the delays to begin again.
    ///   - grace: The time for which the run may continue after ``SupervisedWork/stop()`` before it is cancelled. By default it is cancelled at
    ///     once, as a process in OTP that does not trap exits. Give work that watches ``SupervisedRun/waitForStop()`` the time that it needs, such
    ///     as the 5 seconds of OTP.
    ///   - priority: The priority; `nil` for that of the caller. A task that waits for the work, or drains the lifetime, raises it.
    ///   - clock: Measures the delays, the limit and the grace.
    ///   - operation: Receives the run, which it calls when it is ready. Runs in the isolation of the code that calls this, in a task of its own,
    ///     with the task-locals of the caller and without its deadline.
    /// - Returns: The work, to observe its state. If the lifetime is closed, the operation never runs, and the work is stopped.
    /// - Complexity: O(1), and O(*n*) in the limit for each restart.
    @discardableResult
    public func keepRunning(
        _ name: String,
        restart: RestartRule = .onFailure,
        limit: RestartLimit = .restarts(5, per: .seconds(60)),
        backoff: RetryBackoff = .supervision,
        stableAfter: Duration = .seconds(60),
        grace: Duration = .zero,
        priority: TaskPriority? = nil,
        clock: some Clock<Duration> = ContinuousClock(),
        @_inheritActorContext operation:
            @escaping @isolated(any) @Sendable (_ ready: SupervisedRun) async throws -> Void
    ) -> SupervisedWork {
        let engine = SupervisionEngine(.keepRunning, name: name, .one, limit)
        let rules = SupervisionEngine.Machine.Rules(restart, stableAfter, grace)
        let work = engine.add(name, rules, backoff, priority, operation)
        // A shutdown refuses first: the work is asked to stop, and continues for as long as the shutdown lets it.
        let token = CoordinatorToken(engine, onRefusal { engine.close(isAbrupt: false, graceIsOfOwner: true) })
        addTask(name: "\(name): supervision", priority: priority) {
            // Its error is the state of the work.
            try? await token.engine.coordinate(on: clock)
        }
        return work
    }
}

extension RetryBackoff {
    /// The delays between the restarts of supervised work: exponential from 200 ms, capped at 30 s as in the backoff supervisor of Akka, with
    /// equal jitter.
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

/// An object that the task of supervised work retains. Its `deinit` ends the supervision if the task is released before it has begun, because the
/// lifetime was closed.
private final class CoordinatorToken: Sendable {
    let engine: SupervisionEngine
    private let registration: RefusalRegistration

    init(_ engine: SupervisionEngine, _ registration: RefusalRegistration) {
        self.engine = engine
        self.registration = registration
    }

    deinit { engine.abandon() }
}
