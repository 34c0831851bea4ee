/// Work that cannot throw and owes nothing, so that it can be skipped.
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
