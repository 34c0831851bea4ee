/// The mark of a turn, which code inside the turn has: a task-local value, so that child tasks have it too.
///
/// All queues share one task-local. A turn inside another queue's turn carries the outer turns along, but only those that have not ended: a
/// chain of tasks, each sent to another queue from inside the turn before, does not grow. A turn that is inside no other allocates nothing.
///
/// A plain struct: the runtime copies an optional through several functions.
@usableFromInline
struct _HeldTurn: Sendable {
    /// The innermost turn; `nil` outside of turns.
    let place: TurnPlace?
    /// The outer turns, inside which this turn was taken.
    let outer: [TurnPlace]

    static let current = TaskLocal(wrappedValue: _HeldTurn(place: nil, outer: []))

    private init(place: TurnPlace?, outer: [TurnPlace]) {
        self.place = place
        self.outer = outer
    }

    /// Creates the mark of the caller's new turn, inside the turns that the caller holds.
    ///
    /// - Parameter place: The caller's new turn.
    init(_ place: TurnPlace) {
        let held = Self.current.get()
        self.init(place: place, outer: held.place == nil ? [] : held.places.filter(\.isHeld))
    }

    private var places: [TurnPlace] { outer + (place.map { [$0] } ?? []) }

    /// Returns whether the caller, or a task that created it directly or indirectly, holds a turn of a queue.
    static func isHeld(of queue: TurnState) -> Bool { current.get().places.contains { $0.isHeld(of: queue) } }
}
