/// The turns that the current code is inside of: a task-local value, so that child tasks and tasks that are created
/// inside a turn have it too. A queue reads this value to detect a caller that would wait for its own turn.
///
/// All queues share one task-local. If a turn is taken inside turns of other queues, its value contains these outer
/// turns, but only those that have not ended: so the value does not grow in a chain of tasks, each of which sends the
/// next one to another queue. No array is allocated for a turn that is inside no other turn.
///
/// A struct with an optional property, and not an optional struct: the runtime copies an optional task-local value
/// through several functions.
@usableFromInline
struct _HeldTurn: Sendable {
    /// The innermost turn that the code is inside of; `nil` outside of turns.
    let place: TurnPlace?
    /// The outer turns, inside which this turn was taken.
    let outer: [TurnPlace]

    static let current = TaskLocal(wrappedValue: _HeldTurn(place: nil, outer: []))

    private init(place: TurnPlace?, outer: [TurnPlace]) {
        self.place = place
        self.outer = outer
    }

    /// Creates the value for the code inside a new turn of the caller, which contains the turns that the caller already
    /// holds.
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
