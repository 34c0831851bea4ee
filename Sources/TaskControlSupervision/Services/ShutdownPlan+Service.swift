#if ServiceLifecycle

public import ServiceLifecycle
public import TaskControl

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
    ///   - waiting: The rule for tasks that have not begun when the graceful shutdown begins, and for further attempts of
    ///     `retry` in tasks that run. By default, both begin during the grace.
    ///   - clock: The clock that measures `grace`.
    /// - Returns: The service, which retains the owner.
    public func service(
        grace: Duration,
        waiting: WaitingWorkBehavior = .run,
        clock: any Clock<Duration> = ContinuousClock()
    ) -> some Service {
        TaskOwnerService(owner: self, grace: grace, waiting: waiting, clock: clock)
    }
}

/// Shuts down an owner of tasks when its service group shuts down.
private struct TaskOwnerService: Service, CustomStringConvertible {
    let owner: any TaskOwner
    let grace: Duration
    let waiting: WaitingWorkBehavior
    let clock: any Clock<Duration>

    func run() async throws {
        do {
            try await gracefulShutdown()
        } catch {
            await owner.shutdown(grace: .zero, clock: clock)
            throw error
        }
        await owner.shutdown(grace: grace, waiting: waiting, clock: clock)
    }

    var description: String {
        let type = "\(type(of: owner))"
        return owner.name.map { "\(type) \"\($0)\"" } ?? type
    }
}

#endif
