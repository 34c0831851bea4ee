/// An operation that cannot throw, and runs in the isolation in which it was written.
///
/// Not one type with ``_PlainThrowingWork``: with a generic failure type, the closure would be wrapped in a thunk,
/// which costs an allocation and a frame.
@usableFromInline
struct _PlainWork<Success: Sendable>: _TurnWork {
    @usableFromInline let operation: @Sendable @isolated(any) () async -> Success

    @inlinable
    init(_ operation: @escaping @Sendable @isolated(any) () async -> Success) {
        self.operation = operation
    }

    @inlinable nonisolated(nonsending) func run() async -> Success { await operation() }
}
