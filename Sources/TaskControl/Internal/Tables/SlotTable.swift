/// Elements at stable indexes: O(1) to insert, find and remove, and memory that follows what is in it.
///
/// Indexes are reused, so code that keeps an index keeps a generation beside it. Vacant slots at the end are released at once,
/// others are filled first, and the buffer is halved when it is mostly empty: a burst leaves nothing behind. All that can remain
/// is vacancies before an element that was inserted at the height of the burst and still lives.
struct SlotTable<Element> {
    typealias Index = Int32

    private var slots: ContiguousArray<Element?> = []
    /// Indexes that were vacated before the end. May hold stale ones (beyond the end, or occupied again): they are skipped.
    private var vacancies: ContiguousArray<Index> = []
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    /// Every occupied index is below this; so may vacant ones be.
    var extent: Index { Index(truncatingIfNeeded: slots.count) }

    /// The number of slots or vacancies that it holds memory for.
    var capacity: Int { max(slots.capacity, vacancies.capacity) }

    func isOccupied(_ index: Index) -> Bool {
        index >= 0 && index < slots.count && slots[Int(index)] != nil
    }

    private func isVacant(_ index: Index) -> Bool {
        index < slots.count && slots[Int(index)] == nil
    }

    /// The element at an index that is occupied; in place.
    subscript(index: Index) -> Element {
        @inline(__always) _read { yield slots[Int(index)]! }
        @inline(__always) _modify { yield &slots[Int(index)]! }
    }

    /// - Complexity: O(1), amortized.
    mutating func insert(_ element: consuming Element) -> Index {
        count += 1
        while let index = vacancies.popLast() {
            guard isVacant(index) else { continue }
            slots[Int(index)] = element
            return index
        }
        insist(slots.count < Int(Index.max), "A TaskControl registry holds at most \(Index.max) tasks at once.")
        slots.append(element)
        return extent - 1
    }

    /// - Complexity: O(1), amortized.
    mutating func remove(_ index: Index) -> Element {
        var removed: Element?
        swap(&removed, &slots[Int(index)])
        vacated(index)
        return removed!
    }

    /// Removes an element that has no further use, and whose release has no effect.
    ///
    /// - Complexity: O(1), amortized.
    mutating func discard(_ index: Index) {
        slots[Int(index)] = nil
        vacated(index)
    }

    @inline(__always)
    private mutating func vacated(_ index: Index) {
        count -= 1
        if index == extent - 1 { trim() } else { vacancies.append(index) }
        if slots.capacity > Self.smallest || vacancies.capacity > Self.smallest { shrinkIfMostlyEmpty() }
    }

    /// Releases the vacant slots at the end.
    private mutating func trim() {
        var end = slots.count - 1
        while end > 0, slots[end - 1] == nil { end -= 1 }
        if end == slots.count - 1 { slots.removeLast() } else { slots.removeSubrange(end...) }
        // More vacancies than slots: some are stale.
        guard vacancies.count > slots.count else { return }
        if slots.isEmpty {
            vacancies.removeAll(keepingCapacity: vacancies.capacity <= Self.smallest)
        } else {
            vacancies = vacancies.filter(isVacant)
        }
    }

    /// Below this many slots the buffer is kept: a registry that is used one task at a time does not allocate for each.
    private static var smallest: Int { 128 }

    @inline(never)
    private mutating func shrinkIfMostlyEmpty() {
        slots.shrinkIfMostlyEmpty(keeping: Self.smallest)
        vacancies.shrinkIfMostlyEmpty(keeping: Self.smallest)
    }
}
