public import TaskControl

/// A handle of work that is restarted when it fails, to observe the state of the work and to stop it.
///
/// ``TaskControl/AsyncLifetime/keepRunning(_:restart:limit:backoff:stableAfter:waitingFor:grace:priority:clock:operation:)`` and
/// ``Supervisor/keepRunning(_:restart:backoff:stableAfter:waitingFor:grace:priority:operation:)`` return this handle. The work
/// does not depend on the handle: it ends with its lifetime or supervisor, whether or not the handle is kept.
///
/// Safe to use from any thread and any isolation.
public final class SupervisedWork: Cancellable, Sendable {
    /// The state of supervised work.
    @nonexhaustive
    public enum State: Sendable {
        /// The work has not begun, or it runs and has not called `run.markReady()`: see ``SupervisedRun``.
        case starting
        /// The work runs, and has called `run.markReady()`: see ``SupervisedRun``.
        case running
        /// The work has failed, or was stopped because another child of its ``Supervisor`` has failed. It runs again
        /// when the duration, counted from the beginning of this state, has passed. The error is that of the work or of
        /// the other child.
        case waiting(for: Duration, after: any Error)
        /// The work has returned, and is not restarted.
        case completed
        /// The work was stopped, and is not restarted.
        case stopped
        /// The work has failed, and is not restarted. The value contains the latest 32 failures, the oldest first; for
        /// a child of a ``Supervisor``, the failures of all children.
        case failed([SupervisionError.FailedRun])

        /// Whether the work has ended, so that no other state follows.
        public var isFinal: Bool {
            switch self {
            case .starting, .running, .waiting: false
            case .completed, .stopped, .failed: true
            }
        }
    }

    private let engine: SupervisionEngine
    private let child: SupervisedChild

    init(_ engine: SupervisionEngine, _ child: SupervisedChild) {
        self.engine = engine
        self.child = child
    }

    /// The name of the work, which is also shown in diagnostics.
    public var name: String { child.name }

    /// The current state of the work. It may have changed by the time the caller uses it.
    public var state: State { child.publication.state }

    /// A stream of the current state and each later state. The stream ends after the last state.
    ///
    /// Each access creates a stream of its own. A reader that falls behind by more than 64 states misses the oldest of
    /// these states.
    ///
    /// ## Cancellation
    /// The stream ends when the task that reads it is cancelled. The work continues.
    public var states: AsyncStream<State> { child.publication.stream() }

    /// Waits until a run of the work is ready (see ``SupervisedRun``). Returns at once if the current run is ready. If
    /// a run fails and the work is restarted, this function waits for the next run.
    ///
    /// The priority of the work is raised to that of the caller.
    ///
    /// ## Cancellation
    /// A cancelled caller stops waiting at once. The work continues.
    ///
    /// - Throws: `CancellationError` if the caller is cancelled. Otherwise ``SupervisionError`` if the work has ended,
    ///   or ends before a run is ready.
    public func waitUntilReady() async throws {
        switch await engine.waitUntilReady(child.index) {
        case .reached: return
        case .left: throw CancellationError()
        case .ended:
            // A cancelled caller receives CancellationError.
            try Task.checkCancellation()
            throw child.error
        }
    }

    /// Waits until a run of the work is ready, as ``waitUntilReady()`` does, and for at most a time. If no run is ready in
    /// time, the error says why: it has the last failure of the work.
    ///
    /// The priority of the work is raised to that of the caller.
    ///
    /// ## Cancellation
    /// A cancelled caller stops waiting at once. The work continues, also after the time.
    ///
    /// - Parameters:
    ///   - limit: The time for which the caller waits. With zero or less, the call throws at once.
    ///   - clock: Measures `limit`.
    /// - Throws: `CancellationError` if the caller is cancelled. Otherwise ``SupervisionError``: with the reason
    ///   ``SupervisionError/Reason/notReady`` if `limit` has passed, and with another one if the work has ended, or ends
    ///   before a run is ready. The error of the clock, if the clock cannot sleep.
    public func waitUntilReady(within limit: Duration, clock: some Clock<Duration> = ContinuousClock()) async throws {
        do {
            try await withTimeout(limit, clock: clock) { try await waitUntilReady() }
        } catch is TimeoutError {
            throw SupervisionError(name: name, reason: .notReady, causes: lastFailure.map { [$0] } ?? [])
        }
    }

    /// The last failure because of which no run of the work is ready: that of the work, or of the child of its
    /// ``Supervisor`` with which it is restarted. `nil` while a run is ready, and before the first failure. It does not
    /// change when the work begins to run again: only when that run is ready or fails.
    public var lastFailure: SupervisionError.FailedRun? { child.lastFailure }

    /// Stops the work permanently, and waits for its end. The work is asked to stop (see ``SupervisedRun/isStopping``),
    /// and is cancelled when its grace period is over; without a grace period, before this function begins to wait. (While the owner
    /// is shut down, its grace period counts.)
    ///
    /// The priority of the work is raised to that of the caller. If the work is a child of a ``Supervisor``, the other
    /// children continue. Never call this function from the work itself: the work would wait for itself.
    ///
    /// ## Cancellation
    /// A cancelled caller returns at once. The work is stopped nevertheless.
    public func stop() async { await engine.stop(child.index) }

    /// Stops the work permanently and at once, without its grace period, and does not wait for its end. When this function returns,
    /// the current run is cancelled, and no other one begins.
    ///
    /// If the work is a child of a ``Supervisor``, the other children continue. Has no effect on work that has ended.
    public func cancel() { _ = engine.stop(child.index, isAbrupt: true) }
}
