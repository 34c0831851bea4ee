/// An element of a table that stands for one waiter. It is in a chain until it is settled, and in the table until it has parked as well.
protocol WaiterEntry: Ticketed, Linked {
    associatedtype Waiter
    associatedtype Outcome
    var parking: Parking<Waiter, Outcome> { get set }
}

extension SlotTable where Element: WaiterEntry {
    /// Whether a waiter is there, and has not been settled.
    func isWaiting(_ ticket: Ticket) -> Bool {
        contains(ticket) && self[ticket.slot].parking.isWaiting
    }

    /// Parks a waiter.
    ///
    /// - Returns: The result with which it must be resumed at once; `nil`: it waits.
    mutating func park(_ ticket: Ticket, _ waiter: Element.Waiter) -> Element.Outcome? {
        guard contains(ticket) else { preconditionFailure("A waiter enrolls, and then parks once.") }
        let outcome = self[ticket.slot].parking.park(waiter)
        if outcome != nil { discard(ticket.slot) }
        return outcome
    }

    /// Settles a waiter that waits in a chain, and removes it from there.
    ///
    /// - Returns: The waiter, if it has parked. If not, it receives the result when it parks.
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
