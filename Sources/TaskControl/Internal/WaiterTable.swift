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
        fileprivate let serial: UInt64
    }

    private enum State {
        case enrolled
        case parked(Waiter)
        case settled(Outcome)
    }

    private var states: [ID: State] = [:]
    private var nextSerial: UInt64 = 0

    package init() {}

    package var count: Int { states.count }

    package mutating func enroll() -> ID {
        defer { nextSerial += 1 }
        let id = ID(serial: nextSerial)
        states[id] = .enrolled
        return id
    }

    /// Parks the waiter, or says with what it is to be resumed at once.
    package mutating func park(_ id: ID, _ waiter: Waiter) -> Outcome? {
        switch states[id] {
        case .enrolled:
            states[id] = .parked(waiter)
            return nil
        case .settled(let outcome):
            forget(id)
            return outcome
        case .parked, nil:
            preconditionFailure("A waiter enrolls, and then parks once.")
        }
    }

    /// One waiter leaves. Hands it out if it was parked; it may be gone already.
    package mutating func leave(_ id: ID, with outcome: Outcome) -> Waiter? {
        switch states[id] {
        case .enrolled:
            states[id] = .settled(outcome)
            return nil
        case .parked(let waiter):
            forget(id)
            return waiter
        case .settled, nil:
            return nil
        }
    }

    /// The event has come: hands out everybody who is parked, and settles those who are about to park.
    ///
    /// - Complexity: O(*n*) in the number of waiters; O(1) when there are none.
    package mutating func wakeAll(with outcome: Outcome) -> [Waiter] {
        guard !states.isEmpty else { return [] }
        var woken: [(ID, Waiter)] = []
        for (id, state) in states {
            switch state {
            case .enrolled: states[id] = .settled(outcome)
            case .parked(let waiter): woken.append((id, waiter))
            case .settled: break
            }
        }
        for (id, _) in woken { forget(id) }
        return woken.sorted { $0.0.serial < $1.0.serial }.map(\.1)
    }

    /// The last one takes the memory of a burst along.
    private mutating func forget(_ id: ID) {
        states[id] = nil
        if states.isEmpty { states = [:] }
    }
}
