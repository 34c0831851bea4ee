/// How a wait ends: with what was waited for, or because whoever waited has left.
package enum WaitOutcome: Sendable {
    case reached, left
}

/// Waiters of one event, each of whom may leave before it, and before its continuation exists.
///
///     enroll ──▶ enrolled ──park──▶ parked ──▶ gone     woken, or left: the waiter is handed out
///                   │
///                   └─wake/leave──▶ settled ──park──▶ gone     the waiter comes straight back
///
/// A waiter enrolls under the lock that shows it has something to wait for, then makes its continuation, then parks. What happens
/// in between is kept for it, so nothing is missed and nobody is resumed twice. Pure: handing a waiter out is all it does.
package struct WaiterTable<Waiter, Outcome> {
    package struct ID: Hashable, Sendable {
        fileprivate let place: Ticket
    }

    private enum State {
        case enrolled
        case parked(Waiter)
        case settled(Outcome)
    }

    private var states = Line<State>()

    package init() {}

    package var count: Int { states.count }

    /// What it holds memory for.
    package var capacity: Int { states.capacity }

    /// Whether a waiter has neither been woken nor left.
    package func isWaiting(_ id: ID) -> Bool {
        switch states[id.place] {
        case .enrolled, .parked: true
        case .settled, nil: false
        }
    }

    package mutating func enroll() -> ID {
        ID(place: states.append(.enrolled))
    }

    /// Parks the waiter, or says with what it is to be resumed at once.
    package mutating func park(_ id: ID, _ waiter: Waiter) -> Outcome? {
        switch states[id.place] {
        case .enrolled:
            states[id.place] = .parked(waiter)
            return nil
        case .settled(let outcome):
            states.remove(id.place)
            return outcome
        case .parked, nil:
            preconditionFailure("A waiter enrolls, and then parks once.")
        }
    }

    /// One waiter leaves. Hands it out if it was parked; it may be gone already.
    package mutating func leave(_ id: ID, with outcome: Outcome) -> Waiter? {
        switch states[id.place] {
        case .enrolled:
            states[id.place] = .settled(outcome)
            return nil
        case .parked(let waiter):
            states.remove(id.place)
            return waiter
        case .settled, nil:
            return nil
        }
    }

    /// The event has come: hands out everybody who is parked, and settles those who are about to park.
    ///
    /// - Complexity: O(*n*) in the number of waiters; O(1) when there are none.
    package mutating func wakeAll(with outcome: Outcome) -> [Waiter] {
        var woken: [Waiter] = []
        states.removeAll { state in
            switch state {
            case .enrolled:
                state = .settled(outcome)
                return false
            case .parked(let waiter):
                woken.append(waiter)
                return true
            case .settled:
                return false
            }
        }
        return woken
    }
}
