/// An operation that receives the actor that it runs on.
///
/// Apart from ``_ActorThrowingWork`` for the reason of ``_PlainWork``.
@usableFromInline
struct _ActorWork<ActorType: Actor, Success: Sendable>: _TurnWork {
    @usableFromInline let actor: ActorType
    @usableFromInline let operation: @Sendable (isolated ActorType) async -> Success

    @inlinable
    init(_ actor: ActorType, _ operation: @escaping @Sendable (isolated ActorType) async -> Success) {
        self.actor = actor
        self.operation = operation
    }

    @inlinable nonisolated(nonsending) func run() async -> Success { await operation(actor) }
}
