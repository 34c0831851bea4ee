/// An owner of this package. An extension of this protocol implements the two requirements of ``TaskOwner`` that wait,
/// with steps that each type of owner implements in its own way.
package protocol ClosableOwner: TaskOwner {
    /// Refuses later tasks, at the beginning of a shutdown. The present ones that run continue.
    ///
    /// - Parameter waiting: The rule for tasks that have not begun, and for further attempts of `retry` and `poll`.
    func refuse(waiting: WaitingWorkBehavior)

    /// Cancels every task for a cause.
    func cancelAll(for cause: CancellationCause)

    /// Cancels every task for a cause, at the end of the grace period of a shutdown, and waits until all tasks have
    /// ended, also if the caller is cancelled.
    ///
    /// - Parameter limit: The limit on this wait; `nil` for none.
    /// - Returns: The tasks that this call has cancelled, and those that are left when the limit has passed.
    func cutOff(for cause: CancellationCause, within limit: CancellationLimit?) async -> ShutdownReport

    /// Waits until all tasks have ended.
    ///
    /// - Parameter staysWhenCancelled: Whether a cancelled caller continues to wait; otherwise it receives an error.
    func drain(staysWhenCancelled: Bool) async throws(CancellationError)
}

// The requirements are documented in `TaskOwner`.
// swift-format-ignore: AllPublicDeclarationsHaveDocumentation
extension ClosableOwner {
    public func drain() async throws(CancellationError) { try await drain(staysWhenCancelled: false) }

    @discardableResult
    public func shutdown(
        grace: Duration,
        waiting: WaitingWorkBehavior,
        cancellationGrace: Duration?,
        clock: any Clock<Duration>
    ) async -> ShutdownReport {
        refuse(waiting: waiting)
        await withTaskGroup { group in
            group.addTask { try? await self.drain(staysWhenCancelled: false) }
            group.addTask { if grace > .zero { try? await sleep(for: grace, on: clock) } }
            await group.next()
            group.cancelAll()
        }
        return await cutOff(for: .shutdown(name: name), within: CancellationLimit(cancellationGrace, on: clock))
    }
}

/// The time that cancelled tasks have to end.
package struct CancellationLimit: Sendable {
    let duration: Duration
    let clock: any Clock<Duration>

    /// Creates a limit; `nil` if there is none.
    package init?(_ duration: Duration?, on clock: any Clock<Duration>) {
        guard let duration else { return nil }
        (self.duration, self.clock) = (duration, clock)
    }
}

/// Waits until tasks that were cancelled have ended, also if the caller is cancelled.
///
/// - Parameters:
///   - limit: The limit on the wait; `nil` for none.
///   - drain: Waits until the tasks have ended. Its argument is whether it continues to wait in a cancelled task.
/// - Returns: Whether the tasks have ended; `false` if the limit has passed before.
package func waitForCancelledTasks(
    within limit: CancellationLimit?,
    _ drain: @escaping @Sendable (Bool) async throws(CancellationError) -> Void
) async -> Bool {
    guard let limit else {
        try? await drain(true)
        return true
    }
    // No child, which the cancellation of the caller would reach.
    let wait = Task.detached(name: "TaskControl: waits for cancelled tasks", priority: Task.currentPriority) {
        do {
            try await drain(false)
            return true
        } catch {
            return false
        }
    }
    let timer = Task.detached(name: "TaskControl: waits for the end of a limit", priority: Task.currentPriority) {
        if limit.duration > .zero { try? await sleep(for: limit.duration, on: limit.clock) }
        wait.cancel()
    }
    defer { timer.cancel() }
    return await wait.value
}
