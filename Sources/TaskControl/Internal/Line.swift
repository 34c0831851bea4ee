/// Elements in the order in which they came, each of which may leave from anywhere in O(1). Pure.
struct Line<Element> {
    typealias ID = Ticket
    private typealias Slot = Ticket.Slot

    private struct Entry {
        let serial: UInt64
        var element: Element
        var older: Slot
        var newer: Slot
    }

    private var entries = SlotTable<Entry>()
    private var oldest = none
    private var newest = none
    private var nextSerial: UInt64 = 0

    private static var none: Slot { -1 }

    var count: Int { entries.count }

    /// What it holds memory for.
    var capacity: Int { entries.capacity }

    var isEmpty: Bool { oldest == Self.none }

    /// - Complexity: O(1), amortized.
    mutating func append(_ element: Element) -> ID {
        let id = ID(
            serial: nextSerial,
            slot: entries.insert(Entry(serial: nextSerial, element: element, older: newest, newer: Self.none))
        )
        nextSerial += 1
        if newest == Self.none { oldest = id.slot } else { entries[newest].newer = id.slot }
        newest = id.slot
        return id
    }

    /// An element; `nil` if it has left, and then what is written is not kept.
    ///
    /// - Complexity: O(1).
    subscript(id: ID) -> Element? {
        get { contains(id) ? entries[id.slot].element : nil }
        set { if let newValue, contains(id) { entries[id.slot].element = newValue } }
    }

    func contains(_ id: ID) -> Bool {
        entries.isOccupied(id.slot) && id.has(serial: entries[id.slot].serial)
    }

    /// The one that came first.
    var first: (id: ID, element: Element)? {
        guard !isEmpty else { return nil }
        return (ID(serial: entries[oldest].serial, slot: oldest), entries[oldest].element)
    }

    /// - Returns: `nil` if it has left already.
    /// - Complexity: O(1), amortized.
    @discardableResult
    mutating func remove(_ id: ID) -> Element? {
        contains(id) ? remove(at: id.slot) : nil
    }

    /// Looks at each in order, may change it, and lets those leave that `leaves` says.
    ///
    /// - Complexity: O(*n*).
    mutating func removeAll(where leaves: (inout Element) -> Bool) {
        var slot = oldest
        while slot != Self.none {
            let newer = entries[slot].newer
            if leaves(&entries[slot].element) { _ = remove(at: slot) }
            slot = newer
        }
    }

    private mutating func remove(at slot: Slot) -> Element {
        let entry = entries.remove(slot)
        if entry.older == Self.none { oldest = entry.newer } else { entries[entry.older].newer = entry.newer }
        if entry.newer == Self.none { newest = entry.older } else { entries[entry.newer].older = entry.older }
        return entry.element
    }
}
