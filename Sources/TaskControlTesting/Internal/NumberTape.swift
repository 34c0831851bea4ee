import CTaskControlTesting

/// A compact sequence of numbers in memory, to which numbers are appended: each byte stores seven bits of a number.
///
/// The eighth bit of a byte is set if the number continues in the next byte.
///
/// The sequence manages its memory itself: in a debug build, a ``FlatArray`` of bytes would call generic code for each byte.
struct NumberTape: ~Copyable {
    private var memory: UnsafeMutablePointer<UInt8>?
    private var capacity = 0
    /// The position (in bytes) after the last number.
    private(set) var end = 0

    deinit {
        if let memory { System.deallocate(memory) }
    }

    // Transparent for the same reason as the accessors of `FlatArray`.
    @_transparent mutating func append(_ number: UInt64) {
        // A number has at most ten bytes.
        if capacity &- end < 10 { grow() }
        end = tc_writeNumber(memory!, end, number)
    }

    @_transparent mutating func append(_ number: Int) { append(UInt64(bitPattern: Int64(number))) }

    private mutating func grow() {
        capacity = capacity == 0 ? 64 : capacity + capacity / 2
        memory = System.resize(memory, to: capacity).assumingMemoryBound(to: UInt8.self)
    }

    /// Returns the number at a position (in bytes), and sets the position to that of the next number. Traps if there is
    /// no number at the position.
    func number(at position: inout Int) -> UInt64 {
        var (number, shift): (UInt64, UInt64) = (0, 0)
        while true {
            precondition(position < end, "the position is behind the last number")
            let byte = UInt64(memory![position])
            position += 1
            number |= (byte & 0x7F) &<< shift
            if byte < 0x80 { return number }
            shift += 7
        }
    }

    func integer(at position: inout Int) -> Int { Int(Int64(bitPattern: number(at: &position))) }
}
