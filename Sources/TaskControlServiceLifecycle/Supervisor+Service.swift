#if ServiceLifecycle
public import ServiceLifecycle
public import TaskControlSupervision

/// A supervisor is a service, which stops its children in reverse order, each with its grace, when its service group shuts down.
extension Supervisor: @retroactive Service {
    /// Runs the children until all have completed, until the graceful shutdown of the service group has stopped them, or until one of them fails
    /// permanently.
    ///
    /// Outside of a service group, no graceful shutdown reaches the supervisor.
    ///
    /// ## Cancellation
    /// A cancelled caller stops the children in reverse order, without grace, and waits for them to end, also during a graceful shutdown.
    ///
    /// - Throws: `SupervisionError` if a child fails permanently; `CancellationError` if the caller is cancelled.
    public func run() async throws {
        // Throws only when its task is cancelled: then the caller is cancelled as well, or the children have ended.
        try await run { try? await gracefulShutdown() }
    }
}
#endif
