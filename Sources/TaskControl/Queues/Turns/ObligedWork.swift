/// Work that may throw, and runs even if its task was cancelled before the turn.
@usableFromInline
struct _ObligedWork<Work: _TurnWork>: _TurnWork where Work.Failure == any Error {
    @usableFromInline let work: Work

    @inlinable
    init(_ work: Work) {
        self.work = work
    }

    @inlinable static var isSkippable: Bool { false }

    @inlinable nonisolated(nonsending) func run() async throws -> Work.Success { try await work.run() }
}
