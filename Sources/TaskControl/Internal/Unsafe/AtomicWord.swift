internal import CTaskControl

/// An atomic 64-bit integer. A copy refers to the same integer, whose memory its owner must release with `deallocate()`.
struct AtomicWord: @unchecked Sendable {
    // Sendable, because the memory is only accessed by the atomic functions. Allocated, because a stored property has
    // no stable address.
    private let word: UnsafeMutablePointer<Int64>

    init(_ value: Int64) {
        word = .allocate(capacity: 1)
        word.initialize(to: value)
    }

    func deallocate() { word.deallocate() }

    @inline(__always)
    var value: Int64 { tc_load(word) }

    /// The value, loaded with acquire ordering: everything that was written before the value was stored is visible
    /// after the load.
    @inline(__always)
    var acquiredValue: Int64 { tc_loadAcquire(word) }

    @inline(__always)
    func store(_ value: Int64) { tc_store(word, value) }

    /// Replaces the value.
    ///
    /// - Returns: The previous value.
    @inline(__always)
    func exchange(_ value: Int64) -> Int64 { tc_exchange(word, value) }

    /// Replaces the value with the result of `change`, unless this result is `nil`.
    ///
    /// - Parameter change: Returns the new value for the current one. Called again if another thread has changed the value meanwhile.
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
