/// An element of a ``SlotTable`` that a ``Ticket`` can identify.
protocol Ticketed {
    /// The serial number of the element, which is not repeated in the same slot until 2³⁸ other serial numbers have
    /// been used.
    var serial: UInt64 { get }
}

extension SlotTable where Element: Ticketed {
    /// Returns whether the element that a ticket identifies is in the table.
    func contains(_ ticket: Ticket) -> Bool {
        isOccupied(ticket.slot) && ticket.has(serial: self[ticket.slot].serial)
    }

    /// Returns the ticket of the element in a slot, which must be occupied.
    func ticket(at slot: Index) -> Ticket { Ticket(serial: self[slot].serial, slot: slot) }
}
