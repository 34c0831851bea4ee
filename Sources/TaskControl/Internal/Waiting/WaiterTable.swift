/// A table of waiters for one event. A waiter may stop waiting before the event, and before its continuation exists. No lock, task or closure.
///
/// A waiter first calls `enroll()`, under the lock under which it has seen that it must wait; then it creates its continuation and calls
/// `park(_:_:)`. The event, or the end of the wait, may come between these calls: ``Parking`` keeps the outcome, so no event is missed and no waiter
/// is resumed twice.
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
    /// The waiters without an outcome, in the order of enrolling. Those that enrolled with `enroll(in:)` are in the chain of that call instead.
    private var waiting = Chain()
    private var nextSerial: UInt64 = 0

    package init() {}

    package var count: Int { entries.count }

    /// The number of entries for which memory is allocated.
    package var capacity: Int { entries.capacity }

    /// Returns whether a waiter has neither been woken nor stopped waiting.
    package func isWaiting(_ id: ID) -> Bool { entries.isWaiting(id.ticket) }

    /// Adds a waiter, which must then call `park(_:_:)`.
    ///
    /// - Complexity: O(1), amortized.
    package mutating func enroll() -> ID {
        var line = waiting
        defer { waiting = line }
        return enroll(in: &line)
    }

    /// Adds a waiter for an event of its own, and appends it to a chain that the caller keeps: the line of the waiters for that event.
    package mutating func enroll(in line: inout Chain) -> ID {
        let slot = entries.insert(Entry(serial: nextSerial))
        nextSerial += 1
        line.append(slot, in: &entries)
        return ID(ticket: entries.ticket(at: slot))
    }

    /// Stores the continuation of a waiter, or returns the outcome with which it must be resumed at once.
    package mutating func park(_ id: ID, _ waiter: Waiter) -> Outcome? {
        entries.park(id.ticket, waiter)
    }

    /// Removes a waiter with an outcome, for example because its task was cancelled.
    ///
    /// - Returns: The waiter to resume, if it had parked and had no outcome yet.
    package mutating func leave(_ id: ID, with outcome: Outcome) -> Waiter? {
        var line = waiting
        defer { waiting = line }
        return leave(id, in: &line, with: outcome)
    }

    /// Removes a waiter that enrolled with `enroll(in:)` from its line, with an outcome.
    ///
    /// - Returns: The waiter to resume, if it had parked and had no outcome yet.
    package mutating func leave(_ id: ID, in line: inout Chain, with outcome: Outcome) -> Waiter? {
        isWaiting(id) ? entries.settle(id.ticket.slot, of: &line, with: outcome) : nil
    }

    /// Whether there is a waiter, enrolled with `enroll()`, that has neither been woken nor stopped waiting.
    package var hasWaiting: Bool { !waiting.isEmpty }

    /// Wakes the waiter that enrolled first with an outcome. The others continue to wait. There must be a waiter.
    ///
    /// - Returns: The waiter to resume, if it had parked; otherwise it receives the outcome when it parks.
    /// - Complexity: O(1), amortized.
    package mutating func wakeFirst(with outcome: Outcome) -> Waiter? {
        var line = waiting
        defer { waiting = line }
        return entries.settle(line.first, of: &line, with: outcome)
    }

    /// Wakes all waiters with an outcome, because the event has happened.
    ///
    /// - Returns: The waiters to resume. Those that have not parked yet receive the outcome when they park.
    /// - Complexity: O(*n*) in the number of waiters; O(1) if there are none.
    package mutating func wakeAll(with outcome: Outcome) -> [Waiter] {
        var line = waiting
        defer { waiting = line }
        return wakeAll(in: &line, with: outcome)
    }

    /// Wakes all waiters of a line with an outcome, because the event of that line has happened.
    ///
    /// - Returns: The waiters to resume. Those that have not parked yet receive the outcome when they park.
    package mutating func wakeAll(in line: inout Chain, with outcome: Outcome) -> [Waiter] {
        var woken: [Waiter] = []
        while !line.isEmpty {
            if let waiter = entries.settle(line.first, of: &line, with: outcome) { woken.append(waiter) }
        }
        return woken
    }
}
