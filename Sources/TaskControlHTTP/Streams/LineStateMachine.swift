/// Splits bytes into lines. A line ends in LF, CR or CRLF, also where these are in two chunks.
struct LineStateMachine {
    /// A line is longer than the limit.
    struct LineTooLong: Error, Hashable {}

    private var line: [UInt8] = []
    /// Whether the last byte was CR: an LF after it belongs to the same end.
    private var endsInCR = false
    private let limit: Int

    /// Creates a machine that has received nothing.
    ///
    /// - Parameter limit: The longest line, in bytes without its end; `nil`: no limit.
    init(limit: Int?) {
        self.limit = limit ?? .max
    }

    /// Receives bytes, and returns the lines that they complete, without their ends.
    mutating func receive(_ bytes: some Sequence<UInt8>) throws(LineTooLong) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        for byte in bytes {
            let follows = endsInCR
            endsInCR = byte == UInt8(ascii: "\r")
            switch byte {
            case UInt8(ascii: "\n") where follows: break
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                lines.append(line)
                line = []
            default:
                guard line.count < limit else { throw LineTooLong() }
                line.append(byte)
            }
        }
        return lines
    }

    /// Receives the end, and returns the last line if it has no end of its own.
    mutating func finish() -> [UInt8]? {
        defer { line = [] }
        return line.isEmpty ? nil : line
    }
}
