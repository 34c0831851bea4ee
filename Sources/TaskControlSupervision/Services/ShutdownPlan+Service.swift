#if ServiceLifecycle
public import ServiceLifecycle

/// Makes a shutdown plan a service of swift-service-lifecycle: the plan performs its steps when its service group shuts
/// down.
extension ShutdownPlan: Service {
    /// Waits for the graceful shutdown of the service group, and then performs the steps of the plan. Called by the
    /// service group.
    ///
    /// ## Cancellation
    /// If the caller is cancelled before the graceful shutdown begins, the plan begins immediately, and all its steps
    /// are performed in their order with grace periods of zero: the work of each step is cancelled when the step
    /// begins. If the caller is cancelled after the graceful shutdown has begun, the grace period of the current step
    /// ends, and those of the remaining steps are zero.
    ///
    /// - Throws: `ShutdownError` with the errors of all steps that have failed. If no step has failed,
    ///   `CancellationError` if the caller was cancelled before the graceful shutdown.
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
