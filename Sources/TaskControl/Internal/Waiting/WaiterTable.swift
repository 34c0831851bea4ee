/// A table of waiters for one event. A waiter may stop waiting before the event, and before its continuation exists. A
/// pure value, without a lock, task or closure.
///
/// A caller that must wait first calls `enroll()`, under the same lock under which it has decided to wait; then it
/// creates its continuation, the waiter, and calls `park(_:_:)`. The event, or the end of the wait, may come between
/// these calls: ``Parking`` keeps the outcome, so no event is missed and no waiter is resumed twice.
package struct WaiterTable {
    /// The continuation of a waiter.
    package typealias Waiter = Word

    package struct ID: Hashable, Sendable {
        fileprivate let ticket: Ticket
    }

    private struct Entry: WaiterEntry {
        let serial: UInt64
        var links = Links()
        var parking = Parking.expected
    }

    private var entries = SlotTable<Entry>()
    /// The waiters without an outcome that were added with `enroll()`, in that order. Waiters that were added with
    /// `enroll(in:)` are in the chain that was passed to that call.
    private var waiting = Chain()
    private var nextSerial: UInt64 = 0

    package init() {}

    package var count: Int { entries.count }

    /// The number of entries for which memory is allocated.
    package var capacity: Int { entries.capacity }

    /// Returns whether a waiter still waits, that is, has not yet received an outcome.
    package func isWaiting(_ id: ID) -> Bool { entries.isWaiting(id.ticket) }

    /// Adds a waiter. `park(_:_:)` must then be called with the returned ID.
    ///
    /// - Complexity: O(1), amortized.
    package mutating func enroll() -> ID {
        var line = waiting
        defer { waiting = line }
        return enroll(in: &line)
    }

    /// Adds a waiter for one of several events that share this table. `park(_:_:)` must then be called with the
    /// returned ID.
    ///
    /// - Parameter line: The waiters for that event, which the caller stores. The new waiter is appended.
    package mutating func enroll(in line: inout Chain) -> ID {
        let slot = entries.insert(Entry(serial: nextSerial))
        nextSerial += 1
        line.append(slot, in: &entries)
        return ID(ticket: entries.ticket(at: slot))
    }

    /// Stores the continuation of a waiter that was added to the table.
    ///
    /// - Returns: The outcome with which the continuation must be resumed at once, because the waiter has received it
    ///   before; `nil` if the waiter must wait.
    package mutating func park(_ id: ID, _ waiter: Waiter) -> WaitOutcome? {
        entries.park(id.ticket, waiter)
    }

    /// Gives an outcome to a waiter that was added with `enroll()`, for example because its task was cancelled. Has no
    /// effect if the waiter already has an outcome.
    ///
    /// - Returns: The waiter, which must be resumed; `nil` if it has not parked yet, or already had an outcome.
    package mutating func leave(_ id: ID, with outcome: WaitOutcome) -> Waiter? {
        var line = waiting
        defer { waiting = line }
        return leave(id, in: &line, with: outcome)
    }

    /// Gives an outcome to a waiter that was added with `enroll(in:)`, and removes it from the line. Has no effect if
    /// the waiter already has an outcome.
    ///
    /// - Returns: The waiter, which must be resumed; `nil` if it has not parked yet, or already had an outcome.
    package mutating func leave(_ id: ID, in line: inout Chain, with outcome: WaitOutcome) -> Waiter? {
        isWaiting(id) ? entries.settle(id.ticket.slot, of: &line, with: outcome) : nil
    }

    /// Whether at least one waiter that was added with `enroll()` still waits for its outcome.
    package var hasWaiting: Bool { !waiting.isEmpty }

    /// Gives an outcome to the first of the waiters that were added with `enroll()` and still wait. The other waiters
    /// continue to wait. Traps if no waiter waits.
    ///
    /// - Returns: The waiter, which must be resumed; `nil` if it has not parked yet: `park(_:_:)` then returns the
    ///   outcome.
    /// - Complexity: O(1), amortized.
    package mutating func wakeFirst(with outcome: WaitOutcome) -> Waiter? {
        var line = waiting
        defer { waiting = line }
        return entries.settle(line.first, of: &line, with: outcome)
    }

    /// Gives an outcome to all waiters that were added with `enroll()`, because the event has happened.
    ///
    /// - Returns: The waiters, which must be resumed, except those that have not parked yet: `park(_:_:)` returns the
    ///   outcome to them.
    /// - Complexity: O(*n*) in the number of waiters; O(1) if there are none.
    package mutating func wakeAll(with outcome: WaitOutcome) -> [Waiter] {
        var line = waiting
        defer { waiting = line }
        return wakeAll(in: &line, with: outcome)
    }

    /// Gives an outcome to all waiters of a line, because the event of that line has happened.
    ///
    /// - Returns: The waiters, which must be resumed, except those that have not parked yet: `park(_:_:)` returns the
    ///   outcome to them.
    package mutating func wakeAll(in line: inout Chain, with outcome: WaitOutcome) -> [Waiter] {
        var woken: [Waiter] = []
        while !line.isEmpty {
            if let waiter = entries.settle(line.first, of: &line, with: outcome) { woken.append(waiter) }
        }
        return woken
    }
}

/// An element of a ``SlotTable`` that represents one waiter. The element is in a ``Chain`` until the waiter has an
/// outcome, and in the table until the waiter has an outcome and has stored its continuation.
protocol WaiterEntry: Ticketed, Linked {
    var parking: Parking { get set }
}

extension SlotTable where Element: WaiterEntry {
    /// Returns whether the waiter that a ticket identifies is in the table and has no outcome yet.
    func isWaiting(_ ticket: Ticket) -> Bool {
        contains(ticket) && self[ticket.slot].parking.isWaiting
    }

    /// Stores the continuation of a waiter that was added to the table. Must be called once per waiter. Traps if the
    /// waiter is not in the table.
    ///
    /// - Returns: The outcome with which the waiter must be resumed at once; `nil` if it must wait.
    mutating func park(_ ticket: Ticket, _ waiter: Word) -> WaitOutcome? {
        guard contains(ticket) else { preconditionFailure("A waiter enrolls, and then parks once.") }
        let outcome = self[ticket.slot].parking.park(waiter)
        if outcome != nil { discard(ticket.slot) }
        return outcome
    }

    /// Gives an outcome to a waiter that waits in a chain, and removes the waiter from the chain.
    ///
    /// - Parameter slot: The slot of the waiter in this table.
    /// - Returns: The waiter, which must be resumed; `nil` if it has not parked yet: `park(_:_:)` then returns the
    ///   outcome.
    mutating func settle(_ slot: Index, of chain: inout Chain, with outcome: WaitOutcome) -> Word? {
        chain.remove(slot, in: &self)
        let waiter = self[slot].parking.settle(with: outcome)
        if waiter != nil { discard(slot) }
        return waiter
    }
}

/// The way in which a wait has ended.
@usableFromInline
package enum WaitOutcome: Sendable {
    /// The event that the waiter waited for has happened.
    case reached
    /// The event that the waiter waited for will not happen, because that on which it depends has ended.
    case ended
    /// The waiter was cancelled, and no longer waits.
    case left
}
