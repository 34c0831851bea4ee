internal import CTaskControl

/// Performs a wait, and calls a closure that escalates the awaited work to the priority of the waiting task: at the start, and whenever that priority
/// rises.
///
/// Before macOS 26 and the other systems of that year, `raise` is never called: they can escalate a task only by awaiting it.
///
/// - Parameters:
///   - wait: The wait.
///   - raise: Receives the priority. Runs outside the escalation handler, on any thread, and perhaps after the wait has ended. It is escaping, so
///     that its captures are not in a frame of the waiting task (see `_TurnBody`).
@usableFromInline
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

/// Runs an operation, and calls a closure whenever the priority of the operation's task rises.
///
/// - Parameters:
///   - raise: Receives the new priority. Runs outside the escalation handler, on any thread, and perhaps after the operation has ended.
///   - operation: The operation.
package nonisolated(nonsending) func passingRises<Value, Failure: Error>(
    to raise: @escaping @Sendable (TaskPriority) -> Void,
    of operation: nonisolated(nonsending) () async throws(Failure) -> Value
) async throws(Failure) -> Value {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return try await operation() }
    return try await withTaskPriorityEscalationHandler(operation: operation) { _, priority in
        performOutsideHandler { raise(priority) }
    }
}

/// Escalates those of the given tasks that have a lower priority to a priority, where the system supports it.
package func raise(_ jobs: [_TaskHandle], to priority: TaskPriority) {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
    for job in jobs { job.escalatePriority(to: priority) }
}

/// The raw priority that a task inherits if the current task creates it without a priority: the base priority of the current task, without
/// escalations, and at most `userInitiated`. (Not a `TaskPriority`, because code outside the standard library must look up the size of an optional
/// `TaskPriority`.)
var inheritedLevel: UInt8 {
    let base = tc_basePriority()
    return min(base != 0 ? base : Task.currentPriority.rawValue, highestInheritedLevel)
}

/// Consumes a priority, and returns its raw value. (A caller that keeps the priority copies and destroys an optional whose size it must look up.)
@inlinable
@inline(__always)
func rawLevel(_ priority: consuming TaskPriority?) -> UInt8? {
    switch consume priority {
    case .none: nil
    case .some(let priority): priority.rawValue
    }
}

/// The raw value of `TaskPriority.userInitiated`, the highest priority that a task inherits.
private var highestInheritedLevel: UInt8 { 25 }
