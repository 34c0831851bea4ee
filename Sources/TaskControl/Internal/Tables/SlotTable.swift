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
    @usableFromInline var vacancies: ContiguousArray<Index> = []
    @usableFromInline package internal(set) var count = 0

    @inlinable package init() {}

    var isEmpty: Bool { count == 0 }

    /// The upper bound of the indexes: every occupied index is less than this number. Indexes below it may be vacant.
    @inlinable package var extent: Index { Index(truncatingIfNeeded: slots.count) }

    /// The number of slots or of vacant indexes for which memory is allocated, whichever is larger.
    @inlinable var capacity: Int { max(slots.capacity, vacancies.capacity) }

    @inlinable
    package func isOccupied(_ index: Index) -> Bool {
        index >= 0 && index < slots.count && slots[Int(index)] != nil
    }

    @inlinable
    func isVacant(_ index: Index) -> Bool {
        index < slots.count && slots[Int(index)] == nil
    }

    /// Accesses the element at an index, which must be occupied, in place.
    @inlinable
    package subscript(index: Index) -> Element {
        @inline(__always) _read { yield slots[Int(index)]! }
        @inline(__always) _modify { yield &slots[Int(index)]! }
    }

    /// Inserts an element, and returns its index. Traps if the table already has `Index.max` slots.
    ///
    /// - Complexity: O(1), amortized.
    @inlinable
    package mutating func insert(_ element: consuming Element) -> Index {
        count += 1
        while let index = vacancies.popLast() {
            guard isVacant(index) else { continue }
            slots[Int(index)] = element
            return index
        }
        insist(
            slots.count < Int(Index.max),
            "A TaskControl registry holds at most \(Index.max) tasks at once. Wait until some have ended."
        )
        slots.append(element)
        return extent - 1
    }

    /// Removes and returns the element at an index, which must be occupied.
    ///
    /// - Complexity: O(1), amortized.
    @inlinable
    mutating func remove(_ index: Index) -> Element {
        var removed: Element?
        swap(&removed, &slots[Int(index)])
        vacated(index)
        return removed!
    }

    /// Removes the element at an index without returning it. Only for an element whose release calls no other code.
    ///
    /// - Complexity: O(1), amortized.
    @inlinable
    package mutating func discard(_ index: Index) {
        slots[Int(index)] = nil
        vacated(index)
    }

    @inlinable
    @inline(__always)
    mutating func vacated(_ index: Index) {
        count -= 1
        if index == extent - 1 { trim() } else { vacancies.append(index) }
        if slots.capacity > Self.smallest || vacancies.capacity > Self.smallest { shrinkIfMostlyEmpty() }
    }

    /// Releases the vacant slots at the end.
    @inlinable
    mutating func trim() {
        var end = slots.count - 1
        while end > 0, slots[end - 1] == nil { end -= 1 }
        if end == slots.count - 1 { slots.removeLast() } else { slots.removeSubrange(end...) }
        // If there are more vacant indexes than slots, some of these indexes are no longer vacant.
        guard vacancies.count > slots.count else { return }
        if slots.isEmpty {
            vacancies.removeAll(keepingCapacity: vacancies.capacity <= Self.smallest)
        } else {
            vacancies = vacancies.filter(isVacant)
        }
    }

    /// The capacity up to which a buffer is kept, even if it is empty: only a larger buffer is replaced by a smaller
    /// one when it is mostly empty. So a table that holds one element at a time does not allocate memory for each
    /// element.
    @inlinable static var smallest: Int { 128 }

    @inlinable
    @inline(never)
    mutating func shrinkIfMostlyEmpty() {
        slots.shrinkIfMostlyEmpty(keeping: Self.smallest)
        vacancies.shrinkIfMostlyEmpty(keeping: Self.smallest)
    }
}
