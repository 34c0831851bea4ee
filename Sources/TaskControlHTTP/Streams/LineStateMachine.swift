/// A parser that splits bytes into lines. A line ends with LF, CR or CRLF, even if CR and LF are in different chunks.
struct LineStateMachine {
    /// The error for a line that is longer than the limit.
    struct LineTooLong: Error, Hashable {}

    private var line: [UInt8] = []
    /// Whether the last byte was CR: an LF that follows belongs to the same line break.
    private var endsInCR = false
    private let limit: Int
    /// Whether a line has exceeded the limit. Every later call of `receive(_:)` throws.
    private(set) var isTooLong = false

    /// Creates the state for the beginning of a text.
    ///
    /// - Parameter limit: The longest line, in bytes without its line break; `nil`: no limit.
    init(limit: Int?) {
        self.limit = limit ?? .max
    }

    /// Reads the next bytes of the text.
    ///
    /// - Returns: The lines that the bytes complete, without their line breaks.
    /// - Throws: ``LineTooLong`` if a line exceeds the limit, and the bytes complete no line before it. Otherwise the
    ///   lines before it are returned, and ``isTooLong`` is `true`.
    mutating func receive(_ bytes: some Sequence<UInt8>) throws(LineTooLong) -> [[UInt8]] {
        if isTooLong { throw LineTooLong() }
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
                guard line.count < limit else {
                    isTooLong = true
                    if lines.isEmpty { throw LineTooLong() }
                    return lines
                }
                line.append(byte)
            }
        }
        return lines
    }

    /// Ends the text.
    ///
    /// - Returns: The last line, if it is not empty and has no line break; otherwise `nil`.
    mutating func finish() -> [UInt8]? {
        defer { line = [] }
        return line.isEmpty ? nil : line
    }
}
