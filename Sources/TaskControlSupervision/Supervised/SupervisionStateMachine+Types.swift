internal import TaskControl

extension SupervisionStateMachine {
    /// The rules of a child, which the machine has from its beginning.
    struct Rules: Sendable {
        var restart = RestartRule.onFailure
        /// The time for which the child may run after it was asked to stop.
        var grace = Duration.zero
        /// The time for which a run must be ready so that earlier failures no longer count.
        var stableAfter = Duration.seconds(60)
    }

    /// The end of a run.
    enum RunEnd: Hashable, Sendable {
        case returned, threw
    }

    /// The end of all children.
    enum End: Hashable, Sendable {
        /// Each child has completed, or was stopped on its own.
        case completed
        /// All children were stopped.
        case stopped
        /// A child has failed for good, and the others were stopped.
        case failed(Int)
    }

    /// The next action of the coordinator.
    enum Action: Hashable {
        /// Publishes that a child is ready.
        case announceReady(Int)
        /// Creates the task of a run.
        case start(Int, run: Int)
        /// Calls ``restart(_:after:at:)`` or ``fail(_:)``.
        ///
        /// - Parameter failures: The number of failures in a row, without a stable run between them.
        case failed(Int, failures: Int, mayRestart: Bool)
        /// Calls ``fail(_:)``: a restart that was planned would be one too many.
        case limitReached(Int)
        /// Publishes that a child has returned for good.
        case completed(Int)
        /// Asks a run to stop.
        case requestStop(Int)
        /// Cancels a run: for good, or until the restart of its siblings.
        case cancel(Int, isFinal: Bool)
        /// A run has ended that was asked to stop, or would have been; or a child was stopped that waited.
        case down(Int, isFinal: Bool)
        /// Waits until an event, or until a time.
        case wait(until: Duration?)
        /// Ends.
        case end(End)
    }

    enum Phase: Hashable {
        case pending, launching, starting, ready
        case ended(RunEnd)
        /// The coordinator decides about the failure.
        case deciding
        case completed, retired, failed
    }

    struct Stop: Hashable {
        /// `nil`: until the owner cancels the coordinator.
        let deadline: Duration?
        var isCancelled = false
    }

    /// A child, from its beginning to its end.
    struct Child {
        let rules: Rules
        var phase = Phase.pending
        /// The number of the last run, counted from 1.
        var run = 0
        var failures = 0
        var notBefore = Duration.zero
        /// Whether the next run is a restart that counts.
        var isCounted = false
        /// Whether the run is a restart that counts, and is not in the window.
        var isUnrecorded = false
        /// Whether `ready()` was called, and the coordinator has not published it.
        var isReadyNews = false
        var hasBeenReady = false
        /// Whether others see that the run is ready: what a wait promises.
        var isReadyPublished = false
        /// Whether others see that the child has ended.
        var isEndPublished = false
        var readySince: Duration?
        var mustStop = false
        /// Whether the child was stopped on its own: it does not begin again.
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
        /// The child never began. The caller publishes that.
        case isStopped
        /// The coordinator stops the child.
        case stops
    }

    /// Waiters to resume, by the result that they are resumed with.
    struct Woken {
        var reached: [Waiter] = []
        var ended: [Waiter] = []

        mutating func append(_ other: Woken) {
            reached += other.reached
            ended += other.ended
        }
    }

    /// The next step of a caller that waits until a child is ready.
    enum Enrollment {
        case reached, ended
        case waits(Waiters.ID)
    }
}

/// The end of a wait of the coordinator or of a caller.
enum SupervisionWake: Hashable, Sendable {
    /// The event that the waiter waited for has happened.
    case reached
    /// The child has ended before it was ready.
    case ended
    /// The waiter was cancelled, and has left.
    case left
}

extension SupervisionStrategy {
    /// Whether a child is restarted with another one that has failed. Later children have greater numbers.
    func restarts(_ sibling: Int, with child: Int) -> Bool {
        switch self {
        case .one: false
        case .all: sibling != child
        case .rest: sibling > child
        }
    }
}
