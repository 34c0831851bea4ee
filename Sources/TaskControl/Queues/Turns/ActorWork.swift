/// An operation that receives the actor that it runs on.
///
/// Apart from ``ActorThrowingWork`` for the reason of ``PlainWork``.
@usableFromInline
struct ActorWork<ActorType: Actor, Success: Sendable>: TurnWork {
    @usableFromInline let actor: ActorType
    @usableFromInline let operation: @Sendable (isolated ActorType) async -> Success

    @inlinable
    init(_ actor: ActorType, _ operation: @escaping @Sendable (isolated ActorType) async -> Success) {
        self.actor = actor
        self.operation = operation
    }

    @inlinable nonisolated(nonsending) func run() async -> Success { await operation(actor) }
}
