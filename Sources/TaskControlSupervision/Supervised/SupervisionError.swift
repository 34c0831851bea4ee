/// The error of supervised work that has ended and is not restarted, or is not ready in time.
///
/// ``SupervisedWork/waitUntilReady()`` throws this error if the work ends before it is ready, and
/// ``Supervisor/run(until:)`` throws it if a child fails permanently. ``SupervisedWork/waitUntilReady(within:clock:)`` also
/// throws it if the work is not ready in time.
public struct SupervisionError: Error, Sendable {
    /// The reason for which supervised work ends, or is not ready.
    @nonexhaustive
    public enum Reason: Hashable, Sendable {
        /// The work has failed, and is not restarted: its ``RestartRule``, its ``RestartLimit`` or its backoff allows
        /// no further restart.
        case failed
        /// The work was stopped: ``SupervisedWork/stop()`` was called, the ``Supervisor`` or
        /// ``TaskControl/AsyncLifetime`` to which it belongs was stopped or closed, or the ``Supervisor`` has ended
        /// because another child has failed and is not restarted.
        case stopped
        /// The work has returned, and is not restarted. Also the reason of a run that counts as failed, since it has
        /// returned although the rule of its work is ``RestartRule/always``.
        case completed
        /// No run of the work was ready in time. The work continues: see ``SupervisedWork/waitUntilReady(within:clock:)``.
        case notReady
    }

    /// A run of supervised work that has failed.
    public struct FailedRun: Sendable, CustomStringConvertible {
        /// The name of the work.
        public let name: String
        /// The number of the run, counted from 1.
        public let run: Int
        /// The error that the run threw. If the run has returned, a ``SupervisionError`` with the reason
        /// ``SupervisionError/Reason/completed``.
        public let error: any Error

        /// The name of the work, the number of the run, and the error.
        public var description: String { "\(name), run \(run): \(error)" }
    }

    /// The name of the work.
    public let name: String
    /// The reason for which the work ended, or is not ready.
    public let reason: Reason
    /// The latest 32 failures, the oldest first, if ``reason`` is ``Reason/failed``; the last failure, if there is one, if
    /// it is ``Reason/notReady``; otherwise empty. If the work is a child of a ``Supervisor``, these include the failures
    /// of the other children.
    public let causes: [FailedRun]
}

extension SupervisionError: CustomStringConvertible {
    /// The name of the work, the reason for the error, and the failures.
    public var description: String {
        let verb =
            switch reason {
            case .failed: "has failed"
            case .stopped: "has been stopped"
            case .completed: "has completed"
            case .notReady: "is not ready"
            }
        let text = "\"\(name)\" \(verb)"
        return causes.isEmpty ? text : "\(text) (\(causes.map(\.description).joined(separator: "; ")))"
    }
}
