internal import CTaskControl

/// An integer that many threads read and write at once, without a lock. A copy is a reference to the same integer, which its owner deallocates.
struct AtomicWord: @unchecked Sendable {
    // Sendable: the memory is only accessed by the atomic functions. Allocated, since a stored property has no address that lasts.
    private let word: UnsafeMutablePointer<Int64>

    init(_ value: Int64) {
        word = .allocate(capacity: 1)
        word.initialize(to: value)
    }

    func deallocate() { word.deallocate() }

    @inline(__always)
    var value: Int64 { tc_load(word) }

    @inline(__always)
    func store(_ value: Int64) { tc_store(word, value) }

    /// - Returns: The value before.
    @inline(__always)
    func exchange(_ value: Int64) -> Int64 { tc_exchange(word, value) }

    /// Replaces the value, unless `change` returns `nil` for it.
    ///
    /// - Parameter change: May be called several times, with what other threads have stored meanwhile.
    /// - Returns: Whether the value was replaced.
    @inline(__always)
    func replace(_ change: (Int64) -> Int64?) -> Bool {
        var current = value
        while let new = change(current) {
            if tc_compareExchange(word, &current, new) { return true }
        }
        return false
    }
}
