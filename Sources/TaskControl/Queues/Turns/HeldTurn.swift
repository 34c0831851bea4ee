/// A turn as code inside it sees it: a task-local, so that child tasks see it too.
///
/// All queues share one task-local. A turn inside another queue's turn carries the outer turns along, but only those that have not ended: a
/// chain of tasks, each sent to another queue from inside the turn before, does not grow. A turn that is inside no other allocates nothing.
@usableFromInline
struct _HeldTurn: Sendable {
    let place: TurnPlace
    /// The outer turns, inside which this turn was taken.
    let outer: [TurnPlace]

    @TaskLocal static var current: _HeldTurn?

    @usableFromInline static var local: TaskLocal<_HeldTurn?> { $current }

    /// - Parameter place: The caller's new turn.
    init(_ place: TurnPlace) {
        self.place = place
        outer = Self.current.map { held in (held.outer + [held.place]).filter(\.isHeld) } ?? []
    }

    @inlinable
    nonisolated(nonsending) func holding<Value>(
        _ body: nonisolated(nonsending) () async throws -> Value
    ) async rethrows -> Value {
        try await Self.local.withValue(self, operation: body)
    }

    /// Whether the caller, or a task that it stems from, holds a turn of a queue.
    static func isHeld(of queue: TurnState) -> Bool {
        guard let current else { return false }
        return current.place.isHeld(of: queue) || current.outer.contains { $0.isHeld(of: queue) }
    }
}
