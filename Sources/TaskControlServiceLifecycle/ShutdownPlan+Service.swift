#if ServiceLifecycle
public import ServiceLifecycle
public import TaskControlSupervision

/// A shutdown plan is a service, which performs its steps when its service group shuts down.
extension ShutdownPlan: @retroactive Service {
    /// Waits for the graceful shutdown of the service group, then performs the steps of the plan. Called by the service group.
    ///
    /// ## Cancellation
    /// A cancelled caller performs the remaining steps without grace.
    ///
    /// - Throws: `ShutdownError` with the errors of all steps that have failed; `CancellationError` if the caller is cancelled before the graceful shutdown
    ///   and no step fails.
    public func run() async throws {
        var cancellation: (any Error)?
        do {
            try await gracefulShutdown()
        } catch {
            cancellation = error
        }
        try await shutdown()
        if let cancellation { throw cancellation }
    }
}
#endif
