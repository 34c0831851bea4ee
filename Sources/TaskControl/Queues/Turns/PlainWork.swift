/// An operation that runs in the isolation that it was formed in.
///
/// Apart from ``_PlainThrowingWork``: with a generic failure its function would be wrapped in a thunk, which allocates and is a frame more.
@usableFromInline
struct _PlainWork<Success: Sendable>: _TurnWork {
    @usableFromInline let operation: @Sendable @isolated(any) () async -> Success

    @inlinable
    init(_ operation: @escaping @Sendable @isolated(any) () async -> Success) {
        self.operation = operation
    }

    @inlinable nonisolated(nonsending) func run() async -> Success { await operation() }
}
