#if ServiceLifecycle
public import ServiceLifecycle
public import TaskControlSupervision

/// Makes a shutdown plan a service of swift-service-lifecycle: the plan performs its steps when its service group shuts
/// down.
extension ShutdownPlan: @retroactive Service {
    /// Waits for the graceful shutdown of the service group, and then performs the steps of the plan. Called by the service group.
    ///
    /// ## Cancellation
    /// If the caller is cancelled, the remaining steps are performed without grace periods.
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
