#if ServiceLifecycle
public import ServiceLifecycle

/// Makes a supervisor a service of swift-service-lifecycle: when its service group shuts down, the supervisor stops its
/// children in reverse order, each with its own grace period.
extension Supervisor: Service {
    /// Runs the children until all of them have ended, for example because the graceful shutdown of the service group
    /// has stopped them. If a child fails permanently, stops the others. Called by the service group.
    ///
    /// Outside of a service group, the supervisor does not receive a graceful shutdown.
    ///
    /// ## Cancellation
    /// If the caller is cancelled, even during a graceful shutdown, the children are stopped in reverse order without
    /// grace periods, and this function waits for them to end.
    ///
    /// - Throws: `CancellationError` if the caller is cancelled; otherwise `SupervisionError` if a child fails
    ///   permanently.
    public func run() async throws {
        // Throws only when its task is cancelled: then the caller is cancelled as well, or the children have ended.
        try await run { try? await gracefulShutdown() }
    }
}
#endif
