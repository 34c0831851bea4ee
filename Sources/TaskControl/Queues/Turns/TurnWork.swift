/// The work of a turn: an operation, and whether it runs when its task is cancelled before the turn.
@usableFromInline
protocol _TurnWork: _TaskBody {
    /// Whether the operation is skipped (does not run) if its task is cancelled before the turn. If `false`, the
    /// operation runs at its turn even in a cancelled task, with `Task.isCancelled` true.
    static var isSkippable: Bool { get }

    /// Returns the result of work that is skipped: `Void`, or a `CancellationError` that is thrown if the work may
    /// throw. Called only if `isSkippable` is true.
    static func skipped() throws(Failure) -> Success
}

extension _TurnWork where Failure == Never {
    /// Always `false`: work that cannot throw must return a value, so it is not skipped.
    @export(implementation) static var isSkippable: Bool { false }

    @export(implementation) static func skipped() -> Success {
        preconditionFailure("Work that must return a value is not skipped.")
    }
}

extension _TurnWork where Failure == any Error {
    @export(implementation) static var isSkippable: Bool { true }

    @export(implementation) static func skipped() throws -> Success { throw CancellationError() }
}

/// An operation that cannot throw, and receives the actor that it runs on.
///
/// Not one type with ``_ActorThrowingWork``: with a generic failure type, the closure would be wrapped in a thunk,
/// which costs an allocation and a frame.
@usableFromInline
struct _ActorWork<ActorType: Actor, Success: Sendable>: _TurnWork {
    @usableFromInline let actor: ActorType
    @usableFromInline let operation: @Sendable (isolated ActorType) async -> Success

    @export(implementation)
    init(_ actor: ActorType, _ operation: @escaping @Sendable (isolated ActorType) async -> Success) {
        self.actor = actor
        self.operation = operation
    }

    @export(implementation) nonisolated(nonsending) func run() async -> Success { await operation(actor) }
}

/// An operation that may throw, and receives the actor that it runs on.
@usableFromInline
struct _ActorThrowingWork<ActorType: Actor, Success: Sendable>: _TurnWork {
    @usableFromInline let actor: ActorType
    @usableFromInline let operation: @Sendable (isolated ActorType) async throws -> Success

    @export(implementation)
    init(_ actor: ActorType, _ operation: @escaping @Sendable (isolated ActorType) async throws -> Success) {
        self.actor = actor
        self.operation = operation
    }

    @export(implementation) nonisolated(nonsending) func run() async throws -> Success { try await operation(actor) }
}

/// An operation that cannot throw, and runs in the isolation in which it was written.
///
/// Not one type with ``_PlainThrowingWork``: with a generic failure type, the closure would be wrapped in a thunk,
/// which costs an allocation and a frame.
@usableFromInline
struct _PlainWork<Success: Sendable>: _TurnWork {
    @usableFromInline let operation: @Sendable @isolated(any) () async -> Success

    @export(implementation)
    init(_ operation: @escaping @Sendable @isolated(any) () async -> Success) {
        self.operation = operation
    }

    @export(implementation) nonisolated(nonsending) func run() async -> Success { await operation() }
}

/// An operation that may throw, and runs in the isolation in which it was written.
@usableFromInline
struct _PlainThrowingWork<Success: Sendable>: _TurnWork {
    @usableFromInline let operation: @Sendable @isolated(any) () async throws -> Success

    @export(implementation)
    init(_ operation: @escaping @Sendable @isolated(any) () async throws -> Success) {
        self.operation = operation
    }

    @export(implementation) nonisolated(nonsending) func run() async throws -> Success { try await operation() }
}

/// Work that cannot throw and returns no value, and does not run if its task was cancelled before the turn.
@usableFromInline
struct _SkippableWork<Work: _TurnWork>: _TurnWork where Work.Success == Void, Work.Failure == Never {
    @usableFromInline let work: Work

    @export(implementation)
    init(_ work: Work) {
        self.work = work
    }

    @export(implementation) static var isSkippable: Bool { true }

    @export(implementation) static func skipped() {}

    @export(implementation) nonisolated(nonsending) func run() async { await work.run() }
}

/// Work that may throw, and runs even if its task was cancelled before the turn.
@usableFromInline
struct _ObligedWork<Work: _TurnWork>: _TurnWork where Work.Failure == any Error {
    @usableFromInline let work: Work

    @export(implementation)
    init(_ work: Work) {
        self.work = work
    }

    @export(implementation) static var isSkippable: Bool { false }

    @export(implementation) nonisolated(nonsending) func run() async throws -> Work.Success { try await work.run() }
}
