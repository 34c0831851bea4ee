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

// The same for an operation that came through a generic function, and has that form already.

@inlinable
func received<Success>(
    _ operation: sending @escaping @isolated(any) () async -> Success
) -> @Sendable @isolated(any) () async -> Success {
    unsafeBitCast(Sent(operation: operation), to: Received<Success>.self).operation
}

@inlinable
func received<Success>(
    _ operation: sending @escaping @isolated(any) () async throws -> Success
) -> @Sendable @isolated(any) () async throws -> Success {
    unsafeBitCast(ThrowingSent(operation: operation), to: ThrowingReceived<Success>.self).operation
}

@usableFromInline struct Sent<Success> {
    @usableFromInline let operation: @isolated(any) () async -> Success

    @inlinable init(operation: @escaping @isolated(any) () async -> Success) { self.operation = operation }
}

@usableFromInline struct Received<Success> {
    @usableFromInline let operation: @Sendable @isolated(any) () async -> Success
}

@usableFromInline struct ThrowingSent<Success> {
    @usableFromInline let operation: @isolated(any) () async throws -> Success

    @inlinable init(operation: @escaping @isolated(any) () async throws -> Success) { self.operation = operation }
}

@usableFromInline struct ThrowingReceived<Success> {
    @usableFromInline let operation: @Sendable @isolated(any) () async throws -> Success
}

/// What a task of ours does, around the operation that it was made for. A struct rather than a closure: the task then allocates once for it.
///
/// What is generic in here is inlinable: code that does not know the type of what it returns costs a multiple, in time and in memory.
@usableFromInline
protocol TaskBody<Success, Failure>: Sendable {
    associatedtype Success: Sendable
    associatedtype Failure: Error

    /// Runs in the isolation of the task.
    nonisolated(nonsending) func run() async throws(Failure) -> Success
}

/// Creates a task that is isolated to `isolation` from its first instruction, so that it is enqueued there at once, in the order of the calls.
///
/// The rest is as for `Task.init`: priority and task-locals are the caller's.
@inlinable
func spawn<Body: TaskBody>(
    name: String?,
    priority: TaskPriority?,
    isolatedTo isolation: (any Actor)?,
    _ body: consuming Body
) -> Task<Body.Success, Never> where Body.Failure == Never {
    if let echo = Diagnostics.echoHere {
        return Isolated.make(name: name, priority: priority, isolatedTo: isolation, EchoingBody(echo: echo, body: body))
    }
    return Isolated.make(name: name, priority: priority, isolatedTo: isolation, body)
}

/// As the other, for a task that may fail.
@inlinable
func spawn<Body: TaskBody>(
    name: String?,
    priority: TaskPriority?,
    isolatedTo isolation: (any Actor)?,
    _ body: consuming Body
) -> Task<Body.Success, any Error> where Body.Failure == any Error {
    if let echo = Diagnostics.echoHere {
        return Isolated.make(name: name, priority: priority, isolatedTo: isolation, EchoingBody(echo: echo, body: body))
    }
    return Isolated.make(name: name, priority: priority, isolatedTo: isolation, body)
}

/// Creates a task that inherits nothing, but that it is an observer's echo.
func spawnDetached<Body: TaskBody>(
    name: String?,
    priority: TaskPriority?,
    _ body: Body
) -> Task<Body.Success, Never> where Body.Failure == Never {
    if let echo = Diagnostics.echo {
        let body = EchoingBody(echo: echo, body: body)
        return Task.detached(name: name, priority: priority) { await body.run() }
    }
    return Task.detached(name: name, priority: priority) { await body.run() }
}

/// Creates a task for work of this package that is told of by itself.
package func spawn(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
    struct Plain: TaskBody {
        let work: @Sendable () async -> Void

        nonisolated(nonsending) func run() async { await work() }
    }
    return spawn(name: nil, priority: nil, isolatedTo: nil, Plain(work: work))
}

/// What a task does that an observer has made: so it knows where it comes from. Brought along by the task, since to bind a task-local in the
/// observer takes the runtime's lock of the task that it is told in, which whoever tells may hold.
@usableFromInline
struct EchoingBody<Body: TaskBody>: TaskBody {
    @usableFromInline let echo: Diagnostics.Echo
    @usableFromInline let body: Body

    @inlinable
    init(echo: Diagnostics.Echo, body: Body) {
        self.echo = echo
        self.body = body
    }

    @inlinable
    nonisolated(nonsending) func run() async throws(Body.Failure) -> Body.Success {
        do {
            return try await Diagnostics.inherited.withValue(echo) { try await body.run() }
        } catch let error as Body.Failure {
            throw error
        } catch {
            preconditionFailure("A body fails with its failure, not with \(error).")
        }
    }
}

@usableFromInline struct There<Body: TaskBody, Failure: Error> {
    @usableFromInline typealias Spawn =
        (isolated any Actor, String?, TaskPriority?, consuming Body) -> Task<Body.Success, Failure>
    @usableFromInline let spawn: Spawn

    @inlinable init(spawn: @escaping Spawn) { self.spawn = spawn }
}

@usableFromInline struct Here<Body: TaskBody, Failure: Error> {
    @usableFromInline let spawn: (any Actor, String?, TaskPriority?, consuming Body) -> Task<Body.Success, Failure>
}

@usableFromInline enum Isolated {
    @inlinable
    static func make<Body: TaskBody>(
        name: String?,
        priority: TaskPriority?,
        isolatedTo isolation: (any Actor)?,
        _ body: consuming Body
    ) -> Task<Body.Success, Never> where Body.Failure == Never {
        // Captured as a `let`: a consumed parameter would be captured in a box of its own.
        guard let isolation else {
            let body = body
            return Task(name: name, priority: priority) { await body.run() }
        }
        // A closure takes on the isolation of a function's isolated parameter by capturing it. `spawn` touches nothing that the actor guards, so
        // it is safe to call it from anywhere: the cast drops `isolated` from the type of its first parameter and changes nothing in how
        // it is called.
        let there = There<Body, Never>(spawn: spawn)
        return unsafeBitCast(there, to: Here<Body, Never>.self).spawn(isolation, name, priority, body)
    }

    @inlinable
    static func make<Body: TaskBody>(
        name: String?,
        priority: TaskPriority?,
        isolatedTo isolation: (any Actor)?,
        _ body: consuming Body
    ) -> Task<Body.Success, any Error> where Body.Failure == any Error {
        guard let isolation else {
            let body = body
            return Task(name: name, priority: priority) { try await body.run() }
        }
        // The same cast, for the same reason.
        let there = There<Body, any Error>(spawn: spawn)
        return unsafeBitCast(there, to: Here<Body, any Error>.self).spawn(isolation, name, priority, body)
    }

    @inlinable
    static func spawn<Body: TaskBody>(
        _ isolation: isolated any Actor,
        _ name: String?,
        _ priority: TaskPriority?,
        _ body: consuming Body
    ) -> Task<Body.Success, Never> where Body.Failure == Never {
        let body = body
        return Task(name: name, priority: priority) {
            _ = isolation
            return await body.run()
        }
    }

    @inlinable
    static func spawn<Body: TaskBody>(
        _ isolation: isolated any Actor,
        _ name: String?,
        _ priority: TaskPriority?,
        _ body: consuming Body
    ) -> Task<Body.Success, any Error> where Body.Failure == any Error {
        let body = body
        return Task(name: name, priority: priority) {
            _ = isolation
            return try await body.run()
        }
    }
}
