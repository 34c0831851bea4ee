/// The work of a turn: an operation, and what becomes of it when its task is cancelled before the turn.
@usableFromInline
protocol _TurnWork: _TaskBody {
    /// Whether the operation does not run if its task is cancelled before the turn. Otherwise it runs, cancelled.
    static var isSkippable: Bool { get }

    /// The result of work that is skipped.
    static func skipped() throws(Failure) -> Success

    /// Runs inside a turn that holds others up. One implementation for each failure, since `TaskLocal` knows none but `any Error`.
    nonisolated(nonsending) func run(
        marked mark: _HeldTurn,
        _ key: TaskLocal<_HeldTurn>
    ) async throws(Failure) -> Success
}

extension _TurnWork where Failure == Never {
    /// Work that cannot throw owes a value.
    @inlinable static var isSkippable: Bool { false }

    @inlinable static func skipped() -> Success { preconditionFailure("Work that owes a value is not skipped.") }

    @inlinable
    @inline(__always)
    nonisolated(nonsending) func run(marked mark: _HeldTurn, _ key: TaskLocal<_HeldTurn>) async -> Success {
        await key.withValue(mark) { await run() }
    }
}

extension _TurnWork where Failure == any Error {
    @inlinable static var isSkippable: Bool { true }

    @inlinable static func skipped() throws -> Success { throw CancellationError() }

    @inlinable
    @inline(__always)
    nonisolated(nonsending) func run(marked mark: _HeldTurn, _ key: TaskLocal<_HeldTurn>) async throws -> Success {
        try await key.withValue(mark) { try await run() }
    }
}
