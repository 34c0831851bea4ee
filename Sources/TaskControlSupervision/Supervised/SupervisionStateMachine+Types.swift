internal import TaskControl

extension SupervisionStateMachine {
    /// The rules of a child, which do not change.
    struct Rules: Sendable {
        var restart = RestartRule.onFailure
        /// The time for which a run may continue after it was asked to stop.
        var grace = Duration.zero
        /// The time for which a run must be ready, so that the failures before it no longer count for the delays.
        var stableAfter = Duration.seconds(60)
    }

    /// The way in which a run has ended.
    enum RunEnd: Hashable, Sendable {
        case returned, threw
    }

    /// The way in which the supervision of all children has ended.
    enum End: Hashable, Sendable {
        /// Each child has completed, or was stopped by ``SupervisedWork/stop()``.
        case completed
        /// All children were stopped together.
        case stopped
        /// The child with the given number has failed permanently, and the others were stopped.
        case failed(Int)
    }

    /// The next action that the coordinator must carry out.
    enum Action: Hashable {
        /// Publish that the child is ready.
        case announceReady(Int)
        /// Create the task of a run of the child.
        case start(Int, run: Int)
        /// Decide about a child that has failed: call ``restart(_:after:at:)`` or ``fail(_:)``.
        ///
        /// - Parameters:
        ///   - failures: The number of failures in a row, without a stable run between them.
        ///   - mayRestart: Whether the rule of the child allows a restart.
        case failed(Int, failures: Int, mayRestart: Bool)
        /// Call ``fail(_:)`` for the child, since its planned restart would exceed the limit.
        case limitReached(Int)
        /// Publish that the child has returned, and is not restarted.
        case completed(Int)
        /// Ask the run of the child to stop.
        case requestStop(Int)
        /// Cancel the run of the child: permanently if `isFinal`, otherwise for a restart because of another child.
        case cancel(Int, isFinal: Bool)
        /// Publish that the child was stopped: permanently if `isFinal`, otherwise until it is restarted.
        case down(Int, isFinal: Bool)
        /// Wait until an event has happened, or until a time. If the time is `nil`, wait only for an event.
        case wait(until: Duration?)
        /// Publish the end of the supervision, and return.
        case end(End)
    }

    enum Phase: Hashable {
        case pending, launching, starting, ready
        case ended(RunEnd)
        /// The coordinator is deciding about a failure of the child.
        case deciding
        case completed, retired, failed
    }

    struct Stop: Hashable {
        /// The time at which the run is cancelled; `nil` if the owner decides that, by cancelling the coordinator.
        let deadline: Duration?
        var isCancelled = false
    }

    /// A child, from its addition to its removal.
    struct Child {
        let rules: Rules
        var phase = Phase.pending
        /// The number of the current or last run, counted from 1; 0 before the first.
        var run = 0
        var failures = 0
        var notBefore = Duration.zero
        /// Whether the next run is a restart that counts for the ``RestartLimit``.
        var isCounted = false
        /// Whether the current run is a restart that counts for the ``RestartLimit``, and that has not been recorded
        /// yet.
        var isUnrecorded = false
        /// Whether the run has called `ready()`, and the coordinator has not published that yet.
        var isReadyNews = false
        var hasBeenReady = false
        /// Whether it was published that the current run is ready, so that callers of
        /// ``SupervisedWork/waitUntilReady()`` return.
        var isReadyPublished = false
        /// Whether the end of the child was published.
        var isEndPublished = false
        var readySince: Duration?
        var mustStop = false
        /// Whether ``SupervisedWork/stop()`` was called for the child, so that it never runs again.
        var isRetired = false
        var stop: Stop?
        var readiness = Waiters()
        var ends = Waiters()

        var isActive: Bool {
            switch phase {
            case .launching, .starting, .ready: true
            default: false
            }
        }

        var isForgettable: Bool { isEndPublished && readiness.count == 0 && ends.count == 0 }

        var isOver: Bool { phase == .completed || phase == .retired || phase == .failed }
    }

    enum StopAnswer: Hashable {
        case isOver
        /// The child was stopped, and the caller must publish its end: no coordinator has begun.
        case isStopped
        /// The coordinator will stop the child, and the caller must wait for that.
        case stops
    }

    /// The waiters to resume, by the outcome with which they are resumed.
    struct Woken {
        var reached: [Waiter] = []
        var ended: [Waiter] = []

        mutating func append(_ other: Woken) {
            reached += other.reached
            ended += other.ended
        }
    }

    /// The answer to a caller that wants to wait until a child is ready: the child is ready, it has ended, or the
    /// caller must wait with the ID.
    enum Enrollment {
        case reached, ended
        case waits(Waiters.ID)
    }
}

/// The way in which a wait of the coordinator or of a caller has ended.
enum SupervisionWake: Hashable, Sendable {
    /// The event that the waiter waited for has happened.
    case reached
    /// The child has ended before it was ready.
    case ended
    /// The waiter was cancelled, and no longer waits.
    case left
}

extension SupervisionStrategy {
    /// Returns whether the child `sibling` is restarted because the child `child` has failed. Children that were added
    /// later have greater numbers.
    func restarts(_ sibling: Int, with child: Int) -> Bool {
        switch self {
        case .one: false
        case .all: sibling != child
        case .rest: sibling > child
        }
    }
}
