/// An optional number of four bytes, such as the number of a task: an `Int?` has sixteen with its padding.
///
/// Trivial, and its accessors are `@_transparent` as those of ``FlatArray``, so that it is fast in a debug build.
struct CompactNumber: BitwiseCopyable {
    /// The number plus one; zero for `nil`.
    private let bits: UInt32

    /// - Parameter number: A number from 0 to 2³² − 2: that many tasks need more memory than a computer has.
    @_transparent init(_ number: Int?) {
        switch number {
        case .none: bits = 0
        case .some(let number): bits = UInt32(truncatingIfNeeded: number &+ 1)
        }
    }

    var value: Int? {
        @_transparent get { bits == 0 ? nil : Int(bits) &- 1 }
    }

    @_transparent func isEqual(to number: Int) -> Bool { Int(bits) == number &+ 1 }
}
