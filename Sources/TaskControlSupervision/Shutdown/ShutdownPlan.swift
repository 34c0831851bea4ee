/// A plan that shuts down the parts of a program one after the other, each with a time limit.
///
/// ```swift
/// let plan = ShutdownPlan(steps: [
///     .owner(requests, grace: .seconds(10)),
///     .supervisor(backend),
///     .operation("metrics", grace: .seconds(2)) { try await metrics.flush() },
/// ])
/// try await plan.shutdown()
/// ```
///
/// The time limit of a step is its *grace*: the time for which its tasks can continue before they are cancelled.
///
/// A plan has no state: a second call of ``shutdown()`` performs the steps again. Since the owners and supervisors are
/// already shut down, only the operations run again.
///
/// The plan retains its owners and supervisors. It does not run the supervisors.
///
/// ## Ordering
/// The steps are performed in the order of the list. Each begins after the step before it has ended.
///
/// ## Cancellation
/// If the task that calls ``shutdown()`` is cancelled, the grace of the current step ends. The remaining steps are
/// still performed, without a grace.
public struct ShutdownPlan: Sendable {
    /// The name of the plan, shown in its description; `nil` if it has none.
    public let name: String?
    private let steps: [Step]
    private let clock: any Clock<Duration>
    private let cancellationGrace: Duration?

    /// Creates a plan.
    ///
    /// - Parameters:
    ///   - name: The name of the plan, shown in its description; `nil` if it has none.
    ///   - cancellationGrace: The time that the work of a step has to end after it was cancelled, and each child of a
    ///     supervisor; `nil` for any time. Work that takes longer ignores its cancellation: it is left behind, and the error
    ///     of the plan names it. 10 seconds, because a system that ends a process gives it about 30, and a server that waits
    ///     without end for one request serves no other.
    ///   - clock: Measures the times of the steps. A supervisor measures the graces of its children with its own clock.
    ///   - steps: The steps, the first one first.
    public init(
        name: String? = nil,
        cancellationGrace: Duration? = .seconds(10),
        clock: any Clock<Duration> = ContinuousClock(),
        steps: [Step]
    ) {
        self.name = name
        self.cancellationGrace = cancellationGrace
        self.clock = clock
        self.steps = steps
    }

    /// Performs all steps in order, also those after a step that has failed.
    ///
    /// A step that takes longer than its grace (its time limit) is cancelled, and left behind if its work has not ended
    /// when the plan's `cancellationGrace` has passed too.
    ///
    /// Never call this function from a task for which a step waits, such as a child of a supervisor of the plan: the
    /// task would wait for itself.
    ///
    /// ## Cancellation
    /// Cancelling the caller ends the grace of the current step early, and the remaining steps have none: owners
    /// cancel their tasks at once, supervisors one child after the other, and steps that are operations run in a task that is already cancelled.
    /// When this function returns or throws, all steps have been performed.
    ///
    /// - Throws: ``ShutdownError`` with the errors of all steps that have failed, and with the names of the tasks that were
    ///   cancelled because a grace was over, or that were left behind. If no step has failed, this function returns, even if the caller is cancelled.
    public func shutdown() async throws(ShutdownError) {
        var failures: [ShutdownError.FailedStep] = []
        for step in steps {
            if let failure = await step.perform(clock, cancellationGrace: cancellationGrace) {
                failures.append(failure)
            }
        }
        if !failures.isEmpty { throw ShutdownError(failures: failures) }
    }
}

extension ShutdownPlan: CustomStringConvertible {
    /// The type, and the name if there is one.
    public var description: String { name.map { "ShutdownPlan \"\($0)\"" } ?? "ShutdownPlan" }
}
