/// The turn of a queue, or a flight (see ``SingleFlight``), in whose code a task runs.
///
/// The place refers to the state of the queue or of the flights, and not to the queue or the flight itself: tasks that
/// outlive the turn or the flight retain this place, and must not retain the queue, the key or the value.
package struct Place: Hashable, Sendable {
    let owner: any PlaceOwner
    package let id: Ticket

    init(_ id: Ticket, in owner: any PlaceOwner) {
        self.owner = owner
        self.id = id
    }

    /// Whether the turn or the flight has begun and not ended.
    var isHeld: Bool { owner.isHeld(id) }

    package static func == (one: Self, other: Self) -> Bool { one.owner === other.owner && one.id == other.id }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(owner))
        hasher.combine(id)
    }
}

/// The state of a queue, or of flights, whose turns or flights are places.
protocol PlaceOwner: AnyObject, Sendable {
    /// Returns whether a turn or a flight has begun and not ended. Takes a lock.
    func isHeld(_ id: Ticket) -> Bool
}

/// The places that the current code is inside of: a task-local value, so that child tasks and tasks that are created
/// inside a place have it too. Queues and flights read this value to detect a caller that would wait for itself.
///
/// All queues and flights share one task-local value. If a turn is taken inside other places, its value contains these
/// places, but only those that have not ended: so the value does not grow in a chain of tasks, each of which sends the
/// next one to another queue. A flight is inside no other place, because it works for all of its callers: the waits of
/// these callers are in ``WaitGraph``.
///
/// The value is one reference: Swift 6.3 can abort in optimized code when it removes a task-local value of several words
/// on systems to which task-local values are back-deployed (macOS 13 and 14, iOS 16 and 17). It is not optional, because
/// the runtime copies an optional through several functions.
@usableFromInline
package final class _Places: Sendable {
    /// The innermost place that the code is inside of; `nil` outside of places.
    let innermost: Place?
    /// The outer places, inside which this place was taken.
    let outer: [Place]

    @usableFromInline static let local = TaskLocal(wrappedValue: none)

    /// The value of code that is in no place.
    @usableFromInline static let none = _Places(nil, inside: [])

    private init(_ innermost: Place?, inside outer: [Place]) {
        self.innermost = innermost
        self.outer = outer
    }

    /// Creates the value for the code of a flight.
    convenience init(inFlight flight: Place) { self.init(flight, inside: []) }

    /// Creates the value for the code inside a new turn of the current task, which contains the places that the task is
    /// already inside of.
    convenience init(inTurn turn: Place) {
        let current = Self.local.get()
        self.init(turn, inside: current.innermost == nil ? [] : current.held)
    }

    /// The places that have not ended, the innermost last.
    var held: [Place] { (outer + (innermost.map { [$0] } ?? [])).filter(\.isHeld) }

    /// The places of the current code that have not ended, the innermost last.
    static var heldByCaller: [Place] {
        let current = local.get()
        return current.innermost == nil ? [] : current.held
    }
}
