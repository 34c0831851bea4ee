/// Waiters of one event, each of which may leave before it, and before its continuation exists. Pure.
///
/// A waiter enrolls under the lock that shows it has something to wait for, then makes its continuation, then parks. ``Parking`` keeps what
/// happens in between, so no event is missed and no waiter is resumed twice.
package struct WaiterTable<Waiter, Outcome> {
    package struct ID: Hashable, Sendable {
        fileprivate let ticket: Ticket
    }

    private struct Entry: WaiterEntry {
        let serial: UInt64
        var links = Links()
        var parking = Parking<Waiter, Outcome>.expected
    }

    private var entries = SlotTable<Entry>()
    /// The waiters that have not been settled, in the order of enrolling; without the waiters in lines of their own.
    private var waiting = Chain()
    private var nextSerial: UInt64 = 0

    package init() {}

    package var count: Int { entries.count }

    /// The number of entries that it holds memory for.
    package var capacity: Int { entries.capacity }

    /// Whether a waiter has neither been woken nor left.
    package func isWaiting(_ id: ID) -> Bool { entries.isWaiting(id.ticket) }

    /// - Complexity: O(1), amortized.
    package mutating func enroll() -> ID {
        var line = waiting
        defer { waiting = line }
        return enroll(in: &line)
    }

    /// Enrolls a waiter of an event of its own, whose waiters the caller keeps as a chain.
    mutating func enroll(in line: inout Chain) -> ID {
        let slot = entries.insert(Entry(serial: nextSerial))
        nextSerial += 1
        line.append(slot, in: &entries)
        return ID(ticket: entries.ticket(at: slot))
    }

    /// Parks the waiter, or returns the result with which it must be resumed at once.
    package mutating func park(_ id: ID, _ waiter: Waiter) -> Outcome? {
        entries.park(id.ticket, waiter)
    }

    /// Removes one waiter.
    ///
    /// - Returns: The waiter, if it was parked; it may have left already.
    package mutating func leave(_ id: ID, with outcome: Outcome) -> Waiter? {
        var line = waiting
        defer { waiting = line }
        return leave(id, in: &line, with: outcome)
    }

    /// Removes one waiter of a line.
    mutating func leave(_ id: ID, in line: inout Chain, with outcome: Outcome) -> Waiter? {
        isWaiting(id) ? entries.settle(id.ticket.slot, of: &line, with: outcome) : nil
    }

    /// Whether a waiter has neither been woken nor left.
    package var hasWaiting: Bool { !waiting.isEmpty }

    /// Settles the waiter that enrolled first, and leaves the others waiting. There must be one.
    ///
    /// - Returns: The waiter, if it was parked; otherwise it receives the outcome when it parks.
    /// - Complexity: O(1), amortized.
    package mutating func wakeFirst(with outcome: Outcome) -> Waiter? {
        var line = waiting
        defer { waiting = line }
        return entries.settle(line.first, of: &line, with: outcome)
    }

    /// Settles all waiters, since the event has happened: returns the parked ones, and the others receive the outcome when they park.
    ///
    /// - Complexity: O(*n*) in the number of waiters; O(1) when there are none.
    package mutating func wakeAll(with outcome: Outcome) -> [Waiter] {
        var line = waiting
        defer { waiting = line }
        return wakeAll(in: &line, with: outcome)
    }

    /// Settles all waiters of a line, since its event has happened.
    mutating func wakeAll(in line: inout Chain, with outcome: Outcome) -> [Waiter] {
        var woken: [Waiter] = []
        while !line.isEmpty {
            if let waiter = entries.settle(line.first, of: &line, with: outcome) { woken.append(waiter) }
        }
        return woken
    }
}
