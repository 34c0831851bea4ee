/// An element of a ``SlotTable`` that represents one waiter. The element is in a ``Chain`` until the waiter has an
/// outcome, and in the table until the waiter has an outcome and has stored its continuation.
protocol WaiterEntry: Ticketed, Linked {
    associatedtype Waiter
    associatedtype Outcome
    var parking: Parking<Waiter, Outcome> { get set }
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
    mutating func park(_ ticket: Ticket, _ waiter: Element.Waiter) -> Element.Outcome? {
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
    mutating func settle(
        _ slot: Index,
        of chain: inout Chain,
        with outcome: Element.Outcome
    ) -> Element.Waiter? {
        chain.remove(slot, in: &self)
        let waiter = self[slot].parking.settle(with: outcome)
        if waiter != nil { discard(slot) }
        return waiter
    }
}
