/// A doubly linked list of elements of a ``SlotTable``, in the order in which they were appended. Any element can be
/// removed in O(1).
///
/// The links are stored in the elements, so the elements of one table can form several chains, and an element can be in
/// no chain.
@usableFromInline
package struct Chain {
    @usableFromInline package typealias Slot = Ticket.Slot

    @inlinable package static var none: Slot { -1 }

    @usableFromInline package internal(set) var first = none
    @usableFromInline package internal(set) var last = none

    @inlinable package init() {}

    @inlinable package var isEmpty: Bool { first == Self.none }

    /// Appends the element at a slot of the table to the end of the chain.
    ///
    /// - Complexity: O(1).
    @inlinable
    mutating func append(_ slot: Slot, in table: inout SlotTable<some Linked>) {
        table[slot].links = Links(older: last)
        if last == Self.none { first = slot } else { table[last].links.newer = slot }
        last = slot
    }

    /// Removes the element at a slot from the chain. The element stays in the table.
    ///
    /// - Complexity: O(1).
    @inlinable
    mutating func remove(_ slot: Slot, in table: inout SlotTable<some Linked>) {
        let links = table[slot].links
        table[slot].links = Links()
        if links.older == Self.none { first = links.newer } else { table[links.older].links.newer = links.newer }
        if links.newer == Self.none { last = links.older } else { table[links.newer].links.older = links.older }
    }

    /// Returns the slots of the elements, in order. O(*n*).
    func slots(in table: SlotTable<some Linked>) -> [Slot] {
        Array(
            sequence(state: first) { next in
                guard next != Self.none else { return nil }
                defer { next = table[next].links.newer }
                return next
            }
        )
    }

    /// Traps if the links are not the same in both directions. O(*n*).
    func checkLinks(in table: SlotTable<some Linked>) {
        var (slot, before) = (first, Self.none)
        while slot != Self.none {
            precondition(table.isOccupied(slot), "an element of a chain is in the table")
            precondition(table[slot].links.older == before, "a chain is linked in both directions")
            (before, slot) = (slot, table[slot].links.newer)
        }
        precondition(last == before, "a chain ends with its last element")
    }
}
