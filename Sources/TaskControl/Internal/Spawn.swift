/// An operation that a caller hands over, as the library keeps it.
///
/// Parameters are spelled `sending`, as those of `Task.init`, so that a closure may carry what is not Sendable. It is called once, by
/// the task that it was sent to; `@Sendable` here says only that the compiler need not follow it there.
typealias Operation = @Sendable @isolated(any) () async -> Void
typealias ThrowingOperation = @Sendable @isolated(any) () async throws -> Void

// The function types differ in `sending` and `@Sendable` alone, neither of which is part of a closure's representation. (Reading the
// isolation of a `sending @isolated(any)` parameter that is then captured crashes the 6.3 compiler.) The casts are from struct to
// struct since a function that passes through a generic one is wrapped in a thunk that allocates.

func received(_ operation: sending @escaping @isolated(any) () async -> Void) -> Operation {
    struct Sent { let operation: @isolated(any) () async -> Void }
    struct Received { let operation: Operation }
    return unsafeBitCast(Sent(operation: operation), to: Received.self).operation
}

func received(_ operation: sending @escaping @isolated(any) () async throws -> Void) -> ThrowingOperation {
    struct Sent { let operation: @isolated(any) () async throws -> Void }
    struct Received { let operation: ThrowingOperation }
    return unsafeBitCast(Sent(operation: operation), to: Received.self).operation
}

/// What a task of ours does, around the operation that it was made for. A struct rather than a closure: the task then allocates once for it.
protocol TaskBody: Sendable {
    /// Runs in the isolation of the task.
    nonisolated(nonsending) func run() async
}

/// Creates a task that is isolated to `isolation` from its first instruction, so that it is enqueued there at once, in the order of the calls.
///
/// The rest is as for `Task.init`: priority and task-locals are the caller's.
func spawn<Body: TaskBody>(
    name: String?,
    priority: TaskPriority?,
    isolatedTo isolation: (any Actor)?,
    _ body: consuming Body
) -> Task<Void, Never> {
    // Captured as a `let`: a consumed parameter would be captured in a box of its own.
    guard let isolation else {
        let body = body
        return Task(name: name, priority: priority) { await body.run() }
    }
    // A closure takes on the isolation of a function's isolated parameter by capturing it. `Isolated.spawn` touches nothing that
    // the actor guards, so it is safe to call it from anywhere: the cast drops `isolated` from the type of its first parameter and
    // changes nothing in how it is called.
    return unsafeBitCast(There<Body>(spawn: Isolated.spawn), to: Here<Body>.self).spawn(isolation, name, priority, body)
}

private struct There<Body: TaskBody> {
    let spawn: (isolated any Actor, String?, TaskPriority?, consuming Body) -> Task<Void, Never>
}

private struct Here<Body: TaskBody> {
    let spawn: (any Actor, String?, TaskPriority?, consuming Body) -> Task<Void, Never>
}

/// Creates a task that inherits nothing.
func spawnDetached(name: String?, priority: TaskPriority?, _ body: some TaskBody) -> Task<Void, Never> {
    Task.detached(name: name, priority: priority) { await body.run() }
}

private enum Isolated {
    static func spawn(
        _ isolation: isolated any Actor,
        _ name: String?,
        _ priority: TaskPriority?,
        _ body: consuming some TaskBody
    ) -> Task<Void, Never> {
        let body = body
        return Task(name: name, priority: priority) {
            _ = isolation
            await body.run()
        }
    }
}
