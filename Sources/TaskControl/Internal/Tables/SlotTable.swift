/// A table whose elements keep their indexes. An element is inserted, accessed and removed in O(1), and memory is
/// released when elements are removed.
///
/// Indexes are reused, so code that keeps an index also keeps a serial number, to recognize that its element was
/// removed: see ``Ticket``. Vacant slots at the end are removed at once, other vacant slots are filled first, and a
/// buffer for more than 128 elements becomes smaller when it is mostly empty. So a burst of elements leaves little
/// memory allocated, except for vacant slots before an element that was inserted during the burst and is still there.
@usableFromInline
package struct SlotTable<Element> {
    @usableFromInline package typealias Index = Int32

    @usableFromInline var slots: ContiguousArray<Element?> = []
    /// The vacant indexes, except those at the end. May contain indexes that are beyond the end or occupied again; these are skipped.
    @usableFromInline var vacancies = Vacancies()
    @usableFromInline package internal(set) var count = 0

    @export(implementation) package init() {}

    var isEmpty: Bool { count == 0 }

    /// The upper bound of the indexes: every occupied index is less than this number. Indexes below it may be vacant.
    @export(implementation) package var extent: Index { Index(truncatingIfNeeded: slots.count) }

    /// The number of slots or of vacant indexes for which memory is allocated, whichever is larger.
    @export(implementation) var capacity: Int { max(slots.capacity, vacancies.indexes.capacity) }

    @export(implementation)
    package func isOccupied(_ index: Index) -> Bool {
        index >= 0 && index < slots.count && slots[Int(index)] != nil
    }

    @export(implementation)
    func isVacant(_ index: Index) -> Bool {
        index < slots.count && slots[Int(index)] == nil
    }

    /// Accesses the element at an index, which must be occupied, in place.
    @export(implementation)
    package subscript(index: Index) -> Element {
        @inline(__always) _read { yield slots[Int(index)]! }
        @inline(__always) _modify { yield &slots[Int(index)]! }
    }

    /// Inserts an element, and returns its index. Traps if the table already has `Index.max` slots.
    ///
    /// - Complexity: O(1), amortized.
    @export(implementation)
    package mutating func insert(_ element: consuming Element) -> Index {
        count += 1
        while let index = vacancies.take() {
            guard isVacant(index) else { continue }
            slots[Int(index)] = element
            return index
        }
        if slots.count >= Int(Index.max) { Vacancies.refuse() }
        slots.append(element)
        return extent - 1
    }

    /// Removes and returns the element at an index, which must be occupied.
    ///
    /// - Complexity: O(1), amortized.
    @export(implementation)
    mutating func remove(_ index: Index) -> Element {
        var removed: Element?
        swap(&removed, &slots[Int(index)])
        vacated(index)
        return removed!
    }

    /// Removes the element at an index without returning it. Only for an element whose release calls no other code.
    ///
    /// - Complexity: O(1), amortized.
    @export(implementation)
    package mutating func discard(_ index: Index) {
        slots[Int(index)] = nil
        vacated(index)
    }

    @export(implementation)
    @inline(__always)
    mutating func vacated(_ index: Index) {
        count -= 1
        if index == extent - 1 { trim() } else { vacancies.add(index) }
        if slots.capacity > Self.smallest || vacancies.indexes.capacity > Self.smallest { shrinkIfMostlyEmpty() }
    }

    /// Releases the vacant slots at the end.
    @export(implementation)
    mutating func trim() {
        var end = slots.count - 1
        while end > 0, slots[end - 1] == nil { end -= 1 }
        if end == slots.count - 1 { slots.removeLast() } else { removeSlots(from: end) }
        // If there are more vacant indexes than slots, some of these indexes are no longer vacant.
        if vacancies.indexes.count > slots.count { tidyVacancies() }
    }

    @usableFromInline
    @inline(never)
    @_semantics("optimize.sil.specialize.generic.never")
    mutating func removeSlots(from end: Int) { slots.removeSubrange(end...) }

    @usableFromInline
    @inline(never)
    @_semantics("optimize.sil.specialize.generic.never")
    mutating func tidyVacancies() {
        if slots.isEmpty {
            vacancies.indexes.removeAll(keepingCapacity: vacancies.indexes.capacity <= Self.smallest)
        } else {
            vacancies.indexes = vacancies.indexes.filter(isVacant)
        }
    }

    /// The capacity up to which a buffer is kept, even if it is empty: only a larger buffer is replaced by a smaller
    /// one when it is mostly empty. So a table that holds one element at a time does not allocate memory for each
    /// element.
    @export(implementation) static var smallest: Int { 128 }

    @export(implementation)
    @inline(never)
    mutating func shrinkIfMostlyEmpty() {
        slots.shrinkIfMostlyEmpty(keeping: Self.smallest)
        vacancies.indexes.shrinkIfMostlyEmpty(keeping: Self.smallest)
    }
}

/// The vacant indexes of a ``SlotTable``. Not generic, so that its code is not repeated for each table.
@usableFromInline
struct Vacancies {
    @usableFromInline var indexes: ContiguousArray<Int32> = []

    @export(implementation) init() {}

    @export(implementation)
    @inline(__always)
    mutating func take() -> Int32? { indexes.isEmpty ? nil : removeLast() }

    @usableFromInline
    @inline(never)
    mutating func removeLast() -> Int32 { indexes.removeLast() }

    @usableFromInline
    @inline(never)
    mutating func add(_ index: Int32) { indexes.append(index) }

    /// Traps, because a table has the largest number of slots.
    @usableFromInline
    @inline(never)
    static func refuse() -> Never {
        fatalError("A TaskControl registry holds at most \(Int32.max) tasks at once. Wait until some have ended.")
    }
}

/// An element of a ``SlotTable`` that a ``Ticket`` can identify.
package protocol Ticketed {
    /// The serial number of the element, which is not repeated in the same slot until 2³⁸ other serial numbers have
    /// been used.
    var serial: UInt64 { get }
}

extension SlotTable where Element: Ticketed {
    /// Returns whether the element that a ticket identifies is in the table.
    package func contains(_ ticket: Ticket) -> Bool {
        isOccupied(ticket.slot) && ticket.has(serial: self[ticket.slot].serial)
    }

    /// Returns the ticket of the element in a slot, which must be occupied.
    package func ticket(at slot: Index) -> Ticket { Ticket(serial: self[slot].serial, slot: slot) }
}

/// The identity of an element of a ``SlotTable``: its slot and its serial number. A ticket does not match another
/// element that uses the slot later: a serial number is repeated only after 2³⁸ others.
///
/// A ticket is stored in one word, because each stack frame of a waiting task has a copy, and these frames must fit
/// into the memory that the runtime allocates for each task.
@usableFromInline
package struct Ticket: Hashable, Sendable {
    @usableFromInline package typealias Slot = Int32

    private let bits: UInt64
    private static var slotBits: UInt64 { 26 }

    init(serial: UInt64, slot: Slot) {
        insist(
            slot >> Self.slotBits == 0,
            "TaskControl holds at most \(1 << Self.slotBits) tasks in one place. Wait until some have ended."
        )
        bits = serial << Self.slotBits | UInt64(slot)
    }

    /// The number that identifies the element in events: the lowest 38 bits of its serial number.
    var number: UInt64 { bits >> Self.slotBits }

    package var slot: Slot { Slot(truncatingIfNeeded: bits & ((1 << Self.slotBits) - 1)) }

    /// Returns whether `serial` is the serial number with which the ticket was created. Serial numbers that differ by a
    /// multiple of 2³⁸ are not distinguished.
    func has(serial: UInt64) -> Bool { bits >> Self.slotBits == (serial << Self.slotBits) >> Self.slotBits }
}

/// A doubly linked list of elements of a ``SlotTable``, in the order in which they were appended. Any element can be
/// removed in O(1).
///
/// The links are stored in the elements, so the elements of one table can form several chains, and an element can be in
/// no chain.
@usableFromInline
package struct Chain {
    @usableFromInline package typealias Slot = Ticket.Slot

    @export(implementation) package static var none: Slot { -1 }

    @usableFromInline package internal(set) var first = none
    @usableFromInline package internal(set) var last = none

    @export(implementation) package init() {}

    @export(implementation) package var isEmpty: Bool { first == Self.none }

    /// Appends the element at a slot of the table to the end of the chain.
    ///
    /// - Complexity: O(1).
    @export(implementation)
    mutating func append(_ slot: Slot, in table: inout SlotTable<some Linked>) {
        table[slot].links = Links(older: last)
        if last == Self.none { first = slot } else { table[last].links.newer = slot }
        last = slot
    }

    /// Inserts the element at a slot of the table behind another element of the chain.
    ///
    /// - Parameter older: The slot of the element before the new one; `Chain.none` for the beginning of the chain.
    /// - Complexity: O(1).
    mutating func insert(_ slot: Slot, after older: Slot, in table: inout SlotTable<some Linked>) {
        if older == last { return append(slot, in: &table) }
        let newer = older == Self.none ? first : table[older].links.newer
        table[slot].links = Links(older: older)
        table[slot].links.newer = newer
        table[newer].links.older = slot
        if older == Self.none { first = slot } else { table[older].links.newer = slot }
    }

    /// Removes the element at a slot from the chain. The element stays in the table.
    ///
    /// - Complexity: O(1).
    @export(implementation)
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

/// The slots of the two neighbors of an element in its ``Chain``; `Chain.none` if there is no neighbor.
@usableFromInline
package struct Links {
    @usableFromInline var older = Chain.none
    @usableFromInline var newer = Chain.none

    @export(implementation) package init() {}

    @export(implementation)
    init(older: Chain.Slot) { self.older = older }
}

/// An element of a ``SlotTable`` that can be in a ``Chain``, whose links it stores.
@usableFromInline
package protocol Linked {
    var links: Links { get set }
}
