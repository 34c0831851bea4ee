/// Work that cannot throw and returns no value, and does not run if its task was cancelled before the turn.
@usableFromInline
struct _SkippableWork<Work: _TurnWork>: _TurnWork where Work.Success == Void, Work.Failure == Never {
    @usableFromInline let work: Work

    @inlinable
    init(_ work: Work) {
        self.work = work
    }

    @inlinable static var isSkippable: Bool { true }

    @inlinable static func skipped() {}

    @inlinable nonisolated(nonsending) func run() async { await work.run() }
}
