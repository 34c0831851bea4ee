internal import TaskControl

/// The error of a ``ShutdownPlan`` in which one or more steps have failed. The other steps were performed nevertheless.
public struct ShutdownError: Error, Sendable {
    /// A step of a ``ShutdownPlan`` that has failed.
    public struct FailedStep: Sendable, CustomStringConvertible {
        /// The name of the step.
        public let name: String
        /// The error that the step threw. For a step that shuts down an owner or a supervisor, which has cancelled tasks: a
        /// `TimeoutError`, or `CancellationError` if the caller was cancelled. If the error of an operation was a `CancellationError`, it is replaced in two cases: by a
        /// `TimeoutError` if the step exceeded its grace (its time limit), and by the error of the clock if the clock could
        /// not measure the grace.
        public let error: any Error
        /// Whether the step was cancelled because it took longer than its grace (its time limit).
        public let hasExceededGrace: Bool
        /// The names of what was cancelled because the grace was over, or because the caller was cancelled: the tasks of an
        /// owner, the children of a supervisor, or the operation. Empty if the step has failed without that.
        public let cancelledNames: [String]
        /// The tasks that had not ended when the plan's `cancellationGrace` was over, each with its name and its owner. They still
        /// run, because they ignore their cancellation.
        public let leftBehind: [String]

        init(
            name: String,
            error: any Error,
            hasExceededGrace: Bool,
            cancelledNames: [String],
            leftBehind: [String] = []
        ) {
            self.name = name
            self.error = error
            self.hasExceededGrace = hasExceededGrace
            self.cancelledNames = cancelledNames
            self.leftBehind = leftBehind
        }

        /// The name and the error of the step, and the names of what was cancelled if they are others.
        public var description: String {
            let text =
                hasExceededGrace && !(error is TimeoutError)
                ? "\(name): \(error), after its grace" : "\(name): \(error)"
            let cancelled = cancelledNames == [name] ? [] : cancelledNames
            let report = ShutdownReport(cancelled: cancelled, leftBehind: leftBehind)
            return report.isEmpty ? text : "\(text) (\(report))"
        }
    }

    /// The steps that have failed, with their errors, in the order of the plan. Never empty.
    public let failures: [FailedStep]
}

extension ShutdownError: CustomStringConvertible {
    /// A sentence that names each failed step and its error.
    public var description: String {
        "the shutdown has failed: \(failures.map(\.description).joined(separator: "; "))"
    }
}
