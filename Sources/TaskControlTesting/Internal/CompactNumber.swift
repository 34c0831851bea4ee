/// An optional number stored in four bytes, such as the number of a task. An `Int?` takes sixteen bytes in an array.
///
/// The type is trivial and its accessors are `@_transparent`, like those of ``FlatArray``, so that they are fast in a
/// debug build.
struct CompactNumber: BitwiseCopyable {
    /// The number plus one; zero for `nil`.
    private let bits: UInt32

    /// Creates the compact form of an optional number.
    ///
    /// - Parameter number: `nil`, or a number from 0 to 2³² − 2. More tasks than that do not fit into the memory of a computer.
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
