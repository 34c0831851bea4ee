/// An operation that cannot throw, and receives the actor that it runs on.
///
/// Not one type with ``_ActorThrowingWork``: with a generic failure type, the closure would be wrapped in a thunk,
/// which costs an allocation and a frame.
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
