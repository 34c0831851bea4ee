/// The identity of a turn, with the state of the queue to which the turn belongs.
///
/// The place refers to the state of the queue and not to the queue itself: tasks that outlive the turn retain this
/// place, and must not retain the queue.
struct TurnPlace: Sendable {
    let queue: TurnState
    let id: Ticket

    /// Whether the turn has begun and not ended.
    var isHeld: Bool { queue.isHeld(id) }

    func isHeld(of queue: TurnState) -> Bool { self.queue === queue && isHeld }
}
