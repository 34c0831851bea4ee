/// Builds a text, and passes it as UTF-8 to a closure in parts of about 64 KB. Therefore the text of a million events
/// is never a single string.
struct TraceText<Failure: Error> {
    typealias Sink = (borrowing [UInt8]) throws(Failure) -> Void

    private var bytes: [UInt8] = []
    private let sink: Sink
    private let pieceSize = 65_536

    init(_ sink: @escaping Sink) {
        self.sink = sink
        bytes.reserveCapacity(pieceSize * 2)
    }

    /// Passes the text that was appended since the last part to the closure, if it is long enough for a part. Call this
    /// function after each small item.
    @inline(__always)
    mutating func handOnIfFull() throws(Failure) {
        if bytes.count >= pieceSize { try finish() }
    }

    mutating func finish() throws(Failure) {
        try sink(bytes)
        bytes.removeAll(keepingCapacity: true)
    }

    /// Appends a text unchanged, without quotes or escapes.
    @inline(__always)
    mutating func put(_ text: StaticString) {
        bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    mutating func put(_ number: some FixedWidthInteger) {
        if number < 0 {
            bytes.append(UInt8(ascii: "-"))
        }
        var rest = number.magnitude
        let first = bytes.count
        repeat {
            bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
            rest /= 10
        } while rest > 0
        var (low, high) = (first, bytes.count - 1)
        while low < high {
            bytes.swapAt(low, high)
            (low, high) = (low + 1, high - 1)
        }
    }

    /// Appends a duration in nanoseconds as microseconds with three decimals, the unit of Chrome's trace format.
    mutating func putMicroseconds(_ nanoseconds: Int64) {
        if nanoseconds < 0 { bytes.append(UInt8(ascii: "-")) }
        put(abs(nanoseconds / 1000))
        let rest = abs(nanoseconds % 1000)
        guard rest > 0 else { return }
        bytes.append(UInt8(ascii: "."))
        for digit in [rest / 100, rest / 10 % 10, rest % 10] { bytes.append(UInt8(ascii: "0") + UInt8(digit)) }
    }

    /// Appends a text as a JSON string that is also safe within a script element of a page: `<` is escaped, and so are the separators that end a line
    /// in JavaScript.
    mutating func putQuoted(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        var text = text
        text.withUTF8 { utf8 in
            var start = 0
            var index = 0
            while index < utf8.count {
                let byte = utf8[index]
                // Most characters need no escape.
                if byte >= 0x20, byte != 0x22, byte != 0x5c, byte != 0x3c, byte != 0x3e, byte != 0x26, byte < 0x7f {
                    index += 1
                    continue
                }
                var (escaped, length) = (UInt16(byte), 1)
                if byte >= 0x80 {
                    // U+2028 and U+2029 are E2 80 A8 and E2 80 A9; all else beyond ASCII stays.
                    guard byte == 0xe2, utf8[index + 1] == 0x80, utf8[index + 2] & 0xfe == 0xa8 else {
                        index += 1
                        continue
                    }
                    (escaped, length) = (0x2000 + UInt16(utf8[index + 2] & 0x3f), 3)
                }
                bytes.append(contentsOf: UnsafeBufferPointer(rebasing: utf8[start..<index]))
                putEscaped(escaped)
                index += length
                start = index
            }
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: utf8[start...]))
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func putEscaped(_ unit: UInt16) {
        put("\\u")
        for shift in [12, 8, 4, 0] {
            let digit = UInt8(unit >> UInt16(shift) & 0xf)
            bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
        }
    }
}
