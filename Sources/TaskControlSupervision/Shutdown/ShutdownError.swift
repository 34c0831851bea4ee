internal import TaskControl

/// The error of a ``ShutdownPlan`` in which one or more steps have failed. The other steps were performed nevertheless.
public struct ShutdownError: Error, Sendable {
    /// A step of a ``ShutdownPlan`` that has failed.
    public struct FailedStep: Sendable, CustomStringConvertible {
        /// The name of the step.
        public let name: String
        /// The error that the step threw. If this was a `CancellationError`, it is replaced in two cases: by a
        /// `TimeoutError` if the step exceeded its grace (its time limit), and by the error of the clock if the clock could
        /// not measure the grace.
        public let error: any Error
        /// Whether the step was cancelled because it took longer than its grace (its time limit).
        public let hasExceededGrace: Bool

        /// The name and the error of the step.
        public var description: String {
            hasExceededGrace && !(error is TimeoutError) ? "\(name): \(error), after its grace" : "\(name): \(error)"
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
