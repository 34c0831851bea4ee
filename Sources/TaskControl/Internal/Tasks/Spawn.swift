private import CTaskControl

/// A value whose `run()` is the function that a task of this library runs, and that calls the client's operation. The
/// conforming types are structs instead of closures, because a task then needs only one allocation.
///
/// The code of generic conforming types is exported: code that is not specialized for the type of its result takes several times the time and memory.
@usableFromInline
protocol _TaskBody<Success, Failure>: Sendable {
    associatedtype Success: Sendable
    associatedtype Failure: Error

    /// Runs the body, in the isolation of the task.
    nonisolated(nonsending) func run() async throws(Failure) -> Success
}

/// Creates a task that is isolated to `isolation` from its first instruction: the task is enqueued on that actor at
/// once, in the order of the calls. The task inherits the task-local values of the caller, as with `Task.init`.
///
/// - Parameters:
///   - name: The name of the task; `nil` for none.
///   - priority: The priority of the task; `nil` for that of the caller.
///   - isolation: The actor that the task is isolated to; `nil` for none.
///   - body: The function that the task runs.
@export(implementation)
func spawn<Body: _TaskBody>(
    name: String?,
    priority: TaskPriority?,
    isolatedTo isolation: (any Actor)?,
    _ body: consuming Body
) -> Task<Body.Success, Never> where Body.Failure == Never {
    _Isolated.make(name: name, priority: priority, isolatedTo: isolation, body)
}

/// Creates a task that may throw and is isolated to `isolation` from its first instruction: the task is enqueued on
/// that actor at once, in the order of the calls. The task inherits the task-local values of the caller, as with
/// `Task.init`.
///
/// - Parameters:
///   - name: The name of the task; `nil` for none.
///   - priority: The priority of the task; `nil` for that of the caller.
///   - isolation: The actor that the task is isolated to; `nil` for none.
///   - body: The function that the task runs.
@export(implementation)
func spawn<Body: _TaskBody>(
    name: String?,
    priority: TaskPriority?,
    isolatedTo isolation: (any Actor)?,
    _ body: consuming Body
) -> Task<Body.Success, any Error> where Body.Failure == any Error {
    _Isolated.make(name: name, priority: priority, isolatedTo: isolation, body)
}

/// Creates a task whose priority is given as a raw value. In all other respects this function is the same as
/// `spawn(name:priority:isolatedTo:_:)`.
///
/// If `name` is `nil` and `level` is 0, no optional `TaskPriority` is created: code outside the standard library must
/// look up its size each time that it is passed on.
///
/// - Parameters:
///   - name: The name of the task; `nil` for none.
///   - level: The raw value of the priority; 0 for the priority of the caller.
///   - isolation: The actor that the task is isolated to; `nil` for none.
///   - body: The function that the task runs.
@export(implementation)
@inline(__always)
func spawn<Body: _TaskBody>(
    name: String?,
    level: UInt8,
    isolatedTo isolation: (any Actor)?,
    _ body: consuming Body
) -> Task<Body.Success, Never> where Body.Failure == Never {
    if name == nil, level == 0 { return spawn(name: nil, priority: nil, isolatedTo: isolation, body) }
    let priority = level == 0 ? nil : TaskPriority(rawValue: level)
    return spawn(name: name, priority: priority, isolatedTo: isolation, body)
}

/// Creates a task that may throw, and whose priority is given as a raw value. In all other respects this function is
/// the same as `spawn(name:priority:isolatedTo:_:)`.
///
/// - Parameters:
///   - name: The name of the task; `nil` for none.
///   - level: The raw value of the priority; 0 for the priority of the caller.
///   - isolation: The actor that the task is isolated to; `nil` for none.
///   - body: The function that the task runs.
@export(implementation)
@inline(__always)
func spawn<Body: _TaskBody>(
    name: String?,
    level: UInt8,
    isolatedTo isolation: (any Actor)?,
    _ body: consuming Body
) -> Task<Body.Success, any Error> where Body.Failure == any Error {
    if name == nil, level == 0 { return spawn(name: nil, priority: nil, isolatedTo: isolation, body) }
    let priority = level == 0 ? nil : TaskPriority(rawValue: level)
    return spawn(name: name, priority: priority, isolatedTo: isolation, body)
}

/// Creates a task that inherits neither isolation nor priority nor task-local values.
///
/// - Parameters:
///   - name: The name of the task; `nil` for none.
///   - priority: The priority of the task; `nil` for the default of the system.
///   - body: The function that the task runs.
func spawnDetached<Body: _TaskBody>(
    name: String?,
    priority: TaskPriority?,
    _ body: Body
) -> Task<Body.Success, Never> where Body.Failure == Never {
    Task<Body.Success, any Error>.detached(name: name, priority: priority) { await body.run() }.unfailing
}

/// Creates a task for internal work of this package. No events are emitted about the task, except those that `work`
/// emits. The task is not isolated, and inherits the priority and task-local values of the caller.
package func spawn(name: String? = nil, _ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
    struct Plain: _TaskBody {
        let work: @Sendable () async -> Void

        nonisolated(nonsending) func run() async { await work() }
    }
    return spawn(name: name, priority: nil, isolatedTo: nil, Plain(work: work))
}

/// Whether the current task was cancelled; `false` outside tasks. The same value as `Task.isCancelled`, read in about a
/// third of the time.
@usableFromInline package var _isTaskCancelled: Bool { tc_isTaskCancelled() }

/// The address of a task, which identifies the task until it ends.
package struct TaskAddress: Hashable, Sendable {
    private let bits: UInt

    init(bits: UInt) { self.bits = bits }

    /// The address of the current task; zero outside tasks.
    package static var running: Self { Self(bits: UInt(bitPattern: tc_runningTask())) }

    /// The hash, computed by one multiplication instead of a `Hasher`: addresses are looked up often, and an attacker
    /// cannot choose them.
    package var hashValue: Int { Int(truncatingIfNeeded: (UInt64(bits >> 4) &* 0x9e37_79b9_7f4a_7c15) >> 24) }

    package func hash(into hasher: inout Hasher) { hasher.combine(bits) }

    var pointer: UnsafeRawPointer? { UnsafeRawPointer(bitPattern: bits) }
}
