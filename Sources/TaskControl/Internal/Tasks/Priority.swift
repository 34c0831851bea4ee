internal import CTaskControl

/// Waits, and escalates whatever the wait is for to the priority of the waiting task, at the start and whenever that rises.
///
/// Before macOS 26 and its siblings the system offers no way to escalate a task except to await it.
///
/// - Parameter raise: Receives the priority, at the start and whenever it rises; outside the escalation handler, on any thread, and
///   perhaps after the wait has ended. Escaping, so that what it captures is not in a frame of the waiting task (see `_TurnBody`).
package nonisolated(nonsending) func raising<Value: Sendable>(
    _ wait: nonisolated(nonsending) () async -> Value,
    with raise: @escaping @Sendable (TaskPriority) -> Void
) async -> Value {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return await wait() }
    return await withTaskPriorityEscalationHandler {
        // Looked at with the handler in place, so that no rise is lost in between.
        raise(Task.currentPriority)
        return await wait()
    } onPriorityEscalated: { _, priority in
        performOutsideHandler { raise(priority) }
    }
}

/// Runs an operation, and passes each rise of the priority of its task on.
///
/// - Parameter raise: Receives the priority, outside the escalation handler, on any thread, and perhaps after the operation has ended.
package nonisolated(nonsending) func passingRises<Value, Failure: Error>(
    to raise: @escaping @Sendable (TaskPriority) -> Void,
    of operation: nonisolated(nonsending) () async throws(Failure) -> Value
) async throws(Failure) -> Value {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return try await operation() }
    return try await withTaskPriorityEscalationHandler(operation: operation) { _, priority in
        performOutsideHandler { raise(priority) }
    }
}

/// Raises tasks that have less to a priority, where the system supports it.
func raise(_ jobs: [_TaskHandle], to priority: TaskPriority) {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
    for job in jobs { job.escalatePriority(to: priority) }
}

/// The raw priority of a task that is created here without one: the base priority of the task that makes it, whatever that has been raised to, and
/// not that of the user interface, which is not passed on. (A `TaskPriority` is of a size that clients of the standard library look up.)
var inheritedLevel: UInt8 {
    let base = tc_basePriority()
    return min(base != 0 ? base : Task.currentPriority.rawValue, highestInheritedLevel)
}

/// That of `TaskPriority.userInitiated`.
private var highestInheritedLevel: UInt8 { 25 }
