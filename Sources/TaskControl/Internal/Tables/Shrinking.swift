// A buffer that is mostly empty is replaced by a smaller one, so that memory that many elements needed is released. The
// new capacity is twice the number of elements, so that the next replacement comes only after a number of removals or
// insertions that is proportional to its cost.

extension ContiguousArray {
    /// Replaces the buffer by a smaller one if less than a quarter of it is used.
    ///
    /// - Parameter smallest: The capacity up to which the buffer is kept in any case.
    @inlinable
    @inline(__always)
    package mutating func shrinkIfMostlyEmpty(keeping smallest: Int) {
        guard capacity > smallest, count < capacity / 4 else { return }
        var copy: Self = []
        copy.reserveCapacity(Swift.max(smallest / 2, count * 2))
        copy.append(contentsOf: self)
        self = copy
    }
}

extension Dictionary {
    mutating func shrinkIfMostlyEmpty() {
        guard capacity > 64, count < capacity / 8 else { return }
        var copy = Self(minimumCapacity: count * 2)
        for (key, value) in self { copy[key] = value }
        self = copy
    }
}
