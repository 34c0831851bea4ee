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
    /// - Parameters:
    ///   - grace: The time, from the beginning of the graceful shutdown, after which the owner's tasks are cancelled.
    ///     If it is zero or negative, they are cancelled at once.
    ///   - clock: The clock that measures `grace`.
    /// - Returns: The service, which retains the owner.
    public func service(grace: Duration, clock: any Clock<Duration> = ContinuousClock()) -> TaskOwnerService {
        TaskOwnerService(owner: self, grace: grace, clock: clock)
    }
}

/// A service for swift-service-lifecycle that shuts down an owner of tasks, such as a lifetime, when the service group
/// of the service shuts down. Created with ``TaskControl/TaskOwner/service(grace:clock:)``.
///
/// The service runs until the graceful shutdown of its group, even if the owner has no tasks or is closed.
public struct TaskOwnerService: Service {
    fileprivate let owner: any TaskOwner
    fileprivate let grace: Duration
    fileprivate let clock: any Clock<Duration>

    /// Waits for the graceful shutdown of the service group, and then shuts down the owner with the grace period of the
    /// service. Called by the service group.
    ///
    /// When this function returns or throws, the owner has no tasks and accepts no more tasks.
    ///
    /// ## Cancellation
    /// If the caller is cancelled, the owner's tasks are cancelled at once, even during the grace period of a graceful
    /// shutdown.
    ///
    /// - Throws: `CancellationError` if the caller is cancelled before the graceful shutdown, and no other error.
    public func run() async throws {
        do {
            try await gracefulShutdown()
        } catch {
            await owner.shutdown(grace: .zero, clock: clock)
            throw error
        }
        await owner.shutdown(grace: grace, clock: clock)
    }
}

extension TaskOwnerService: CustomStringConvertible {
    /// The type of the owner, and its name if it has one. A service group shows this text in its log.
    public var description: String {
        let type = "\(type(of: owner))"
        return owner.name.map { "\(type) \"\($0)\"" } ?? type
    }
}
#endif
