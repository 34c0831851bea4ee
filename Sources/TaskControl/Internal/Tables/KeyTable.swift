/// An element of a ``KeyTable``.
protocol Keyed {
    associatedtype Key: Hashable

    /// Stays the same while the element is in the table.
    var key: Key { get }

    /// The next element of the same bucket. Written by the table alone.
    var nextInBucket: Ticket.Slot { get set }
}

/// Elements at stable indexes, as in a ``SlotTable``, that are found by their keys. Pure.
///
/// A hash table whose buckets are chains through the elements: it stores a key once, and hashes it once per insertion, search and removal. A
/// dictionary from keys to indexes stores each key twice and hashes the hash of a key that stores its own.
struct KeyTable<Element: Keyed> {
    typealias Index = SlotTable<Element>.Index

    private var elements = SlotTable<Element>()
    /// The first element of each bucket. Their number is a power of two, or zero.
    private var buckets: ContiguousArray<Index> = []

    var count: Int { elements.count }

    var isEmpty: Bool { elements.isEmpty }

    /// Every occupied index is below this; so may vacant ones be.
    var extent: Index { elements.extent }

    /// The number of elements or buckets that it holds memory for.
    var capacity: Int { max(elements.capacity, buckets.capacity) }

    func isOccupied(_ index: Index) -> Bool { elements.isOccupied(index) }

    /// The element at an index that is occupied; in place.
    subscript(index: Index) -> Element {
        @inline(__always) _read { yield elements[index] }
        @inline(__always) _modify { yield &elements[index] }
    }

    /// - Returns: `nil` if no element has the key.
    /// - Complexity: O(1) on average.
    func index(of key: Element.Key) -> Index? {
        guard !buckets.isEmpty else { return nil }
        var index = buckets[bucket(of: key)]
        while index != Chain.none {
            if elements[index].key == key { return index }
            index = elements[index].nextInBucket
        }
        return nil
    }

    /// Inserts an element whose key no other element has.
    ///
    /// - Complexity: O(1) on average, amortized.
    mutating func insert(_ element: consuming Element) -> Index {
        if elements.count >= buckets.count { resize(to: max(Self.fewest, buckets.count * 2)) }
        let bucket = bucket(of: element.key)
        element.nextInBucket = buckets[bucket]
        let index = elements.insert(element)
        buckets[bucket] = index
        return index
    }

    /// - Complexity: O(1) on average, amortized.
    mutating func remove(_ index: Index) -> Element {
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

    private static var fewest: Int { 8 }

    /// Up to this many buckets are kept, so that a table whose elements come and go does not allocate for each of them.
    private static var kept: Int { 128 }

    @inline(__always)
    private func bucket(of key: Element.Key) -> Int { key.hashValue & (buckets.count - 1) }

    @inline(never)
    private mutating func resize(to count: Int) {
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
    /// - Complexity: O(1).
    mutating func append(_ index: Index, to chain: inout Chain) { chain.append(index, in: &elements) }

    /// Removes an element from a chain, and leaves it in the table.
    ///
    /// - Complexity: O(1).
    mutating func unlink(_ index: Index, from chain: inout Chain) { chain.remove(index, in: &elements) }

    /// The indexes of the elements of a chain, in order. O(*n*).
    func indexes(of chain: Chain) -> [Index] { chain.slots(in: elements) }

    /// Traps if the links are not the same in both directions. O(*n*).
    func checkLinks(of chain: Chain) { chain.checkLinks(in: elements) }
}
