#if ServiceLifecycle
public import ServiceLifecycle
public import TaskControl

extension TaskOwner {
    /// Returns a service for swift-service-lifecycle. When the service group of the service shuts down, the service
    /// shuts down this owner of tasks.
    ///
    /// ```swift
    /// let group = ServiceGroup(
    ///     services: [lifetime.service(grace: .seconds(5))],
    ///     gracefulShutdownSignals: [.sigterm],
    ///     logger: logger
    /// )
    /// ```
    ///
    /// The service runs until the graceful shutdown of its group, even if the owner has no tasks or is closed, and then shuts down the owner. When it
    /// ends, the owner has no tasks and accepts no more tasks. A service group shows the type and the name of the owner in its log.
    ///
    /// ## Cancellation
    /// If the service is cancelled, the owner's tasks are cancelled at once, even during the grace period of a graceful shutdown. The service throws
    /// `CancellationError` if it is cancelled before the graceful shutdown, and no other error.
    ///
    /// - Parameters:
    ///   - grace: The time, from the beginning of the graceful shutdown, after which the owner's tasks are cancelled.
    ///     If it is zero or negative, they are cancelled at once.
    ///   - clock: The clock that measures `grace`.
    /// - Returns: The service, which retains the owner.
    public func service(grace: Duration, clock: any Clock<Duration> = ContinuousClock()) -> some Service {
        TaskOwnerService(owner: self, grace: grace, clock: clock)
    }
}

/// Shuts down an owner of tasks when its service group shuts down.
private struct TaskOwnerService: Service, CustomStringConvertible {
    let owner: any TaskOwner
    let grace: Duration
    let clock: any Clock<Duration>

    func run() async throws {
        do {
            try await gracefulShutdown()
        } catch {
            await owner.shutdown(grace: .zero, clock: clock)
            throw error
        }
        await owner.shutdown(grace: grace, clock: clock)
    }

    var description: String {
        let type = "\(type(of: owner))"
        return owner.name.map { "\(type) \"\($0)\"" } ?? type
    }
}
#endif
