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
    @inlinable static var isSkippable: Bool { false }

    @inlinable static func skipped() -> Success { preconditionFailure("Work that must return a value is not skipped.") }
}

extension _TurnWork where Failure == any Error {
    @inlinable static var isSkippable: Bool { true }

    @inlinable static func skipped() throws -> Success { throw CancellationError() }
}
