/// A generator of random numbers that are determined by a seed: the same numbers on every platform and in every run.
///
/// ```swift
/// var random = SeededGenerator(seed: 42)
/// let order = ["a", "b", "c"].shuffled(using: &random)
/// ```
///
/// Do not use this generator for secrets. The results of standard library functions that use it (`shuffled`, `random(in:)`) may change
/// between versions of the standard library.
///
/// The generator is SplitMix64: G. L. Steele, D. Lea and C. H. Flood, "Fast Splittable Pseudorandom Number Generators",
/// OOPSLA 2014; constants as in S. Vigna's reference implementation, <https://prng.di.unimi.it/splitmix64.c>.
public struct SeededGenerator: RandomNumberGenerator, Sendable, Hashable {
    private var state: UInt64

    /// Creates a generator at the first number of its sequence.
    ///
    /// - Parameter seed: Any number. Neighboring seeds produce unrelated sequences.
    public init(seed: UInt64) {
        state = seed
    }

    /// Returns the next random number of 64 bits.
    ///
    /// - Complexity: O(1).
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
