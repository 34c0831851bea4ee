/// An element of a ``KeyTable``, found by its key.
@usableFromInline
package protocol Keyed {
    associatedtype Key: Hashable

    /// The key, which stays the same while the element is in the table.
    var key: Key { get }

    /// The slot of the next element in the same hash bucket; `Chain.none` for the last element. Only the table writes
    /// this property.
    var nextInBucket: Chain.Slot { get set }
}

/// A hash table whose elements keep their indexes, as in a ``SlotTable``, and are found by their keys.
///
/// The elements of a bucket are linked with each other: the table stores a key once, and hashes it once per insertion,
/// search and removal. A dictionary from keys to indexes would store each key twice, and would hash a key such as
/// ``_ErasedKey`` again, which already stores its hash.
@usableFromInline
package struct KeyTable<Element: Keyed> {
    @usableFromInline package typealias Index = SlotTable<Element>.Index

    @usableFromInline var elements = SlotTable<Element>()
    /// The index of the first element of each hash bucket; `Chain.none` for an empty bucket. The number of buckets is
    /// zero or a power of two.
    @usableFromInline var buckets: ContiguousArray<Index> = []

    @export(implementation) package init() {}

    package var count: Int { elements.count }

    var isEmpty: Bool { elements.isEmpty }

    /// The upper bound of the indexes: every occupied index is less than this number. Indexes below it may be vacant.
    @export(implementation) package var extent: Index { elements.extent }

    /// The number of elements or buckets for which memory is allocated, whichever is larger.
    @export(implementation) package var capacity: Int { max(elements.capacity, buckets.capacity) }

    @export(implementation) package func isOccupied(_ index: Index) -> Bool { elements.isOccupied(index) }

    /// Accesses the element at an index, which must be occupied, in place.
    @export(implementation)
    package subscript(index: Index) -> Element {
        @inline(__always) _read { yield elements[index] }
        @inline(__always) _modify { yield &elements[index] }
    }

    /// Returns the index of the element with a key.
    ///
    /// - Returns: The index; `nil` if no element has the key.
    /// - Complexity: O(1) on average.
    @export(implementation)
    package func index(of key: Element.Key) -> Index? {
        guard !buckets.isEmpty else { return nil }
        var index = buckets[bucket(of: key)]
        while index != Chain.none {
            if elements[index].key == key { return index }
            index = elements[index].nextInBucket
        }
        return nil
    }

    /// Inserts an element. Its key must differ from the keys of all elements in the table.
    ///
    /// - Returns: The index of the element.
    /// - Complexity: O(1) on average, amortized.
    @export(implementation)
    package mutating func insert(_ element: consuming Element) -> Index {
        if elements.count >= buckets.count { resize(to: max(Self.fewest, buckets.count * 2)) }
        let bucket = bucket(of: element.key)
        element.nextInBucket = buckets[bucket]
        let index = elements.insert(element)
        buckets[bucket] = index
        return index
    }

    /// Removes and returns the element at an index, which must be occupied.
    ///
    /// - Complexity: O(1) on average, amortized.
    @export(implementation)
    package mutating func remove(_ index: Index) -> Element {
        let bucket = bucket(of: elements[index].key)
        let next = elements[index].nextInBucket
        if buckets[bucket] == index {
            buckets[bucket] = next
        } else {
            var previous = buckets[bucket]
            while elements[previous].nextInBucket != index { previous = elements[previous].nextInBucket }
            elements[previous].nextInBucket = next
        }
        let element = elements.remove(index)
        if buckets.count > Self.kept, elements.count < buckets.count / 8 { resize(to: buckets.count / 4) }
        return element
    }

    @export(implementation) static var fewest: Int { 8 }

    /// The number of buckets up to which the memory of the buckets is kept when elements are removed, so that a table
    /// whose elements are inserted and removed often does not allocate each time.
    @export(implementation) static var kept: Int { 128 }

    @export(implementation)
    @inline(__always)
    func bucket(of key: Element.Key) -> Int { key.hashValue & (buckets.count - 1) }

    @export(implementation)
    @inline(never)
    mutating func resize(to count: Int) {
        buckets = ContiguousArray(repeating: Chain.none, count: count)
        for index in 0..<elements.extent where elements.isOccupied(index) {
            let bucket = bucket(of: elements[index].key)
            elements[index].nextInBucket = buckets[bucket]
            buckets[bucket] = index
        }
    }
}

// MARK: Chains of the elements

extension KeyTable where Element: Linked {
    /// Appends the element at an index to a chain.
    ///
    /// - Complexity: O(1).
    @export(implementation)
    package mutating func append(_ index: Index, to chain: inout Chain) { chain.append(index, in: &elements) }

    /// Removes the element at an index from a chain. The element stays in the table.
    ///
    /// - Complexity: O(1).
    @export(implementation)
    package mutating func unlink(_ index: Index, from chain: inout Chain) { chain.remove(index, in: &elements) }

    /// Returns the indexes of the elements of a chain, in order. O(*n*).
    package func indexes(of chain: Chain) -> [Index] { chain.slots(in: elements) }

    /// Traps if the links of a chain are not the same in both directions. O(*n*).
    package func checkLinks(of chain: Chain) { chain.checkLinks(in: elements) }
}

// A buffer that is mostly empty is replaced by a smaller one, so that memory that many elements needed is released. The
// new capacity is twice the number of elements, so that the next replacement comes only after a number of removals or
// insertions that is proportional to its cost.

extension ContiguousArray {
    /// Replaces the buffer by a smaller one if less than a quarter of it is used.
    ///
    /// - Parameter smallest: The capacity up to which the buffer is kept in any case.
    @usableFromInline
    @inline(never)
    @_semantics("optimize.sil.specialize.generic.never")
    package mutating func shrinkIfMostlyEmpty(keeping smallest: Int) {
        guard capacity > smallest, count < capacity / 4 else { return }
        var copy: Self = []
        copy.reserveCapacity(Swift.max(smallest / 2, count * 2))
        copy.append(contentsOf: self)
        self = copy
    }
}

extension Dictionary {
    @inline(never)
    @_semantics("optimize.sil.specialize.generic.never")
    mutating func shrinkIfMostlyEmpty() {
        guard capacity > 64, count < capacity / 8 else { return }
        var copy = Self(minimumCapacity: count * 2)
        for (key, value) in self { copy[key] = value }
        self = copy
    }
}
