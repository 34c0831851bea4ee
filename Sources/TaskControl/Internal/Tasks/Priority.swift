internal import CTaskControl

// Apple systems have a function that escalates a task from macOS 26, iOS 26 and their siblings of that year on. A task
// can also be notified of its own escalation there, but the compilers before Swift 6.4 import the two runtime functions
// behind this strongly, whatever `#available` says: a program that contains a call of them does not start on an older
// system (swiftlang/swift#88428). So with these compilers the calls are compiled for other platforms only.

/// Performs a wait, and passes the priority of the waiting task to a closure that escalates the awaited work: at the
/// start, and whenever the priority rises.
///
/// Before macOS 26, iOS 26 and the other Apple systems of that year, `raise` is never called: there, a task is
/// escalated only by a task that awaits it. On Apple systems, code that a compiler before Swift 6.4 has compiled calls
/// `raise` at the start only.
///
/// - Parameters:
///   - wait: The wait, which runs in the caller's isolation.
///   - raise: Receives the priority. Runs outside the escalation handler, on any thread, and perhaps after the wait has
///     ended. The closure is escaping, so that its captures are not in a stack frame of the waiting task, whose memory
///     is limited.
@usableFromInline
package nonisolated(nonsending) func raising<Value: Sendable>(
    _ wait: nonisolated(nonsending) () async -> Value,
    with raise: @escaping @Sendable (TaskPriority) -> Void
) async -> Value {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return await wait() }
    #if canImport(Darwin) && compiler(<6.4)
    raise(Task.currentPriority)
    return await wait()
    #else
    return await withTaskPriorityEscalationHandler {
        // Read while the handler is installed, so that no rise is missed.
        raise(Task.currentPriority)
        return await wait()
    } onPriorityEscalated: { _, priority in
        escalateOutsideHandler { raise(priority) }
    }
    #endif
}

/// Runs an operation, and calls a closure whenever the priority of the current task rises meanwhile.
///
/// The closure is never called before macOS 26, iOS 26 and the other Apple systems of that year, and on Apple systems if
/// a compiler before Swift 6.4 has compiled this code.
///
/// - Parameters:
///   - raise: Receives the new priority. Runs outside the escalation handler, on any thread, and perhaps after the operation has ended.
///   - operation: The operation, which runs in the caller's task and isolation.
package nonisolated(nonsending) func passingRises<Value, Failure: Error>(
    to raise: @escaping @Sendable (TaskPriority) -> Void,
    of operation: nonisolated(nonsending) () async throws(Failure) -> Value
) async throws(Failure) -> Value {
    #if canImport(Darwin) && compiler(<6.4)
    return try await operation()
    #else
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return try await operation() }
    return try await withTaskPriorityEscalationHandler(operation: operation) { _, priority in
        escalateOutsideHandler { raise(priority) }
    }
    #endif
}

/// Escalates the given tasks to a priority, if their priority is lower. Does nothing before macOS 26, iOS 26 and the
/// other Apple systems of that year.
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

/// Consumes a priority, and returns its raw value; `nil` for `nil`. (A caller that keeps the priority must copy and
/// destroy an optional whose size is known only at run time.)
@export(implementation)
@inline(__always)
func rawLevel(_ priority: consuming TaskPriority?) -> UInt8? {
    switch consume priority {
    case .none: nil
    case .some(let priority): priority.rawValue
    }
}

/// The raw value of `TaskPriority.userInitiated`, the highest priority that a task inherits.
private var highestInheritedLevel: UInt8 { 25 }
