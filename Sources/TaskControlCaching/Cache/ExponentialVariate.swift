/// Returns a random number from the exponential distribution with the mean 1. Uses only comparisons (J. von Neumann,
/// "Various Techniques Used in Connection with Random Digits", 1951), since the standard library has no logarithm.
///
/// - Parameter next: Returns 64 random bits.
func exponentialVariate(_ next: () -> UInt64) -> Double {
    // More rounds than a good generator ever needs. The limit is for a generator that always returns the same number,
    // which must not hang the caller.
    for whole in 0..<64 {
        let first = next() >> 11
        var (last, length) = (first, 1)
        while case let number = next() >> 11, number < last, length < 64 { (last, length) = (number, length + 1) }
        if length.isMultiple(of: 2) { continue }
        return Double(whole) + Double(first) / Double(UInt64.max >> 11)
    }
    return 1
}
