/// An operation as it was handed over: it brings its isolation along.
@usableFromInline
struct PlainWork<Success: Sendable>: TaskBody {
    @usableFromInline let operation: @Sendable @isolated(any) () async -> Success

    @inlinable
    init(_ operation: @escaping @Sendable @isolated(any) () async -> Success) {
        self.operation = operation
    }

    @inlinable nonisolated(nonsending) func run() async -> Success { await operation() }
}

@usableFromInline
struct PlainThrowingWork<Success: Sendable>: TaskBody {
    @usableFromInline let operation: @Sendable @isolated(any) () async throws -> Success

    @inlinable
    init(_ operation: @escaping @Sendable @isolated(any) () async throws -> Success) {
        self.operation = operation
    }

    @inlinable nonisolated(nonsending) func run() async throws -> Success { try await operation() }
}

/// An operation that is handed the actor that it runs on.
@usableFromInline
struct ActorWork<ActorType: Actor, Success: Sendable>: TaskBody {
    @usableFromInline let actor: ActorType
    @usableFromInline let operation: @Sendable (isolated ActorType) async -> Success

    @inlinable
    init(_ actor: ActorType, _ operation: @escaping @Sendable (isolated ActorType) async -> Success) {
        self.actor = actor
        self.operation = operation
    }

    @inlinable nonisolated(nonsending) func run() async -> Success { await operation(actor) }
}

@usableFromInline
struct ActorThrowingWork<ActorType: Actor, Success: Sendable>: TaskBody {
    @usableFromInline let actor: ActorType
    @usableFromInline let operation: @Sendable (isolated ActorType) async throws -> Success

    @inlinable
    init(_ actor: ActorType, _ operation: @escaping @Sendable (isolated ActorType) async throws -> Success) {
        self.actor = actor
        self.operation = operation
    }

    @inlinable nonisolated(nonsending) func run() async throws -> Success { try await operation(actor) }
}
