/// The place of a turn in its queue.
///
/// It refers to the state of the queue and not to the queue itself: tasks that outlive the turn retain this place, and must not retain the
/// queue.
struct TurnPlace: Sendable {
    typealias Queue = Locked<_TurnStorage.Machine>

    let queue: Queue
    let id: _TurnStorage.ID

    /// Whether the turn has begun and not ended.
    var isHeld: Bool { queue.withLock { $0.isRunning(id) } }

    func isHeld(of queue: Queue) -> Bool { self.queue.isSame(as: queue) && isHeld }
}
