/// An element of a table that a ``Ticket`` names.
protocol Ticketed {
    /// The serial of the element, not used again before 2³⁸ others in the same slot.
    var serial: UInt64 { get }
}

extension SlotTable where Element: Ticketed {
    /// Whether the element that a ticket was made for is still in the table.
    func contains(_ ticket: Ticket) -> Bool {
        isOccupied(ticket.slot) && ticket.has(serial: self[ticket.slot].serial)
    }

    /// The ticket of the element in an occupied slot.
    func ticket(at slot: Index) -> Ticket { Ticket(serial: self[slot].serial, slot: slot) }
}
