/// An operation that may throw, and receives the actor that it runs on.
@usableFromInline
struct _ActorThrowingWork<ActorType: Actor, Success: Sendable>: _TurnWork {
    @usableFromInline let actor: ActorType
    @usableFromInline let operation: @Sendable (isolated ActorType) async throws -> Success

    @inlinable
    init(_ actor: ActorType, _ operation: @escaping @Sendable (isolated ActorType) async throws -> Success) {
        self.actor = actor
        self.operation = operation
    }

    @inlinable nonisolated(nonsending) func run() async throws -> Success { try await operation(actor) }
}
