internal import TaskControl

extension SupervisionStateMachine {
    /// The settings of a child, which do not change: when it is restarted, and how long its runs may take to stop or to
    /// become stable.
    struct Rules: Sendable {
        var restart = RestartRule.onFailure
        /// The time for which a run may continue after it was asked to stop.
        var grace = Duration.zero
        /// The time for which a run must be ready. After such a run, earlier failures no longer count for the delays of
        /// restarts.
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
        /// The supervision was stopped, and all children with it.
        case stopped
        /// The child with the given number has failed permanently, and the others were stopped.
        case failed(Int)
    }

    /// The next action that the coordinator (see ``SupervisionStateMachine``) must carry out.
    enum Action: Hashable {
        /// Publish that the child with the given number is ready.
        case announceReady(Int)
        /// Create the task of the next run of the child with the given number.
        ///
        /// - Parameter run: The number of this run, counted from 1.
        case start(Int, run: Int)
        /// Decide about the failed child with the given number: call ``restart(_:after:at:)`` or ``fail(_:)``.
        ///
        /// - Parameters:
        ///   - failures: The number of failures in a row, without a stable run between them.
        ///   - mayRestart: Whether the rule of the child allows a restart.
        case failed(Int, failures: Int, mayRestart: Bool)
        /// Call ``fail(_:)`` for the child with the given number, since its planned restart would exceed the limit.
        case limitReached(Int)
        /// Publish that the child with the given number has returned, and is not restarted.
        case completed(Int)
        /// Ask the current run of the child with the given number to stop.
        case requestStop(Int)
        /// Cancel the run of the child with the given number: permanently if `isFinal`, otherwise for a restart because
        /// of another child.
        case cancel(Int, isFinal: Bool)
        /// Publish that the child with the given number was stopped: permanently if `isFinal`, otherwise until it is
        /// restarted.
        case down(Int, isFinal: Bool)
        /// Wait for an event, at most until the given time, measured from the beginning of the supervision; `nil` for
        /// no limit.
        case wait(until: Duration?)
        /// Publish the end of all children, and return.
        case end(End)
    }

    enum Phase: Hashable {
        case pending, launching, starting, ready
        case ended(RunEnd)
        /// The child has failed, and the coordinator is deciding whether it is restarted.
        case deciding
        case completed, retired, failed
    }

    struct Stop: Hashable {
        /// The time at which the run is cancelled, measured from the beginning of the supervision; `nil` if the owner
        /// of the coordinator's task decides when, by cancelling this task.
        let deadline: Duration?
        var isCancelled = false
    }

    /// The state of a child, from its addition to its removal.
    struct Child {
        let rules: Rules
        var phase = Phase.pending
        /// The number of the current or last run, counted from 1; 0 before the first.
        var run = 0
        var failures = 0
        var notBefore = Duration.zero
        /// Whether the next run is a restart that counts for the ``RestartLimit``.
        var isCounted = false
        /// Whether the current run is a restart that counts for the ``RestartLimit`` and is not yet in the
        /// ``RestartWindow``.
        var isUnrecorded = false
        /// Whether the current run has called `ready()`, and the coordinator must still publish that.
        var isReadyNews = false
        var hasBeenReady = false
        /// Whether the coordinator has published that the current run is ready, and callers of
        /// ``SupervisedWork/waitUntilReady()`` return.
        var isReadyPublished = false
        /// Whether the last state of the child was published.
        var isEndPublished = false
        var readySince: Duration?
        var mustStop = false
        /// Whether ``SupervisedWork/stop()`` was called for the child, after which the child never runs again.
        var isRetired = false
        var stop: Stop?
        /// The raw priority to which waiting callers have escalated the child since it was last ready; 0 for none.
        var raisedTo: UInt8 = 0
        var readiness = Waiters()
        var ends = Waiters()

        /// Records that the coordinator publishes at the time `now` that the current run is ready.
        mutating func publishReady(at now: Duration) {
            isReadyNews = false
            hasBeenReady = true
            readySince = now
        }

        /// Records that the coordinator creates the task of the next run.
        mutating func launch() {
            if isCounted { isUnrecorded = true }
            isCounted = false
            readySince = nil
            isReadyPublished = false
            run += 1
            phase = .launching
        }

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
        /// The child was stopped, and the caller must publish its end, because no coordinator has begun.
        case isStopped
        /// The coordinator will stop the child, and the caller must wait until it has ended.
        case stops
    }

    /// The event of children for which a caller waits: that a child becomes ready, which the children before it must be
    /// first, that a child ends, or that all children end.
    enum Awaited {
        case readiness(of: Int)
        case end(of: Int)
        case all
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

    /// The answer to a caller that wants to wait until a child is ready: the child is ready (`reached`), it has ended,
    /// or the caller must wait (`waits`) and suspend with the given ID.
    enum Enrollment {
        case reached, ended
        case waits(Waiters.ID)
    }
}

/// The reason for which the coordinator or a caller that waits is resumed.
enum SupervisionWake: Hashable, Sendable {
    /// The event that the waiter waited for has happened.
    case reached
    /// The child for which the caller waited has ended before it was ready.
    case ended
    /// The waiter was cancelled, and no longer waits.
    case left
}

extension Supervisor.Strategy {
    /// Returns whether the child with the number `sibling` is restarted when the child with the number `child` has
    /// failed. Children that were added later have greater numbers.
    func restarts(_ sibling: Int, with child: Int) -> Bool {
        switch self {
        case .one: false
        case .all: sibling != child
        case .rest: sibling > child
        }
    }
}
