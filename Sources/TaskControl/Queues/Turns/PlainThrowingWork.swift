/// An operation that may throw, and runs in the isolation in which it was written.
@usableFromInline
struct _PlainThrowingWork<Success: Sendable>: _TurnWork {
    @usableFromInline let operation: @Sendable @isolated(any) () async throws -> Success

    @inlinable
    init(_ operation: @escaping @Sendable @isolated(any) () async throws -> Success) {
        self.operation = operation
    }

    @inlinable nonisolated(nonsending) func run() async throws -> Success { try await operation() }
}
